//! Durations → percentiles.

use std::time::Duration;

use anyhow::Context;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Longest duration told apart, microseconds.
const LONGEST: u64 = 600_000_000;

/// Durations being collected, three digits each.
#[derive(Debug)]
pub(crate) struct Latency(Histogram<u64>);

/// What is shown of them, milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Percentiles {
    /// How many.
    pub(crate) count: u64,
    /// Half are at most this.
    pub(crate) p50: f64,
    /// 90 %.
    pub(crate) p90: f64,
    /// 99 %.
    pub(crate) p99: f64,
    /// 99.9 %.
    pub(crate) p999: f64,
    /// The longest.
    pub(crate) max: f64,
    /// Percent and milliseconds, for a curve.
    pub(crate) curve: Vec<(f64, f64)>,
}

/// Percents of the curve.
const CURVE: [f64; 12] = [
    1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99, 100.0,
];

impl Latency {
    /// None yet.
    ///
    /// # Errors
    /// Never: the bounds are right.
    pub(crate) fn new() -> anyhow::Result<Self> {
        Histogram::new_with_bounds(1, LONGEST, 3)
            .map(Self)
            .context("cannot make a histogram")
    }

    /// Adds one.
    pub(crate) fn add(&mut self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(LONGEST);
        self.0.saturating_record(micros);
    }

    /// What is shown.
    pub(crate) fn percentiles(&self) -> Percentiles {
        let at = |percent: f64| milliseconds(self.0.value_at_percentile(percent));
        Percentiles {
            count: self.0.len(),
            p50: at(50.0),
            p90: at(90.0),
            p99: at(99.0),
            p999: at(99.9),
            max: milliseconds(self.0.max()),
            curve: CURVE.map(|percent| (percent, at(percent))).to_vec(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "at most LONGEST")]
fn milliseconds(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_what_was_added() {
        let mut latency = Latency::new().unwrap();
        for ms in 1..=1000 {
            latency.add(Duration::from_millis(ms));
        }
        let shown = latency.percentiles();
        assert_eq!(shown.count, 1000);
        assert!((shown.p50 - 500.0).abs() < 1.0 && (shown.p99 - 990.0).abs() < 1.0);
        assert!((shown.max - 1000.0).abs() < 1.0);
    }

    #[test]
    fn longer_than_the_longest_is_the_longest() {
        let mut latency = Latency::new().unwrap();
        latency.add(Duration::from_secs(100_000));
        assert!(latency.percentiles().max >= 600_000.0);
    }
}
