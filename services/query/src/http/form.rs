//! Query string and form body of a request → one list of parameters.

use axum::extract::{FromRequest, Request};
use axum::http::{Method, header};
use url::form_urlencoded;

use crate::http::reply::Failure;

/// Largest form body, bytes: as much as Prometheus takes.
const MAX_BODY: usize = 10 << 20;

/// The parameters of a request. Those of a form body come before those of the query string, so the body
/// wins where a parameter is read once, and both count where it is a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// The first value of `name`, or `""`.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value.as_str())
    }

    /// All values of `name`.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    fn add(&mut self, encoded: &[u8]) {
        self.0.extend(form_urlencoded::parse(encoded).into_owned());
    }
}

/// For tests and callers that have the parameters already.
impl<'a> FromIterator<(&'a str, &'a str)> for Form {
    fn from_iter<T: IntoIterator<Item = (&'a str, &'a str)>>(pairs: T) -> Self {
        Self(
            pairs
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        )
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
    async fn other_bodies_are_not_read() {
        let form = form("POST", "/q?query=up", "application/json", "query=down").await;
        assert_eq!(form.get("query"), "up");
    }
}
