//! Answers, read as an exporter reads them.

use http::{HeaderMap, StatusCode};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceResponse;
use prost::Message;
use reqwest::RequestBuilder;
use serde_json::Value;

use super::fixture::{JSON, PROTOBUF};
use crate::http::status::{BadRequest, ErrorInfo, RetryInfo, Status};

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// What a `google.rpc.Status` says, whatever its encoding.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) reason: String,
    pub(super) retry_seconds: Option<i64>,
    pub(super) violations: usize,
}

/// Sends `request`.
pub(super) async fn send(request: RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    Answer {
        status,
        headers,
        body: response.bytes().await.unwrap().to_vec(),
    }
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// Checks that this is a success in `encoding`; rejected points and the text.
    pub(super) fn success(&self, encoding: &str) -> Option<(i64, String)> {
        assert_eq!(
            self.status,
            StatusCode::OK,
            "{}",
            String::from_utf8_lossy(&self.body)
        );
        assert_eq!(self.header("content-type"), encoding);
        assert!(!self.header("x-request-id").is_empty());
        if encoding == PROTOBUF {
            let partial = ExportMetricsServiceResponse::decode(&*self.body)
                .unwrap()
                .partial_success;
            return partial.map(|partial| (partial.rejected_data_points, partial.error_message));
        }
        let value: Value = serde_json::from_slice(&self.body).unwrap();
        let partial = value.get("partialSuccess")?;
        let rejected = partial["rejectedDataPoints"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        Some((
            rejected,
            partial["errorMessage"].as_str().unwrap().to_owned(),
        ))
    }

    /// Checks that this is a failure with `status` in `encoding`; what it says.
    pub(super) fn failure(&self, status: u16, encoding: &str) -> Told {
        assert_eq!(
            self.status.as_u16(),
            status,
            "{}",
            String::from_utf8_lossy(&self.body)
        );
        assert_eq!(self.header("content-type"), encoding);
        assert!(!self.header("x-request-id").is_empty());
        let told = if encoding == JSON {
            self.json()
        } else {
            self.protobuf()
        };
        let retry = self
            .headers
            .get("retry-after")
            .map(|wait| wait.to_str().unwrap().parse().unwrap());
        assert_eq!(
            told.retry_seconds, retry,
            "Retry-After and RetryInfo say the same"
        );
        assert_eq!(retry.is_some(), status == 429 || status == 503);
        assert_eq!(told.violations, usize::from(status == 400));
        told
    }

    fn json(&self) -> Told {
        let value: Value = serde_json::from_slice(&self.body).unwrap();
        let details = value["details"].as_array().unwrap();
        let detail = |name: &str| {
            details
                .iter()
                .find(|detail| detail["@type"].as_str().unwrap().ends_with(name))
        };
        let error = detail("google.rpc.ErrorInfo").unwrap();
        assert_eq!(error["domain"], "sluice");
        assert_eq!(error["metadata"]["request_id"], self.header("x-request-id"));
        let seconds = |retry: &Value| {
            retry["retryDelay"]
                .as_str()
                .unwrap()
                .trim_end_matches('s')
                .parse()
                .unwrap()
        };
        Told {
            code: value["code"].as_i64().unwrap(),
            message: value["message"].as_str().unwrap().to_owned(),
            reason: error["reason"].as_str().unwrap().to_owned(),
            retry_seconds: detail("google.rpc.RetryInfo").map(seconds),
            violations: detail("google.rpc.BadRequest")
                .map_or(0, |bad| bad["fieldViolations"].as_array().unwrap().len()),
        }
    }

    fn protobuf(&self) -> Told {
        let status = Status::decode(&*self.body).unwrap();
        let detail = |name: &str| {
            status
                .details
                .iter()
                .find(|any| any.type_url.ends_with(name))
                .map(|any| &*any.value)
        };
        let error = ErrorInfo::decode(detail("google.rpc.ErrorInfo").unwrap()).unwrap();
        assert_eq!(error.domain, "sluice");
        assert_eq!(error.metadata["request_id"], self.header("x-request-id"));
        let retry = detail("google.rpc.RetryInfo").map(|value| RetryInfo::decode(value).unwrap());
        Told {
            code: status.code.into(),
            message: status.message.clone(),
            reason: error.reason,
            retry_seconds: retry.map(|retry| retry.retry_delay.unwrap().seconds),
            violations: detail("google.rpc.BadRequest").map_or(0, |value| {
                BadRequest::decode(value).unwrap().field_violations.len()
            }),
        }
    }
}
