//! Every metric of the query service.

use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};

/// Cheap to clone; one for the whole service.
#[derive(Clone, Debug)]
pub(crate) struct QueryMetrics {
    requests: Family<RequestLabels, Counter>,
    duration: Family<EndpointLabel, Histogram, Latency>,
    /// Samples that came out of ClickHouse.
    pub(crate) samples_read: Counter,
    /// Bytes that came out of ClickHouse.
    pub(crate) bytes_read: Counter,
    /// Look-ups of series and metrics, and those of them that memory could not answer.
    pub(crate) catalogue_lookups: Counter,
    pub(crate) catalogue_reads: Counter,
    /// Statements that were killed because their client had left or time was up.
    pub(crate) kills: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    endpoint: Word,
    outcome: Word,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndpointLabel {
    endpoint: Word,
}

/// A label value out of a closed list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Word(&'static str);

impl EncodeLabelValue for Word {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        EncodeLabelValue::encode(&self.0, encoder)
    }
}

type Latency = fn() -> Histogram;

fn latency() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 17))
}

impl QueryMetrics {
    /// Registers everything with the process' metrics.
    pub(crate) fn register(metrics: &runtime::metrics::Metrics) -> Self {
        let all = Self {
            requests: Family::default(),
            duration: Family::new_with_constructor(latency as Latency),
            samples_read: Counter::default(),
            bytes_read: Counter::default(),
            catalogue_lookups: Counter::default(),
            catalogue_reads: Counter::default(),
            kills: Counter::default(),
        };
        metrics.register(|registry| {
            let registry = registry.sub_registry_with_prefix("query");
            registry.register(
                "requests",
                "Requests by endpoint and outcome",
                all.requests.clone(),
            );
            registry.register(
                "duration_seconds",
                "Time until the answer starts",
                all.duration.clone(),
            );
            registry.register(
                "samples_read",
                "Samples read from ClickHouse",
                all.samples_read.clone(),
            );
            registry.register(
                "bytes_read",
                "Bytes read from ClickHouse",
                all.bytes_read.clone(),
            );
            registry.register(
                "catalogue_lookups",
                "Look-ups of series and metrics",
                all.catalogue_lookups.clone(),
            );
            registry.register(
                "catalogue_reads",
                "Look-ups that needed ClickHouse",
                all.catalogue_reads.clone(),
            );
            registry.register(
                "kills",
                "Statements killed before their end",
                all.kills.clone(),
            );
        });
        all
    }

    /// Counts one answered request; `outcome` is `success` or an error type.
    pub(crate) fn answered(&self, endpoint: &'static str, outcome: &'static str, took: Duration) {
        let labels = RequestLabels {
            endpoint: Word(endpoint),
            outcome: Word(outcome),
        };
        self.requests.get_or_create(&labels).inc();
        self.duration
            .get_or_create(&EndpointLabel {
                endpoint: Word(endpoint),
            })
            .observe(took.as_secs_f64());
    }
}
