//! A PromQL expression → the values of the answer, by label set.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::header::CONTENT_TYPE;
use serde_json::Value;

use crate::push::Answer;
use crate::spool::Gateway;

/// A label set with `__name__`.
pub type Labels = BTreeMap<String, String>;
/// One sample: milliseconds since the epoch, and the value exactly as written.
pub type Sample = (i64, String);
/// An instant vector.
pub type Vector = BTreeMap<Labels, Sample>;
/// A range vector.
pub type Matrix = BTreeMap<Labels, Vec<Sample>>;

/// Labels from pairs.
#[must_use]
pub fn labels<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Labels {
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Asks one query service as one tenant with one key.
#[derive(Clone, Debug)]
pub struct Ask {
    http: reqwest::Client,
    base: String,
    tenant: String,
    key: String,
    gateway: Option<Gateway>,
}

impl Ask {
    /// Asks `base` (no path) with Basic credentials.
    #[must_use]
    pub fn new(http: reqwest::Client, base: &str, tenant: &str, key: &str) -> Self {
        Self {
            http,
            base: base.to_owned(),
            tenant: tenant.to_owned(),
            key: key.to_owned(),
            gateway: None,
        }
    }

    /// Asks once everything that `gateway` has acknowledged is stored.
    #[must_use]
    pub fn after(mut self, gateway: Gateway) -> Self {
        self.gateway = Some(gateway);
        self
    }

    /// Asks without waiting for what has been pushed.
    #[must_use]
    pub fn at_once(mut self) -> Self {
        self.gateway = None;
        self
    }

    /// `http://tenant:key@host:port`, the way promtool takes credentials.
    #[must_use]
    pub fn url_with_credentials(&self) -> String {
        self.base.replacen(
            "http://",
            &format!("http://{}:{}@", self.tenant, self.key),
            1,
        )
    }

    /// A GET of any path with parameters.
    pub async fn get(&self, path: &str, parameters: &[(&str, &str)]) -> Answer {
        let request = self
            .http
            .get(format!("{}{path}", self.base))
            .query(parameters);
        self.send(request).await
    }

    /// A form POST to any path.
    pub async fn post(&self, path: &str, parameters: &[(&str, &str)]) -> Answer {
        let request = self
            .http
            .post(format!("{}{path}", self.base))
            .form(parameters);
        self.send(request).await
    }

    /// The `data` of a successful GET.
    ///
    /// # Panics
    /// When the answer is not a success in Prometheus' form.
    pub async fn data(&self, path: &str, parameters: &[(&str, &str)]) -> Value {
        success(
            &self.get(path, parameters).await,
            &format!("{path} {parameters:?}"),
        )
    }

    /// An instant query at `at` (milliseconds since the epoch) that must give a vector.
    pub async fn instant(&self, query: &str, at: i64) -> Vector {
        vector(&self.evaluate(query, at).await, query)
    }

    /// An instant query of a range selector at `at` (milliseconds since the epoch).
    pub async fn window(&self, query: &str, at: i64) -> Matrix {
        matrix(&self.evaluate(query, at).await, query)
    }

    /// The `data` of an instant query, whatever its type.
    pub async fn evaluate(&self, query: &str, at: i64) -> Value {
        self.data("/api/v1/query", &[("query", query), ("time", &seconds(at))])
            .await
    }

    /// A range query; `start`, `end` and `step` in milliseconds.
    pub async fn range(&self, query: &str, start: i64, end: i64, step: i64) -> Matrix {
        let parameters = [
            ("query", query),
            ("start", &seconds(start)),
            ("end", &seconds(end)),
            ("step", &seconds(step)),
        ];
        let answer = self.post("/api/v1/query_range", &parameters).await;
        matrix(&success(&answer, query), query)
    }

    /// The label sets of `series?match[]=…`.
    pub async fn series(&self, selector: &str) -> BTreeSet<Labels> {
        let data = self.data("/api/v1/series", &[("match[]", selector)]).await;
        let list = data.as_array().expect("a list of label sets");
        let sets: BTreeSet<_> = list.iter().map(label_set).collect();
        assert_eq!(
            sets.len(),
            list.len(),
            "series lists a label set twice: {data}"
        );
        sets
    }

    /// The strings of an endpoint that lists strings.
    pub async fn strings(&self, path: &str, parameters: &[(&str, &str)]) -> Vec<String> {
        let data = self.data(path, parameters).await;
        data.as_array()
            .expect("a list")
            .iter()
            .map(|item| item.as_str().expect("a string").to_owned())
            .collect()
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        if let Some(gateway) = &self.gateway {
            gateway.delivered().await;
        }
        let response = request
            .basic_auth(&self.tenant, Some(&self.key))
            .send()
            .await
            .expect("the query service answers");
        Answer {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response
                .bytes()
                .await
                .expect("the answer is whole")
                .to_vec(),
        }
    }
}

/// Milliseconds as the API takes times and durations.
#[must_use]
pub fn seconds(ms: i64) -> String {
    let (sign, size) = (if ms < 0 { "-" } else { "" }, ms.unsigned_abs());
    format!("{sign}{}.{:03}", size / 1000, size % 1000)
}

/// The `data` of a success.
///
/// # Panics
/// When `answer` is not a success in Prometheus' form.
#[must_use]
pub fn success(answer: &Answer, what: &str) -> Value {
    assert_eq!(answer.status, 200, "{what}: {}", answer.text());
    let kind = answer
        .headers
        .get(CONTENT_TYPE)
        .map(|value| value.as_bytes());
    assert_eq!(kind, Some(b"application/json".as_slice()), "{what}");
    let mut body = answer.value();
    assert_eq!(body["status"], "success", "{what}: {body}");
    body["data"].take()
}

/// Error type and text of a failure in Prometheus' form.
///
/// # Panics
/// When `answer` is none.
#[must_use]
pub fn failure(answer: &Answer) -> (String, String) {
    let body = answer.value();
    assert_eq!(body["status"], "error", "{body}");
    let text = |name: &str| body[name].as_str().expect("a string").to_owned();
    (text("errorType"), text("error"))
}

fn vector(data: &Value, query: &str) -> Vector {
    assert_eq!(data["resultType"], "vector", "{query}: {data}");
    let mut found = Vector::new();
    for entry in data["result"].as_array().expect("a list") {
        let set = label_set(&entry["metric"]);
        let before = found.insert(set, sample(&entry["value"]));
        assert!(before.is_none(), "{query}: a label set twice: {data}");
    }
    found
}

fn matrix(data: &Value, query: &str) -> Matrix {
    assert_eq!(data["resultType"], "matrix", "{query}: {data}");
    let mut found = Matrix::new();
    for entry in data["result"].as_array().expect("a list") {
        let values = entry["values"].as_array().expect("a list");
        let before = found.insert(
            label_set(&entry["metric"]),
            values.iter().map(sample).collect(),
        );
        assert!(before.is_none(), "{query}: a label set twice: {data}");
    }
    found
}

fn label_set(value: &Value) -> Labels {
    value
        .as_object()
        .expect("a label set")
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().expect("a string").to_owned()))
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "seconds with three decimals, in milliseconds, fit 53 bits"
)]
fn sample(value: &Value) -> Sample {
    let time = value[0].as_f64().expect("a time");
    let text = value[1].as_str().expect("a value as a string");
    ((time * 1000.0).round() as i64, text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_before_1970_have_their_fraction_on_the_right_side() {
        for (ms, text) in [
            (0, "0.000"),
            (1_700_000_060_050, "1700000060.050"),
            (-1, "-0.001"),
            (-500, "-0.500"),
            (-1500, "-1.500"),
            (i64::MIN, "-9223372036854775.808"),
        ] {
            assert_eq!(seconds(ms), text);
        }
    }
}
