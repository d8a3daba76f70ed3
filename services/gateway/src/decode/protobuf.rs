//! Turns protobuf bytes into OTLP messages.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use prost::Message;

use super::{DecodeError, Decoded, weight};

/// Decodes a metrics request. Nesting beyond prost's limit of 100 messages is an error; repeated
/// scalars are read packed and unpacked.
pub(super) fn metrics(body: &[u8], room: u64) -> Result<Decoded, DecodeError> {
    if !weight::fits(body, room) {
        return Err(DecodeError::too_large(room));
    }
    match ExportMetricsServiceRequest::decode(body) {
        Ok(request) => Ok(Decoded {
            request,
            warning: None,
        }),
        Err(error) => Err(DecodeError {
            message: format!("body is not valid OTLP/protobuf: {error}{}", hint(body)),
            field: None,
            offset: None,
            too_large: false,
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

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::metrics::v1::metric::Data;

    use super::*;

    fn metrics(body: &[u8]) -> Result<Decoded, DecodeError> {
        super::metrics(body, u64::MAX)
    }

    /// Wraps `body` as field `number` of a message around it.
    fn nested(number: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![number << 3 | 2];
        prost::encode_length_delimiter(body.len(), &mut bytes).unwrap();
        bytes.extend_from_slice(body);
        bytes
    }

    /// A request whose only histogram point is `point`.
    fn around(point: &[u8]) -> Vec<u8> {
        let metric = nested(9, &nested(1, point));
        nested(1, &nested(2, &nested(2, &metric)))
    }

    fn bucket_counts(body: &[u8]) -> Vec<u64> {
        let request = metrics(body).unwrap().request;
        match &request.resource_metrics[0].scope_metrics[0].metrics[0].data {
            Some(Data::Histogram(histogram)) => histogram.data_points[0].bucket_counts.clone(),
            other => panic!("not a histogram: {other:?}"),
        }
    }

    #[test]
    fn protobuf_accepts_packed_and_unpacked_repeated_numbers() {
        let [two, three] = [2_u64.to_le_bytes(), 3_u64.to_le_bytes()];
        let packed = nested(6, &[two, three].concat());
        let unpacked = [&[6 << 3 | 1], &two[..], &[6 << 3 | 1], &three[..]].concat();
        assert_eq!(bucket_counts(&around(&packed)), [2, 3]);
        assert_eq!(bucket_counts(&around(&unpacked)), [2, 3]);
    }

    #[test]
    fn protobuf_of_no_bytes_is_an_empty_request() {
        assert_eq!(
            metrics(b"").unwrap().request,
            ExportMetricsServiceRequest::default()
        );
    }

    #[test]
    fn protobuf_nested_deeper_than_the_limit_is_refused() {
        let mut value = Vec::new();
        for _ in 0..2_000 {
            value = nested(5, &nested(1, &value));
        }
        let attribute = nested(9, &nested(2, &value));
        assert!(metrics(&around(&attribute)).is_err());
    }

    #[test]
    fn a_body_of_empty_messages_is_refused_before_they_take_memory() {
        let body = [0x0a, 0x00].repeat(1000);
        assert_eq!(
            super::metrics(&body, 1 << 20)
                .unwrap()
                .request
                .resource_metrics
                .len(),
            1000
        );
        let error = super::metrics(&body, 10_000).unwrap_err();
        assert!(error.too_large, "{error}");
        assert!(
            error.message.contains("more than 10000 bytes of memory"),
            "{error}"
        );
    }

    #[test]
    fn protobuf_faults_say_what_the_body_probably_is() {
        let message = |body: &[u8]| metrics(body).unwrap_err().message;
        assert!(message(b"{\"resourceMetrics\":[]}").contains("Content-Type: application/json"));
        assert!(message(&[0x1f, 0x8b, 8, 0]).contains("Content-Encoding: gzip"));
        assert!(message(&[0x0a, 0x05, 0x01]).starts_with("body is not valid OTLP/protobuf: "));
    }
}
