//! Turns the bytes of a request body into OTLP messages.
//!
//! The messages are the generated protobuf types whatever the encoding was. Nothing here does I/O.

mod json;
mod protobuf;
mod weight;

#[cfg(test)]
pub(crate) mod arbitrary;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `application/x-protobuf`.
    Protobuf,
    /// `application/json`: proto3's JSON mapping with OTLP's deviations.
    Json,
}

/// A decoded body.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// What the sender meant.
    pub request: ExportMetricsServiceRequest,
    /// What to tell the sender beside a success: set when the body is valid JSON in which nothing
    /// was recognised.
    pub warning: Option<String>,
}

/// Why a body could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DecodeError {
    /// One sentence for the sender: encoding, place, what was expected there.
    pub message: String,
    /// Path of the field at fault (`resourceMetrics[0].scopeMetrics`), where one is known.
    pub field: Option<String>,
    /// Byte offset in the body, where one is known.
    pub offset: Option<usize>,
    /// The messages would take more memory than there is room for; nothing else is wrong so far.
    pub too_large: bool,
}

impl DecodeError {
    fn too_large(room: u64) -> Self {
        Self {
            message: format!(
                "the messages of this body would take more than {room} bytes of memory, because most of them are \
                 empty or very small: send smaller batches, without empty messages"
            ),
            field: None,
            offset: None,
            too_large: true,
        }
    }
}

/// Bytes of memory that the messages of a push may take for each byte that its tenant may send. What honest
/// exporters send takes 4 to 10 of them; a body of empty messages would take 100.
pub const ROOM_PER_BYTE: u64 = 16;

/// Decodes a metrics request into at most about `room` bytes of messages. An empty body is an empty request.
///
/// # Errors
/// When the body is not the encoding it is said to be, nests too deep, has a value of the wrong type (the
/// error names the place), or holds more messages than there is room for.
pub fn metrics(encoding: Encoding, body: &[u8], room: u64) -> Result<Decoded, DecodeError> {
    match encoding {
        Encoding::Protobuf => protobuf::metrics(body, room),
        Encoding::Json => json::metrics(body, room),
    }
}

/// Number of data points in a request, whatever their type: what limits and usage count.
#[must_use]
pub fn points_in(request: &ExportMetricsServiceRequest) -> usize {
    request
        .resource_metrics
        .iter()
        .flat_map(|resource| &resource.scope_metrics)
        .flat_map(|scope| &scope.metrics)
        .map(|metric| match &metric.data {
            None => 0,
            Some(Data::Gauge(data)) => data.data_points.len(),
            Some(Data::Sum(data)) => data.data_points.len(),
            Some(Data::Histogram(data)) => data.data_points.len(),
            Some(Data::ExponentialHistogram(data)) => data.data_points.len(),
            Some(Data::Summary(data)) => data.data_points.len(),
        })
        .sum()
}
