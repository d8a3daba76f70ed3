//! The outcome of a push → the HTTP answer, in the encoding of the request.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceResponse,
};
use prost::Message;
use runtime::error::ErrorKind;
use serde_json::json;

use super::status::{self, Detail};
use crate::decode::Encoding;
use crate::failure::Failure;

/// What a stored push is told beside "yes": rejected points and a text.
pub(crate) type Partial = Option<(i64, String)>;

/// 200 with an export response; empty when there is nothing to say.
pub(crate) fn success(encoding: Encoding, partial: Partial) -> Response {
    let body = match (encoding, partial) {
        (Encoding::Protobuf, None) => Vec::new(),
        (Encoding::Json, None) => b"{}".to_vec(),
        (Encoding::Protobuf, Some((rejected_data_points, error_message))) => {
            let partial = ExportMetricsPartialSuccess {
                rejected_data_points,
                error_message,
            };
            ExportMetricsServiceResponse {
                partial_success: Some(partial),
            }
            .encode_to_vec()
        }
        // 64-bit numbers are strings in proto3's JSON.
        (Encoding::Json, Some((rejected, message))) => json!({
            "partialSuccess": {"rejectedDataPoints": rejected.to_string(), "errorMessage": message}
        })
        .to_string()
        .into_bytes(),
    };
    answer(StatusCode::OK, encoding, body)
}

/// 4xx or 5xx with a `google.rpc.Status`.
pub(crate) fn failure(encoding: Encoding, failure: &Failure, request_id: &str) -> Response {
    let (kind, message) = (failure.error.kind, &*failure.error.public);
    let wait = failure.error.retry_after.map(|wait| wait.as_secs().max(1));
    let mut details = vec![Detail::Error {
        reason: failure.reason,
        request_id: request_id.to_owned(),
    }];
    if kind == ErrorKind::Invalid {
        details.push(Detail::Field {
            field: failure.field.clone(),
            description: message.to_owned(),
        });
    }
    details.extend(wait.map(|seconds| Detail::Retry { seconds }));
    let render = match encoding {
        Encoding::Protobuf => status::to_protobuf,
        Encoding::Json => status::to_json,
    };
    let mut response = answer(
        kind.status(),
        encoding,
        render(kind.grpc_code(), message, &details),
    );
    let headers = response.headers_mut();
    if let Some(seconds) = wait {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(hint) = failure.hint {
        let (name, value) = hint.header();
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn answer(status: StatusCode, encoding: Encoding, body: Vec<u8>) -> Response {
    let media_type = match encoding {
        Encoding::Protobuf => "application/x-protobuf",
        Encoding::Json => "application/json",
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
