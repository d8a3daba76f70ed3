//! `google.rpc.Status` and its details, in protobuf and in JSON.

use std::collections::HashMap;

use prost::Message;
use serde_json::{Value, json};

/// `ErrorInfo.domain` of every answer.
const DOMAIN: &str = "sluice";

/// `google.rpc.Status`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Status {
    /// A `google.rpc.Code`.
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    /// What happened and what to do.
    #[prost(string, tag = "2")]
    pub(crate) message: String,
    /// More of it for machines.
    #[prost(message, repeated, tag = "3")]
    pub(crate) details: Vec<Any>,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Any {
    #[prost(string, tag = "1")]
    pub(crate) type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) value: Vec<u8>,
}

/// `google.protobuf.Duration`.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Duration {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(crate) nanos: i32,
}

/// `google.rpc.RetryInfo`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    pub(crate) retry_delay: Option<Duration>,
}

/// `google.rpc.ErrorInfo`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ErrorInfo {
    #[prost(string, tag = "1")]
    pub(crate) reason: String,
    #[prost(string, tag = "2")]
    pub(crate) domain: String,
    #[prost(map = "string, string", tag = "3")]
    pub(crate) metadata: HashMap<String, String>,
}

/// `google.rpc.BadRequest`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct BadRequest {
    #[prost(message, repeated, tag = "1")]
    pub(crate) field_violations: Vec<FieldViolation>,
}

/// `google.rpc.BadRequest.FieldViolation`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FieldViolation {
    #[prost(string, tag = "1")]
    pub(crate) field: String,
    #[prost(string, tag = "2")]
    pub(crate) description: String,
}

/// One detail of a status.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Detail {
    /// What machines compare, and the request to look for in the log.
    Error {
        reason: &'static str,
        request_id: String,
    },
    /// Which field is wrong.
    Field { field: String, description: String },
    /// When to try again, whole seconds.
    Retry { seconds: u64 },
}

impl Detail {
    const fn type_name(&self) -> &'static str {
        match self {
            Self::Error { .. } => "type.googleapis.com/google.rpc.ErrorInfo",
            Self::Field { .. } => "type.googleapis.com/google.rpc.BadRequest",
            Self::Retry { .. } => "type.googleapis.com/google.rpc.RetryInfo",
        }
    }

    fn to_any(&self) -> Any {
        let value = match self {
            Self::Error { reason, request_id } => ErrorInfo {
                reason: (*reason).to_owned(),
                domain: DOMAIN.to_owned(),
                metadata: HashMap::from([("request_id".to_owned(), request_id.clone())]),
            }
            .encode_to_vec(),
            Self::Field { field, description } => BadRequest {
                field_violations: vec![FieldViolation {
                    field: field.clone(),
                    description: description.clone(),
                }],
            }
            .encode_to_vec(),
            Self::Retry { seconds } => RetryInfo {
                retry_delay: Some(Duration {
                    seconds: i64::try_from(*seconds).unwrap_or(i64::MAX),
                    nanos: 0,
                }),
            }
            .encode_to_vec(),
        };
        Any {
            type_url: self.type_name().to_owned(),
            value,
        }
    }

    fn to_json(&self) -> Value {
        let mut value = match self {
            Self::Error { reason, request_id } => {
                json!({"reason": reason, "domain": DOMAIN, "metadata": {"request_id": request_id}})
            }
            Self::Field { field, description } => {
                json!({"fieldViolations": [{"field": field, "description": description}]})
            }
            Self::Retry { seconds } => json!({"retryDelay": format!("{seconds}s")}),
        };
        value["@type"] = self.type_name().into();
        value
    }
}

/// The status in protobuf.
pub(crate) fn to_protobuf(code: i32, message: &str, details: &[Detail]) -> Vec<u8> {
    let details = details.iter().map(Detail::to_any).collect();
    Status {
        code,
        message: message.to_owned(),
        details,
    }
    .encode_to_vec()
}

/// The status in JSON.
pub(crate) fn to_json(code: i32, message: &str, details: &[Detail]) -> Vec<u8> {
    let details: Vec<Value> = details.iter().map(Detail::to_json).collect();
    json!({"code": code, "message": message, "details": details})
        .to_string()
        .into_bytes()
}
