//! Query string and form body of a request → one list of parameters.

use axum::extract::{FromRequest, Request};
use axum::http::{Method, header};

use crate::http::reply::Failure;

/// Largest form body, bytes: as much as Prometheus takes.
const MAX_BODY: usize = 10 << 20;

/// The parameters of a request. Those of a form body come before those of the query string, so the body
/// wins where a parameter is read once, and both count where it is a list. A parameter that is not encoded
/// as it should be is left out, as Prometheus does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    pairs: Vec<(String, String)>,
    /// What is wrong with the first parameter that was left out.
    fault: Option<String>,
}

impl Form {
    /// The first value of `name`, or `""`.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.pairs
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value.as_str())
    }

    /// All values of `name`.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Fails where a parameter had to be left out.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match &self.fault {
            None => Ok(()),
            Some(fault) => Err(Failure::bad_data(format!(
                "error parsing form values: {fault}"
            ))),
        }
    }

    fn add(&mut self, encoded: &[u8]) {
        let parameters = encoded.split(|byte| *byte == b'&');
        for parameter in parameters.filter(|parameter| !parameter.is_empty()) {
            match pair(parameter) {
                Ok(pair) => self.pairs.push(pair),
                Err(fault) => self.fault = self.fault.take().or(Some(fault)),
            }
        }
    }
}

/// `name=value`, decoded.
fn pair(parameter: &[u8]) -> Result<(String, String), String> {
    if parameter.contains(&b';') {
        return Err("invalid semicolon separator in query".to_owned());
    }
    let mut sides = parameter.splitn(2, |byte| *byte == b'=');
    let mut side = || decoded(sides.next().unwrap_or_default());
    Ok((side()?, side()?))
}

/// Text in which `+` is a space and `%41` a byte; bytes that are no text become replacement characters.
fn decoded(encoded: &[u8]) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = tail
                    .get(..2)
                    .and_then(|digits| std::str::from_utf8(digits).ok());
                let digits =
                    digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
                let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())
                else {
                    let odd = String::from_utf8_lossy(tail.get(..2).unwrap_or(tail));
                    return Err(format!("invalid URL escape {:?}", format!("%{odd}")));
                };
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            other => bytes.push(*other),
        }
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(odd) => String::from_utf8_lossy(odd.as_bytes()).into_owned(),
    })
}

/// For tests and callers that have the parameters already.
impl<'a> FromIterator<(&'a str, &'a str)> for Form {
    fn from_iter<T: IntoIterator<Item = (&'a str, &'a str)>>(pairs: T) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self {
            pairs: pairs.into_iter().map(owned).collect(),
            fault: None,
        }
    }
}

impl<S: Sync> FromRequest<S> for Form {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        let mut form = Self::default();
        let is_form = parts.headers.get(header::CONTENT_TYPE).is_some_and(|kind| {
            let kind = kind.to_str().unwrap_or_default();
            kind.split(';')
                .next()
                .unwrap_or_default()
                .trim()
                .eq_ignore_ascii_case("application/x-www-form-urlencoded")
        });
        if parts.method == Method::POST && is_form {
            let bytes = axum::body::to_bytes(body, MAX_BODY).await.map_err(|cause| {
                Failure::bad_data(format!(
                    "error parsing form values: the body cannot be read, or is longer than {MAX_BODY} bytes"
                ))
                .because(cause)
            })?;
            form.add(&bytes);
        }
        form.add(parts.uri.query().unwrap_or_default().as_bytes());
        Ok(form)
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    async fn form(method: &str, uri: &str, kind: &str, body: &str) -> Form {
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .header("content-type", kind)
            .body(Body::from(body.to_owned()))
            .unwrap();
        Form::from_request(request, &()).await.unwrap()
    }

    #[tokio::test]
    async fn body_and_query_string_are_merged_and_the_body_wins() {
        let kind = "application/x-www-form-urlencoded; charset=utf-8";
        let form = form(
            "POST",
            "/q?query=url&match[]=a&limit=3",
            kind,
            "query=a%2Bb+c&match%5B%5D=b",
        )
        .await;
        assert_eq!(form.get("query"), "a+b c");
        assert_eq!(form.get("limit"), "3");
        assert_eq!(form.get("absent"), "");
        assert_eq!(form.all("match[]").collect::<Vec<_>>(), ["b", "a"]);
    }

    #[tokio::test]
    async fn badly_encoded_parameters_are_left_out_and_remembered() {
        let form = form("GET", "/q?a=%zz&b=%e6%BC%a2%ff&&c&d;e=1&f=%4&g==", "", "").await;
        assert_eq!(form.get("b"), "漢\u{fffd}");
        assert_eq!(
            (form.get("a"), form.get("c"), form.get("f"), form.get("g")),
            ("", "", "", "=")
        );
        assert_eq!(
            form.check().unwrap_err().text,
            "error parsing form values: invalid URL escape \"%zz\""
        );
        let form = self::form("GET", "/q?d;e=1", "", "").await;
        assert_eq!(
            form.check().unwrap_err().text,
            "error parsing form values: invalid semicolon separator in query"
        );
    }

    #[tokio::test]
    async fn other_bodies_are_not_read() {
        let form = form("POST", "/q?query=up", "application/json", "query=down").await;
        assert_eq!(form.get("query"), "up");
    }
}
