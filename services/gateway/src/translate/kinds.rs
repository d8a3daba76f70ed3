//! Decides by a metric's type what its points become.

use std::borrow::Cow;

use opentelemetry_proto::tonic::metrics::v1::AggregationTemporality;

use super::names::Suffix;
use super::push::{Add, Origin, Push};
use super::reject::Reason;
use super::{Refusal, histogram, number};
use crate::decode::message::{Data, Metric};

/// What points of a metric become, and how.
struct Kind<'c, P> {
    suffix: Suffix,
    /// Prometheus' word.
    word: &'static str,
    /// `None` for points that stand for themselves.
    temporality: Option<i32>,
    add: Add<'c, P>,
}

impl<'c> Push<'c> {
    /// Translates one metric. A metric without points or without a type is nothing at all.
    pub(super) fn metric(&mut self, metric: &Metric<'c>, origin: &Origin<'_>) {
        match metric.data {
            None => {}
            Some(Data::Gauge(points)) => {
                let kind = Kind {
                    suffix: Suffix::Ratio,
                    word: "gauge",
                    temporality: None,
                    add: number::add_gauge,
                };
                self.points(metric, &kind, origin, points);
            }
            Some(Data::Sum {
                points,
                temporality,
                is_monotonic,
            }) => {
                let (suffix, word) = if is_monotonic {
                    (Suffix::Total, "counter")
                } else {
                    (Suffix::Unit, "gauge")
                };
                let kind = Kind {
                    suffix,
                    word,
                    temporality: Some(temporality),
                    add: number::add_sum,
                };
                self.points(metric, &kind, origin, points);
            }
            Some(Data::Histogram {
                points,
                temporality,
            }) => {
                let kind = Kind {
                    suffix: Suffix::Unit,
                    word: "histogram",
                    temporality: Some(temporality),
                    add: histogram::add,
                };
                self.points(metric, &kind, origin, points);
            }
            Some(Data::ExponentialHistogram { points, .. }) => {
                self.unsupported(metric, "exponential histogram", points.len());
            }
            Some(Data::Summary(points)) => self.unsupported(metric, "summary", points.len()),
        }
    }

    fn points<P>(
        &mut self,
        metric: &Metric<'c>,
        kind: &Kind<'c, P>,
        origin: &Origin<'_>,
        points: &[P],
    ) {
        if let Some(temporality) = kind.temporality
            && !self.is_cumulative(metric, temporality, points.len())
        {
            return;
        }
        let Some(family) = self.family(metric, kind.suffix, points.len()) else {
            return;
        };
        let place = self.place(family, origin);
        if self.each(metric, &place, points, kind.add) {
            self.describe(family, metric, kind.word);
        }
    }

    /// Whether a metric is cumulative; rejects all its points when it is not.
    fn is_cumulative(&mut self, metric: &Metric<'_>, temporality: i32, points: usize) -> bool {
        let (reason, detail) = match AggregationTemporality::try_from(temporality) {
            Ok(AggregationTemporality::Cumulative) => return true,
            Ok(AggregationTemporality::Delta) => (
                Reason::DeltaTemporality,
                "aggregationTemporality is delta".into(),
            ),
            Ok(AggregationTemporality::Unspecified) => (
                Reason::UnspecifiedTemporality,
                Cow::Borrowed("aggregationTemporality is unspecified"),
            ),
            Err(_) => (
                Reason::UnspecifiedTemporality,
                format!("aggregationTemporality is {temporality}").into(),
            ),
        };
        self.reject_all(metric, Refusal::new(reason, detail), points);
        false
    }

    fn unsupported(&mut self, metric: &Metric<'_>, what: &str, points: usize) {
        let detail = format!("it is of type {what}");
        self.reject_all(
            metric,
            Refusal::new(Reason::UnsupportedType, detail),
            points,
        );
    }
}
