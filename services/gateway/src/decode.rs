//! Turns the bytes of a request body into OTLP messages.
//!
//! The messages are [`message`]'s, whatever the encoding was, and borrow from the body. Nothing here does I/O.

pub mod message;
mod json;
mod protobuf;
mod list;

#[cfg(test)]
pub(crate) mod arbitrary;
#[cfg(test)]
pub(crate) mod generated;

use bumpalo::Bump;

use self::message::{Data, Request};

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
pub struct Decoded<'b> {
    /// What the sender meant.
    pub request: Request<'b>,
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
/// exporters send takes 2 to 8 of them; a body of empty messages would take 50.
pub const ROOM_PER_BYTE: u64 = 16;

/// Decodes a metrics request into at most about `room` bytes of messages, which go to `arena` as far as they are
/// not in the body. An empty body is an empty request.
///
/// # Errors
/// When the body is not the encoding it is said to be, nests too deep, has a value of the wrong type (the
/// error names the place), or holds more messages than there is room for.
pub fn metrics<'b>(
    encoding: Encoding,
    body: &'b [u8],
    room: u64,
    arena: &'b Bump,
) -> Result<Decoded<'b>, DecodeError> {
    match encoding {
        Encoding::Protobuf => protobuf::metrics(body, room, arena),
        Encoding::Json => json::metrics(body, room, arena),
    }
}

/// Number of data points in a request, whatever their type: what limits and usage count.
#[must_use]
pub fn points_in(request: &Request<'_>) -> usize {
    request
        .resource_metrics
        .iter()
        .flat_map(|resource| resource.scope_metrics)
        .flat_map(|scope| scope.metrics)
        .map(|metric| match metric.data {
            None => 0,
            Some(Data::Gauge(points) | Data::Sum { points, .. }) => points.len(),
            Some(Data::Histogram { points, .. }) => points.len(),
            Some(Data::ExponentialHistogram { points, .. }) => points.len(),
            Some(Data::Summary(points)) => points.len(),
        })
        .sum()
}
