//! Decides by a metric's type what its points become.

use std::borrow::Cow;

use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, Histogram, Metric, Sum};

use super::names::Suffix;
use super::push::{Origin, Push};
use super::reject::Reason;
use super::{Refusal, histogram, number};

impl<'c> Push<'c> {
    /// Translates one metric. A metric without points or without a type is nothing at all.
    pub(super) fn metric(&mut self, metric: &'c Metric, origin: &Origin<'_>) {
        match &metric.data {
            None => {}
            Some(Data::Gauge(gauge)) => {
                let Some(family) = self.family(metric, Suffix::Ratio, gauge.data_points.len())
                else {
                    return;
                };
                let place = self.place(family, origin);
                let accepted = self.each(metric, &place, &gauge.data_points, number::add_gauge);
                if accepted {
                    self.describe(family, metric, "gauge");
                }
            }
            Some(Data::Sum(sum)) => self.sum(metric, sum, origin),
            Some(Data::Histogram(histogram)) => self.histogram(metric, histogram, origin),
            Some(Data::ExponentialHistogram(histogram)) => {
                self.unsupported(metric, "exponential histogram", histogram.data_points.len());
            }
            Some(Data::Summary(summary)) => {
                self.unsupported(metric, "summary", summary.data_points.len());
            }
        }
    }

    fn sum(&mut self, metric: &'c Metric, sum: &Sum, origin: &Origin<'_>) {
        let points = sum.data_points.len();
        if !self.is_cumulative(metric, sum.aggregation_temporality, points) {
            return;
        }
        let (suffix, kind) = if sum.is_monotonic {
            (Suffix::Total, "counter")
        } else {
            (Suffix::Unit, "gauge")
        };
        let Some(family) = self.family(metric, suffix, points) else {
            return;
        };
        let place = self.place(family, origin);
        let accepted = self.each(metric, &place, &sum.data_points, number::add_sum);
        if accepted {
            self.describe(family, metric, kind);
        }
    }

    fn histogram(&mut self, metric: &'c Metric, histogram: &Histogram, origin: &Origin<'_>) {
        let points = histogram.data_points.len();
        if !self.is_cumulative(metric, histogram.aggregation_temporality, points) {
            return;
        }
        let Some(family) = self.family(metric, Suffix::Unit, points) else {
            return;
        };
        let place = self.place(family, origin);
        let accepted = self.each(metric, &place, &histogram.data_points, histogram::add);
        if accepted {
            self.describe(family, metric, "histogram");
        }
    }

    /// Whether a metric is cumulative; rejects all its points when it is not.
    fn is_cumulative(&mut self, metric: &Metric, temporality: i32, points: usize) -> bool {
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

    fn unsupported(&mut self, metric: &Metric, what: &str, points: usize) {
        let detail = format!("it is of type {what}");
        self.reject_all(
            metric,
            Refusal::new(Reason::UnsupportedType, detail),
            points,
        );
    }
}
