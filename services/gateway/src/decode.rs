//! Turns the bytes of a request body into OTLP messages.
//!
//! The messages are the generated protobuf types whatever the encoding was. Nothing here does I/O.

mod json;
mod protobuf;

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
}

/// Decodes a metrics request. An empty body is an empty request.
///
/// # Errors
/// When the body is not the encoding it is said to be, nests too deep, or has a value of the wrong
/// type; the error names the place.
pub fn metrics(encoding: Encoding, body: &[u8]) -> Result<Decoded, DecodeError> {
    match encoding {
        Encoding::Protobuf => protobuf::metrics(body),
        Encoding::Json => json::metrics(body),
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
