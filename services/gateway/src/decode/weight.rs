//! Protobuf bytes → the memory that their messages would take, before any of them is made.
//!
//! An empty message is two bytes on the wire and a hundred in memory: a small body can be gigabytes.

use std::mem::size_of;

use opentelemetry_proto::tonic::common::v1::{AnyValue, EntityRef, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::exponential_histogram_data_point::Buckets;
use opentelemetry_proto::tonic::metrics::v1::summary_data_point::ValueAtQuantile;
use opentelemetry_proto::tonic::metrics::v1::{
    Exemplar, ExponentialHistogramDataPoint, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, SummaryDataPoint,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// Deepest nesting that is looked into; the decoder gives up before that.
const MAX_DEPTH: usize = 128;

/// What an element takes in a list: itself, and as much again because lists double as they grow.
pub(super) fn of_element<T>() -> u64 {
    u64::try_from(2 * size_of::<T>()).unwrap_or(u64::MAX)
}

/// Whether the messages in `body`, a metrics request, take at most `room` bytes. Ends where the decoder would:
/// at the first fault.
pub(super) fn fits(body: &[u8], room: u64) -> bool {
    let mut weight = 0;
    // A fault is the decoder's to report.
    walk(Kind::Request, body, MAX_DEPTH, &mut weight, room).ok();
    weight <= room
}

/// The messages of OTLP that can hold, or be, one of many.
#[derive(Clone, Copy)]
enum Kind {
    Request,
    ResourceMetrics,
    Resource,
    EntityRef,
    ScopeMetrics,
    Scope,
    Metric,
    Numbers,
    Histograms,
    ExponentialHistograms,
    Summaries,
    Number,
    Histogram,
    ExponentialHistogram,
    Buckets,
    Summary,
    Quantile,
    Exemplar,
    Attribute,
    Value,
    List,
    Map,
    Text,
}

impl Kind {
    /// What field `tag` holds, if it is a message or a list of strings.
    fn field(self, tag: u32) -> Option<Self> {
        Some(match (self, tag) {
            (Self::Request, 1) => Self::ResourceMetrics,
            (Self::ResourceMetrics, 1) => Self::Resource,
            (Self::ResourceMetrics, 2) => Self::ScopeMetrics,
            (Self::Resource, 3) => Self::EntityRef,
            (Self::EntityRef, 3 | 4) => Self::Text,
            (Self::ScopeMetrics, 1) => Self::Scope,
            (Self::ScopeMetrics, 2) => Self::Metric,
            (Self::Metric, 5 | 7) => Self::Numbers,
            (Self::Metric, 9) => Self::Histograms,
            (Self::Metric, 10) => Self::ExponentialHistograms,
            (Self::Metric, 11) => Self::Summaries,
            (Self::Numbers, 1) => Self::Number,
            (Self::Histograms, 1) => Self::Histogram,
            (Self::ExponentialHistograms, 1) => Self::ExponentialHistogram,
            (Self::Summaries, 1) => Self::Summary,
            (Self::Number, 5) | (Self::Histogram, 8) | (Self::ExponentialHistogram, 11) => {
                Self::Exemplar
            }
            (Self::ExponentialHistogram, 8 | 9) => Self::Buckets,
            (Self::Summary, 6) => Self::Quantile,
            (Self::Resource | Self::ExponentialHistogram | Self::Map, 1)
            | (Self::Scope, 3)
            | (Self::Metric, 12)
            | (Self::Number | Self::Summary | Self::Exemplar, 7)
            | (Self::Histogram, 9) => Self::Attribute,
            (Self::Attribute, 2) | (Self::List, 1) => Self::Value,
            (Self::Value, 5) => Self::List,
            (Self::Value, 6) => Self::Map,
            _ => return None,
        })
    }

    fn weight(self) -> u64 {
        match self {
            Self::Request
            | Self::Numbers
            | Self::Histograms
            | Self::ExponentialHistograms
            | Self::Summaries
            | Self::List
            | Self::Map => 0,
            Self::ResourceMetrics => of_element::<ResourceMetrics>(),
            Self::Resource => of_element::<Resource>(),
            Self::EntityRef => of_element::<EntityRef>(),
            Self::ScopeMetrics => of_element::<ScopeMetrics>(),
            Self::Scope => of_element::<InstrumentationScope>(),
            Self::Metric => of_element::<Metric>(),
            Self::Number => of_element::<NumberDataPoint>(),
            Self::Histogram => of_element::<HistogramDataPoint>(),
            Self::ExponentialHistogram => of_element::<ExponentialHistogramDataPoint>(),
            Self::Buckets => of_element::<Buckets>(),
            Self::Summary => of_element::<SummaryDataPoint>(),
            Self::Quantile => of_element::<ValueAtQuantile>(),
            Self::Exemplar => of_element::<Exemplar>(),
            Self::Attribute => of_element::<KeyValue>(),
            Self::Value => of_element::<AnyValue>(),
            Self::Text => of_element::<String>(),
        }
    }
}

/// Adds the weight of all messages within the message `bytes`; stops early once it is over `room`.
fn walk(
    kind: Kind,
    mut bytes: &[u8],
    depth: usize,
    weight: &mut u64,
    room: u64,
) -> Result<(), prost::DecodeError> {
    while !bytes.is_empty() && *weight <= room {
        let (tag, wire) = decode_key(&mut bytes)?;
        let field = kind
            .field(tag)
            .filter(|_| wire == WireType::LengthDelimited);
        let Some(field) = field else {
            skip_field(wire, tag, &mut bytes, DecodeContext::default())?;
            continue;
        };
        let length = usize::try_from(decode_varint(&mut bytes)?).unwrap_or(usize::MAX);
        *weight += field.weight();
        // A message that is cut off is looked at as far as it goes, as the decoder does.
        let (inner, rest) = bytes.split_at(length.min(bytes.len()));
        if depth > 0 && !matches!(field, Kind::Text) {
            walk(field, inner, depth - 1, weight, room)?;
        }
        bytes = rest;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message;

    use super::*;
    use crate::decode::arbitrary::request;

    fn weight(body: &[u8]) -> u64 {
        let mut weight = 0;
        walk(Kind::Request, body, MAX_DEPTH, &mut weight, u64::MAX).ok();
        weight
    }

    #[test]
    fn each_empty_message_weighs_what_its_place_in_a_list_takes() {
        let body = [0x0a, 0x00].repeat(1000);
        assert_eq!(weight(&body), 1000 * of_element::<ResourceMetrics>());
        // One resource with one scope with one gauge of five empty points.
        let body = [0x0a, 16, 0x12, 14, 0x12, 12, 0x2a, 10]
            .into_iter()
            .chain([0x0a, 0x00].repeat(5))
            .collect::<Vec<u8>>();
        let around =
            of_element::<ResourceMetrics>() + of_element::<ScopeMetrics>() + of_element::<Metric>();
        assert_eq!(weight(&body), around + 5 * of_element::<NumberDataPoint>());
    }

    #[test]
    fn empty_messages_behind_unknown_fields_and_groups_are_found() {
        // Field 15: a varint, then a group with a varint in it.
        let body = [[0x78, 0x01].as_slice(), &[0x7b, 0x08, 0x01, 0x7c]].concat();
        let body = [body, [0x0a, 0x00].repeat(3)].concat();
        assert_eq!(weight(&body), 3 * of_element::<ResourceMetrics>());
    }

    #[test]
    fn looking_ends_once_the_room_is_used_up() {
        let mut seen = 0;
        walk(Kind::Request, &[0x0a, 0x00].repeat(1000), 9, &mut seen, 1).unwrap();
        assert_eq!(seen, of_element::<ResourceMetrics>());
    }

    /// Attributes of the resources, wherever the walk has to find them.
    fn least(
        request: &opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest,
    ) -> u64 {
        let points = u64::try_from(crate::decode::points_in(request)).unwrap();
        points * of_element::<NumberDataPoint>().min(of_element::<SummaryDataPoint>())
    }

    proptest! {
        #[test]
        fn no_point_is_overlooked(request in request()) {
            prop_assert!(weight(&request.encode_to_vec()) >= least(&request));
        }

        #[test]
        fn any_bytes_have_a_weight(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            weight(&bytes);
        }
    }
}
