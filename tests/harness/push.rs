//! A request and its encoding → the gateway's answer, read as OTLP says it must be readable.

use std::io::Write as _;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceResponse;
use prost::Message as _;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::proto::{self, Status};

/// Media type of protobuf bodies.
pub const PROTOBUF: &str = "application/x-protobuf";
/// Media type of JSON bodies.
pub const JSON: &str = "application/json";

/// Pushes to one gateway with one key.
#[derive(Clone, Debug)]
pub struct Ingest {
    http: reqwest::Client,
    base: String,
    key: String,
}

impl Ingest {
    /// Pushes to `base` (no path) with `Authorization: Bearer key`.
    #[must_use]
    pub fn new(http: reqwest::Client, base: &str, key: &str) -> Self {
        Self {
            http,
            base: base.to_owned(),
            key: key.to_owned(),
        }
    }

    /// Pushes a request as plain JSON.
    pub async fn json(&self, request: &Value) -> Answer {
        self.call("/v1/metrics")
            .header("content-type", JSON)
            .body(request.to_string())
            .send()
            .await
    }

    /// Pushes a request as plain protobuf.
    pub async fn protobuf(&self, request: &Value) -> Answer {
        self.call("/v1/metrics")
            .header("content-type", PROTOBUF)
            .body(proto::encode(request))
            .send()
            .await
    }

    /// Pushes a request of which every point must be taken.
    ///
    /// # Panics
    /// When the answer is not a full success.
    pub async fn all(&self, request: &Value) {
        let answer = self.json(request).await;
        assert_eq!((answer.status, answer.text()), (200, "{}".to_owned()));
    }

    /// An authenticated POST to `path`, to be filled in.
    #[must_use]
    pub fn call(&self, path: &str) -> Call {
        self.bare(Method::POST, path)
            .header("authorization", &format!("Bearer {}", self.key))
    }

    /// A call without credentials, to be filled in.
    #[must_use]
    pub fn bare(&self, method: Method, path: &str) -> Call {
        Call {
            builder: self.http.request(method, format!("{}{path}", self.base)),
        }
    }
}

/// A call being filled in.
#[derive(Debug)]
pub struct Call {
    builder: reqwest::RequestBuilder,
}

impl Call {
    /// Adds a header.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        Self {
            builder: self.builder.header(name, value),
        }
    }

    /// Sets the body.
    #[must_use]
    pub fn body(self, body: impl Into<reqwest::Body>) -> Self {
        Self {
            builder: self.builder.body(body),
        }
    }

    /// Sets a body whose length is not told before, sent in these chunks.
    #[must_use]
    pub fn chunks<'a>(self, chunks: impl Iterator<Item = &'a [u8]>) -> Self {
        let chunks: Vec<std::io::Result<Vec<u8>>> =
            chunks.map(|chunk| Ok(chunk.to_vec())).collect();
        self.body(reqwest::Body::wrap_stream(futures::stream::iter(chunks)))
    }

    /// Sends it.
    ///
    /// # Panics
    /// When no answer comes.
    pub async fn send(self) -> Answer {
        self.attempt().await.expect("the gateway answers")
    }

    /// Sends it; `None` when no whole answer comes.
    pub async fn attempt(self) -> Option<Answer> {
        let response = self.builder.send().await.ok()?;
        Some(Answer {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.bytes().await.ok()?.to_vec(),
        })
    }
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Vec<u8>,
}

impl Answer {
    /// A header as text; empty when it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is not JSON.
    #[must_use]
    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.status, self.text()))
    }

    /// The error body, which must be a `google.rpc.Status` in the declared encoding.
    ///
    /// # Panics
    /// When it is not.
    #[must_use]
    pub fn error(&self) -> Status {
        match self.header("content-type") {
            PROTOBUF => Status::decode(&*self.body).expect("a protobuf Status"),
            JSON => {
                let value = self.value();
                let object = value.as_object().expect("a JSON object");
                for name in object.keys() {
                    assert!(
                        ["code", "message", "details"].contains(&name.as_str()),
                        "google.rpc.Status has no field {name}"
                    );
                }
                Status {
                    code: object
                        .get("code")
                        .map_or(0, |code| i32::try_from(code.as_i64().unwrap()).unwrap()),
                    message: object["message"].as_str().unwrap().to_owned(),
                    details: Vec::new(),
                }
            }
            other => panic!("{}: an error body of type {other:?}", self.status),
        }
    }

    /// Rejected points and message of a 200; `(0, "")` for a full success.
    ///
    /// # Panics
    /// When it is no 200 with an Export response in the declared encoding.
    #[must_use]
    pub fn partial(&self) -> (i64, String) {
        assert_eq!(self.status, 200, "{}", self.text());
        match self.header("content-type") {
            PROTOBUF => ExportMetricsServiceResponse::decode(&*self.body)
                .expect("a protobuf Export response")
                .partial_success
                .map(|partial| (partial.rejected_data_points, partial.error_message))
                .unwrap_or_default(),
            JSON => {
                let value = self.value();
                let Some(partial) = value.get("partialSuccess") else {
                    assert_eq!(value, serde_json::json!({}), "a full success is empty");
                    return Default::default();
                };
                let count = partial.get("rejectedDataPoints").map_or(0, |count| {
                    count
                        .as_str()
                        .expect("64-bit numbers are strings in OTLP/JSON")
                        .parse()
                        .unwrap()
                });
                let message = partial["errorMessage"].as_str().unwrap_or_default();
                (count, message.to_owned())
            }
            other => panic!("an answer of type {other:?}"),
        }
    }
}

/// `bytes` as one gzip member.
///
/// # Panics
/// Never: it writes to memory.
#[must_use]
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// `bytes` as a zlib stream, which HTTP calls `deflate`.
///
/// # Panics
/// Never: it writes to memory.
#[must_use]
pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// `bytes` as a zstd frame.
///
/// # Panics
/// Never: it writes to memory.
#[must_use]
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}
