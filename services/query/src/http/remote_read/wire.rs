//! Series → the messages of remote read (`prompb/remote.proto` and `prompb/types.proto` of Prometheus).

use promql::histogram::{Buckets, Histogram, ResetHint};
use promql::series::{Series, SeriesSet};
use prost::Message;

/// A request of one or more queries.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ReadRequest {
    #[prost(message, repeated, tag = "1")]
    pub(super) queries: Vec<Query>,
}

/// Series by matchers in a window, both ends included.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Query {
    #[prost(int64, tag = "1")]
    pub(super) start_timestamp_ms: i64,
    #[prost(int64, tag = "2")]
    pub(super) end_timestamp_ms: i64,
    #[prost(message, repeated, tag = "3")]
    pub(super) matchers: Vec<LabelMatcher>,
}

/// A condition on a label: 0 equal, 1 not equal, 2 regex, 3 not regex.
#[derive(Clone, PartialEq, Message)]
pub(super) struct LabelMatcher {
    #[prost(int32, tag = "1")]
    pub(super) kind: i32,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    #[prost(string, tag = "3")]
    pub(super) value: String,
}

/// One result a query.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ReadResponse {
    #[prost(message, repeated, tag = "1")]
    pub(super) results: Vec<QueryResult>,
}

/// The series of a query.
#[derive(Clone, PartialEq, Message)]
pub(super) struct QueryResult {
    #[prost(message, repeated, tag = "1")]
    pub(super) timeseries: Vec<TimeSeries>,
}

/// A series with its samples, stale markers included.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    pub(super) labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    pub(super) samples: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    pub(super) histograms: Vec<HistogramSample>,
}

/// A label pair.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Label {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

/// A float at a time.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Sample {
    #[prost(double, tag = "1")]
    pub(super) value: f64,
    #[prost(int64, tag = "2")]
    pub(super) timestamp: i64,
}

/// A native histogram with float counts at a time.
#[derive(Clone, PartialEq, Message)]
pub(super) struct HistogramSample {
    // `optional` writes a zero count too: without one the reader takes the sample for an integer histogram.
    #[prost(double, optional, tag = "2")]
    pub(super) count: Option<f64>,
    #[prost(double, tag = "3")]
    pub(super) sum: f64,
    #[prost(sint32, tag = "4")]
    pub(super) schema: i32,
    #[prost(double, tag = "5")]
    pub(super) zero_threshold: f64,
    #[prost(double, optional, tag = "7")]
    pub(super) zero_count: Option<f64>,
    #[prost(message, repeated, tag = "8")]
    pub(super) negative_spans: Vec<Span>,
    #[prost(double, repeated, tag = "10")]
    pub(super) negative_counts: Vec<f64>,
    #[prost(message, repeated, tag = "11")]
    pub(super) positive_spans: Vec<Span>,
    #[prost(double, repeated, tag = "13")]
    pub(super) positive_counts: Vec<f64>,
    #[prost(int32, tag = "14")]
    pub(super) reset_hint: i32,
    #[prost(int64, tag = "15")]
    pub(super) timestamp: i64,
    #[prost(double, repeated, tag = "16")]
    pub(super) custom_values: Vec<f64>,
}

/// A run of buckets: how far from the end of the last run it begins, and how many there are.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Span {
    #[prost(sint32, tag = "1")]
    pub(super) offset: i32,
    #[prost(uint32, tag = "2")]
    pub(super) length: u32,
}

/// The result of one query.
pub(super) fn result(set: &SeriesSet) -> QueryResult {
    QueryResult {
        timeseries: set.series.iter().map(time_series).collect(),
    }
}

fn time_series(series: &Series) -> TimeSeries {
    let floats = series.floats.ts.iter().zip(&series.floats.values);
    let histograms = series.histograms.ts.iter().zip(&series.histograms.values);
    TimeSeries {
        labels: series
            .labels
            .iter()
            .map(|(name, value)| Label {
                name: name.to_string(),
                value: value.to_string(),
            })
            .collect(),
        samples: floats
            .map(|(time, value)| Sample {
                value: *value,
                timestamp: *time,
            })
            .collect(),
        histograms: histograms
            .map(|(time, value)| histogram(*time, value))
            .collect(),
    }
}

fn histogram(timestamp: i64, histogram: &Histogram) -> HistogramSample {
    let (positive_spans, positive_counts) = spans(&histogram.positive);
    let (negative_spans, negative_counts) = spans(&histogram.negative);
    HistogramSample {
        count: Some(histogram.count),
        sum: histogram.sum,
        schema: histogram.schema,
        zero_threshold: histogram.zero_threshold,
        zero_count: Some(histogram.zero_count),
        negative_spans,
        negative_counts,
        positive_spans,
        positive_counts,
        reset_hint: match histogram.reset_hint {
            ResetHint::Unknown => 0,
            ResetHint::Reset => 1,
            ResetHint::NotReset => 2,
            ResetHint::Gauge => 3,
        },
        timestamp,
        custom_values: histogram.custom_bounds.to_vec(),
    }
}

fn spans(buckets: &Buckets) -> (Vec<Span>, Vec<f64>) {
    let mut spans: Vec<Span> = Vec::new();
    let mut end = 0_i32;
    let mut counts = Vec::with_capacity(buckets.len());
    for (index, count) in buckets.iter() {
        match spans.last_mut() {
            Some(span) if index == end => span.length += 1,
            _ => spans.push(Span {
                offset: index.saturating_sub(end),
                length: 1,
            }),
        }
        end = index.saturating_add(1);
        counts.push(count);
    }
    (spans, counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_become_runs_with_the_gap_before_each() {
        let buckets = Buckets::new(vec![-2, -1, 3, 4, 9], vec![1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let (spans, counts) = spans(&buckets);
        let pairs: Vec<(i32, u32)> = spans
            .iter()
            .map(|span| (span.offset, span.length))
            .collect();
        assert_eq!(pairs, [(-2, 2), (3, 2), (4, 1)]);
        assert_eq!(counts, [1.0, 2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn an_empty_histogram_still_says_that_its_counts_are_floats() {
        let bytes = histogram(1, &Histogram::default()).encode_to_vec();
        assert!(
            bytes
                .windows(9)
                .any(|at| at == [0x11, 0, 0, 0, 0, 0, 0, 0, 0]),
            "{bytes:?}"
        );
    }
}
