//! Series → a remote write request for Prometheus and OTLP requests for the gateway, sample by sample the
//! same.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    Gauge, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum, metric, number_data_point,
};
use prost::Message as _;

use super::track::Track;

/// Points of one OTLP request.
const POINTS: usize = 20_000;
/// OTLP's flag `NoRecordedValue`.
const NO_RECORDED_VALUE: u32 = 1;
/// Longest literal of a Snappy block that its two-byte length form can say, bytes.
const LITERAL: usize = 1 << 16;

#[derive(Clone, PartialEq, prost::Message)]
struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    series: Vec<TimeSeries>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct Sample {
    /// Always there: what is left out as the default reads as 0, and -0 is not that.
    #[prost(double, optional, tag = "1")]
    value: Option<f64>,
    #[prost(int64, tag = "2")]
    ts: i64,
}

/// A remote write request (version 1, Snappy block) with the samples in `start..end`.
pub(super) fn remote_write(tracks: &[&Track], start: i64, end: i64) -> Vec<u8> {
    let series = tracks.iter().filter_map(|track| {
        let samples: Vec<Sample> = track
            .samples
            .iter()
            .filter(|(ts, _)| (start..end).contains(ts))
            .map(|(ts, value)| Sample {
                value: Some(*value),
                ts: *ts,
            })
            .collect();
        (!samples.is_empty()).then(|| TimeSeries {
            labels: track
                .labels
                .iter()
                .map(|(name, value)| Label {
                    name: name.clone(),
                    value: value.clone(),
                })
                .collect(),
            samples,
        })
    });
    let request = WriteRequest {
        series: series.collect(),
    };
    snappy(&request.encode_to_vec())
}

/// `bytes` as a Snappy block of literals: the format without its compression.
fn snappy(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / LITERAL * 3 + 16);
    prost::encoding::encode_varint(bytes.len() as u64, &mut out);
    for chunk in bytes.chunks(LITERAL) {
        let length = u16::try_from(chunk.len() - 1).unwrap();
        // Tag: a literal (lowest bits 0) whose length less one stands in the two bytes that follow.
        out.push(61 << 2);
        out.extend(length.to_le_bytes());
        out.extend(chunk);
    }
    out
}

/// OTLP requests in protobuf with all samples as numbers: cumulative sums where the name ends as a
/// counter's does, gauges elsewhere, stale markers as points without a value.
#[must_use]
pub fn otlp_bodies(tracks: &[Track]) -> Vec<Vec<u8>> {
    let mut bodies = Vec::new();
    let mut metrics: BTreeMap<&str, Vec<NumberDataPoint>> = BTreeMap::new();
    let mut held = 0;
    for track in tracks {
        let attributes: Vec<KeyValue> = track
            .labels
            .iter()
            .filter(|(name, _)| *name != "__name__")
            .map(|(name, value)| attribute(name, value))
            .collect();
        for chunk in track.samples.chunks(POINTS) {
            if held + chunk.len() > POINTS {
                bodies.push(body(std::mem::take(&mut metrics)));
                held = 0;
            }
            held += chunk.len();
            let points = metrics.entry(track.name()).or_default();
            points.extend(chunk.iter().map(|sample| point(*sample, &attributes)));
        }
    }
    if held > 0 {
        bodies.push(body(metrics));
    }
    bodies
}

fn point((ts, value): (i64, f64), attributes: &[KeyValue]) -> NumberDataPoint {
    let stale = Track::is_stale(value);
    NumberDataPoint {
        attributes: attributes.to_vec(),
        time_unix_nano: u64::try_from(ts).unwrap() * 1_000_000,
        flags: if stale { NO_RECORDED_VALUE } else { 0 },
        value: (!stale).then_some(number_data_point::Value::AsDouble(value)),
        ..NumberDataPoint::default()
    }
}

fn attribute(name: &str, value: &str) -> KeyValue {
    KeyValue {
        key: name.to_owned(),
        value: Some(AnyValue {
            value: Some(any_value::Value::StringValue(value.to_owned())),
        }),
        ..KeyValue::default()
    }
}

fn body(metrics: BTreeMap<&str, Vec<NumberDataPoint>>) -> Vec<u8> {
    let metrics = metrics.into_iter().map(|(name, data_points)| Metric {
        name: name.to_owned(),
        data: Some(data(name, data_points)),
        ..Metric::default()
    });
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            scope_metrics: vec![ScopeMetrics {
                metrics: metrics.collect(),
                ..ScopeMetrics::default()
            }],
            ..ResourceMetrics::default()
        }],
    }
    .encode_to_vec()
}

fn data(name: &str, data_points: Vec<NumberDataPoint>) -> metric::Data {
    let counts = ["_total", "_bucket", "_count", "_sum"];
    if counts.iter().any(|suffix| name.ends_with(suffix)) {
        return metric::Data::Sum(Sum {
            data_points,
            aggregation_temporality: 2,
            is_monotonic: true,
        });
    }
    metric::Data::Gauge(Gauge { data_points })
}
