//! What a provider's metrics are called and how their values grow → the value of a point.

use super::growth::{ONE, cumulative, draw, held, part, wander};

/// A metric of a provider.
#[derive(Debug)]
pub(crate) struct Metric {
    /// Name in OTLP.
    pub(crate) name: &'static str,
    /// Description in OTLP.
    pub(crate) description: &'static str,
    /// Unit in OTLP.
    pub(crate) unit: &'static str,
    /// Name of the series, or of the histogram's family, where names get suffixes.
    pub(crate) suffixed: &'static str,
    /// The same where names are kept and only escaped.
    pub(crate) kept: &'static str,
    /// Points of each app: 1, or as many as it has GPUs, routes, caches …
    pub(crate) variants: u32,
    /// How values grow.
    pub(crate) model: Model,
}

/// How the values of a metric grow.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Model {
    /// Wanders between two values in steps of `1 / per_unit`.
    Gauge {
        /// Least and greatest value.
        range: (f64, f64),
        /// Steps in 1.
        per_unit: f64,
    },
    /// A whole number that changes seldom.
    Held {
        /// Least value.
        low: u64,
        /// Greatest value.
        high: u64,
    },
    /// Counts a share of the app's runs, as a whole number.
    Runs {
        /// 1024ths of the runs.
        share: u64,
    },
    /// Grows at the same rate for every app, as a floating-point number.
    Steady {
        /// Steps a round.
        rate: u64,
        /// Steps in 1.
        per_unit: f64,
    },
    /// Observes a share of the app's runs.
    Histogram {
        /// 1024ths of the runs.
        share: u64,
        /// Upper bounds of all buckets but the last.
        bounds: &'static [f64],
        /// How observations spread over buckets, 1024ths; shifted up by a few buckets for some apps.
        spread: &'static [u64],
        /// Digits of the sum, steps in 1.
        per_unit: f64,
    },
}

/// The value of a point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// `as_int`.
    Integer(i64),
    /// `as_double`.
    Double(f64),
    /// A histogram with its bounds.
    Histogram(Observed),
}

/// What a histogram has observed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Observed {
    /// Upper bounds of all buckets but the last.
    pub(crate) bounds: &'static [f64],
    /// Observations per bucket, not added up.
    pub(crate) counts: Vec<u64>,
    /// All observations.
    pub(crate) count: u64,
    /// Sum of what was observed.
    pub(crate) sum: f64,
    /// Least and greatest observation, when there is any.
    pub(crate) extremes: Option<(f64, f64)>,
}

/// Where an app stands in its life, for [`Metric::value`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Key of the app's generation.
    pub(crate) key: u64,
    /// Runs a round, 1024ths.
    pub(crate) runs: u64,
    /// Rounds since its counters began.
    pub(crate) age: u64,
}

impl Metric {
    /// Whether it is a monotonic sum.
    pub(crate) const fn is_counter(&self) -> bool {
        matches!(self.model, Model::Runs { .. } | Model::Steady { .. })
    }

    /// The bounds of a histogram; `None` for numbers.
    pub(crate) const fn bounds(&self) -> Option<&'static [f64]> {
        match self.model {
            Model::Histogram { bounds, .. } => Some(bounds),
            _ => None,
        }
    }

    /// Samples of one point, as a Prometheus-like store counts.
    pub(crate) fn samples(&self) -> u64 {
        self.bounds().map_or(1, |bounds| {
            u64::try_from(bounds.len()).unwrap_or(u64::MAX) + 3
        })
    }

    /// The value of the metric's `variant` at a moment; `number` is the metric's own, in its provider.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counters stay far below 2^53: a rate times some thousand rounds"
    )]
    pub(crate) fn value(&self, number: u64, variant: u32, at: Moment) -> Value {
        let key = part(at.key, (number << 32) | u64::from(variant));
        match self.model {
            Model::Gauge { range, per_unit } => Value::Double(wander(key, at.age, range, per_unit)),
            Model::Held { low, high } => Value::Integer(integer(held(key, at.age, low, high))),
            Model::Runs { share } => {
                Value::Integer(integer(cumulative(key, at.runs * share / ONE, at.age)))
            }
            Model::Steady { rate, per_unit } => {
                Value::Double(cumulative(key, rate * ONE, at.age) as f64 / per_unit)
            }
            Model::Histogram {
                share,
                bounds,
                spread,
                per_unit,
            } => Value::Histogram(observe(
                Moment {
                    key,
                    runs: at.runs * share / ONE,
                    age: at.age,
                },
                (bounds, spread, per_unit),
            )),
        }
    }
}

