//! What the spool counts about itself.

use std::sync::Arc;
use std::time::SystemTime;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use runtime::metrics::Metrics;

use super::state::State;

/// Upper bounds of the time of an fsync, seconds.
const FSYNC_SECONDS: [f64; 12] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.0,
];

/// Upper bounds of the records that share an fsync.
const GROUP_RECORDS: [f64; 11] = [
    1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0,
];

/// How an attempt to deliver a segment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Delivered,
    Transient,
    Refused,
    Unreadable,
}

/// Why records of a segment are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// The end of a segment whose process ended while writing; such records were not acknowledged.
    Torn,
    /// The disk does not give back what was written.
    Corrupt,
    /// The whole segment vanished: counted once, whatever it held.
    Missing,
}

/// Why a record was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Full,
    DiskLow,
    TooLarge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ending {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Why {
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Step {
    step: &'static str,
}

/// The spool's metrics; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Meters {
    pub(super) records: Counter,
    pub(super) bytes: Counter,
    pub(super) fsync: Histogram,
    pub(super) group: Histogram,
    pub(super) set_aside: Counter,
    deliveries: Family<Ending, Counter>,
    lost: Family<Why, Counter>,
    refusals: Family<Why, Counter>,
    write_errors: Family<Step, Counter>,
}

impl Meters {
    /// Registers all metrics, so that they show before the first record.
    pub(super) fn register(metrics: &Metrics, state: Arc<State>) -> Self {
        let meters = Self {
            records: Counter::default(),
            bytes: Counter::default(),
            fsync: Histogram::new(FSYNC_SECONDS),
            group: Histogram::new(GROUP_RECORDS),
            set_aside: Counter::default(),
            deliveries: Family::default(),
            lost: Family::default(),
            refusals: Family::default(),
            write_errors: Family::default(),
        };
        for loss in [Loss::Torn, Loss::Corrupt, Loss::Missing] {
            drop(meters.lost.get_or_create(&loss.label()));
        }
        metrics.register(|registry| {
            let registry = registry.sub_registry_with_prefix("gateway_spool");
            registry.register_collector(Box::new(Now(state)));
            meters.show(registry);
        });
        meters
    }

    fn show(&self, registry: &mut Registry) {
        let all = self.clone();
        let help = "Records made durable";
        registry.register("appended_records", help, all.records);
        let help = "Bytes of records made durable, framing included";
        registry.register_with_unit("appended", help, Unit::Bytes, all.bytes);
        let help = "Time to make a group of records durable";
        registry.register_with_unit("fsync_duration", help, Unit::Seconds, all.fsync);
        let help = "Records that shared an fsync";
        registry.register("group_records", help, all.group);
        let help = "Segments set aside because ClickHouse keeps refusing them";
        registry.register("set_aside_segments", help, all.set_aside);
        let help = "Attempts to deliver a segment, by how they ended";
        registry.register("deliveries", help, all.deliveries);
        let help = "Records that cannot be read back, by what happened to them";
        registry.register("lost_records", help, all.lost);
        let help = "Records not taken, by reason";
        registry.register("refused_records", help, all.refusals);
        let help = "Groups of records not taken because the disk failed, by what it failed at";
        registry.register("write_errors", help, all.write_errors);
    }

    pub(super) fn delivery(&self, outcome: Outcome) {
        let outcome = match outcome {
            Outcome::Delivered => "delivered",
            Outcome::Transient => "transient",
            Outcome::Refused => "refused",
            Outcome::Unreadable => "unreadable",
        };
        self.deliveries.get_or_create(&Ending { outcome }).inc();
    }

    pub(super) fn lost(&self, loss: Loss) {
        self.lost.get_or_create(&loss.label()).inc();
    }

    pub(super) fn refusal(&self, refusal: Refusal, records: u64) {
        let reason = match refusal {
            Refusal::Full => "full",
            Refusal::DiskLow => "disk_low",
            Refusal::TooLarge => "too_large",
        };
        let refused = self.refusals.get_or_create(&Why { reason });
        refused.inc_by(records);
    }

    pub(super) fn write_error(&self, step: &'static str) {
        self.write_errors.get_or_create(&Step { step }).inc();
    }
}

impl Loss {
    const fn label(self) -> Why {
        let reason = match self {
            Self::Torn => "torn",
            Self::Corrupt => "corrupt",
            Self::Missing => "missing",
        };
        Why { reason }
    }
}

/// What is measured when it is asked for.
#[derive(Debug)]
struct Now(Arc<State>);

impl Now {
    fn show(
        encoder: &mut DescriptorEncoder<'_>,
        (name, help, unit): (&str, &str, Option<&Unit>),
        value: f64,
    ) -> Result<(), std::fmt::Error> {
        let gauge = ConstGauge::new(value);
        let kind = gauge.metric_type();
        gauge.encode(encoder.encode_descriptor(name, help, unit, kind)?)
    }
}

impl Collector for Now {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let Self(state) = self;
        let lag = state.lag(SystemTime::now()).unwrap_or_default();
        let help = "Bytes of all segments on disk, those set aside included";
        let what = ("used", help, Some(&Unit::Bytes));
        Self::show(&mut encoder, what, float(state.bytes()))?;
        let help = "Segments not delivered, the one being written included";
        let waiting = u64::try_from(state.segments()).unwrap_or(u64::MAX);
        Self::show(
            &mut encoder,
            ("waiting_segments", help, None),
            float(waiting),
        )?;
        let help = "Segments in the folder of those set aside";
        let aside = float(state.aside_segments());
        Self::show(&mut encoder, ("aside_segments", help, None), aside)?;
        let help = "Age of the oldest record not delivered, 0 when all are";
        let what = ("lag", help, Some(&Unit::Seconds));
        Self::show(&mut encoder, what, lag.as_secs_f64())?;
        let help = "1 while the last write to the disk failed";
        let failing = f64::from(u8::from(state.failing()));
        Self::show(&mut encoder, ("failing", help, None), failing)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "metrics are floats; sizes of disks stay below 2^53"
)]
const fn float(number: u64) -> f64 {
    number as f64
}
