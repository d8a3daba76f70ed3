//! Turns protobuf bytes into OTLP messages.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use prost::Message;

use super::{DecodeError, Decoded};

/// Decodes a metrics request. Nesting beyond prost's limit of 100 messages is an error; repeated
/// scalars are read packed and unpacked.
pub(super) fn metrics(body: &[u8]) -> Result<Decoded, DecodeError> {
    match ExportMetricsServiceRequest::decode(body) {
        Ok(request) => Ok(Decoded {
            request,
            warning: None,
        }),
        Err(error) => Err(DecodeError {
            message: format!("body is not valid OTLP/protobuf: {error}{}", hint(body)),
            field: None,
            offset: None,
        }),
    }
}

/// What the body probably is instead.
fn hint(body: &[u8]) -> &'static str {
    match body {
        [0x1f, 0x8b, ..] => "; it looks gzip-compressed: send the header `Content-Encoding: gzip`",
        [b'{', ..] => "; it looks like JSON: send the header `Content-Type: application/json`",
        _ => "",
    }
}