/// Steps that an observation adds to a sum on average, besides the middle of its bucket.
const DIGITS: u64 = 1000;

fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts stay far below 2^53: a rate times some thousand rounds"
)]
fn observe(
    at: Moment,
    (bounds, spread, per_unit): (&'static [f64], &'static [u64], f64),
) -> Observed {
    // Some apps are slower than others.
    let shift = draw(at.key, 0) % 4;
    let counts: Vec<u64> = (0..=bounds.len())
        .zip(0_u64..)
        .map(|(bucket, number)| {
            let from = usize::try_from(shift)
                .ok()
                .and_then(|shift| bucket.checked_sub(shift));
            let share = from.and_then(|from| spread.get(from)).copied().unwrap_or(0);
            cumulative(part(at.key, number), at.runs * share / ONE, at.age)
        })
        .collect();
    let count = counts.iter().sum();
    let middles = || (0..=bounds.len()).map(|bucket| middle(bounds, bucket));
    let known: f64 = counts
        .iter()
        .zip(middles())
        .map(|(count, at)| *count as f64 * at)
        .sum();
    // What the middles of buckets do not tell: the digits that make sums hard to compress.
    let digits = cumulative(part(at.key, 99), at.runs * DIGITS, at.age) as f64;
    let sum = if count == 0 {
        0.0
    } else {
        ((known * per_unit) + digits).round() / per_unit
    };
    let filled = |(bucket, count): (usize, &u64)| (*count > 0).then(|| middle(bounds, bucket));
    let least = counts.iter().enumerate().find_map(filled);
    let most = counts.iter().enumerate().rev().find_map(filled);
    let extremes = least.zip(most);
    Observed {
        bounds,
        counts,
        count,
        sum,
        extremes,
    }
}

/// The middle of a bucket; of the last one, a value beyond the greatest bound.
fn middle(bounds: &[f64], bucket: usize) -> f64 {
    let below = bucket.checked_sub(1).and_then(|before| bounds.get(before));
    match (below, bounds.get(bucket)) {
        (Some(below), Some(above)) => f64::midpoint(*below, *above),
        (None, Some(above)) => above / 2.0,
        (Some(below), None) => below * 1.5,
        (None, None) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: &[f64] = &[5.0, 10.0, 25.0, 50.0];
    const LATENCY: Metric = Metric {
        name: "latency",
        description: "",
        unit: "ms",
        suffixed: "latency_milliseconds",
        kept: "latency",
        variants: 1,
        model: Model::Histogram {
            share: ONE,
            bounds: BOUNDS,
            spread: &[0, 300, 600, 120, 4],
            per_unit: 1000.0,
        },
    };

    fn observed(runs: u64, age: u64) -> Observed {
        let Value::Histogram(observed) = LATENCY.value(0, 0, Moment { key: 5, runs, age }) else {
            panic!("a histogram");
        };
        observed
    }

    #[test]
    fn every_bucket_and_the_sum_only_grow() {
        for runs in [20, 3 * ONE, 400 * ONE] {
            let mut last = observed(runs, 1);
            for age in 2..500 {
                let next = observed(runs, age);
                assert!(
                    next.counts
                        .iter()
                        .zip(&last.counts)
                        .all(|(new, old)| new >= old)
                );
                assert!(next.sum >= last.sum, "{runs} {age}");
                last = next;
            }
            assert!(last.count > 0, "{runs}");
        }
    }

    #[test]
    fn the_count_is_the_sum_of_the_buckets_and_the_sum_lies_within_their_bounds() {
        let it = observed(50 * ONE, 100);
        assert_eq!(it.count, it.counts.iter().sum::<u64>());
        assert!(it.count > 4000 && it.count < 6000, "{}", it.count);
        let mean = it.sum / f64::from(u32::try_from(it.count).unwrap());
        assert!(mean > 5.0 && mean < 75.0, "{mean}");
    }

    #[test]
    fn a_histogram_that_saw_nothing_has_no_sum_and_no_extremes() {
        let it = observed(0, 100);
        assert_eq!((it.count, it.sum, it.extremes), (0, 0.0, None));
    }

    #[test]
    fn a_histogram_is_its_buckets_with_the_last_one_a_count_and_a_sum() {
        assert_eq!(LATENCY.samples(), 7);
    }
}
