//! A scenario → the queries whose answers together are all of its data, none of them large.

use std::ops::Range;

use crate::scenario::{Metric, Scenario};
use crate::target::Names;

/// About as many samples as one answer holds.
const SAMPLES: u64 = 100_000;

/// What part of a metric's points a series is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The value of a number.
    Number,
    /// Buckets, added up from the lowest.
    Bucket,
    /// The count of a histogram.
    Count,
    /// The sum of a histogram.
    Sum,
}

/// One query: a metric name of a tenant over some rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    /// Index of the tenant.
    pub(super) tenant: u32,
    /// Index of the metric.
    pub(super) metric: u32,
    /// What of it.
    pub(super) part: Part,
    /// Name to ask for.
    pub(super) name: String,
    /// Which rounds.
    pub(super) rounds: Range<u32>,
}

/// All checks of a tenant's data.
pub(super) fn checks(scenario: &Scenario, tenant: u32, names: Names) -> Vec<Check> {
    let plan = &scenario.plan;
    let apps: u64 = plan
        .forwarders_of(tenant)
        .map(|forwarder| u64::from(u32::try_from(plan.apps_of(forwarder).len()).unwrap_or(0)))
        .sum();
    // A run that was bounded by time has no further rounds.
    let rounds = plan.pushes().div_ceil(u64::from(plan.forwarders().max(1)));
    let rounds = u32::try_from(rounds).unwrap_or(plan.rounds);
    let mut checks = Vec::new();
    for (number, metric) in (0..).zip(scenario.metrics()) {
        for (part, suffix) in parts(metric).iter().copied() {
            let each = if part == Part::Bucket {
                metric.samples() - 2
            } else {
                1
            };
            let series = (apps * u64::from(metric.variants) * each).max(1);
            let window = u32::try_from(SAMPLES / series)
                .unwrap_or(u32::MAX)
                .clamp(1, 1000);
            let family = match names {
                Names::Suffixed => metric.suffixed,
                Names::Kept => metric.kept,
            };
            let mut from = 0;
            while from < rounds {
                let to = rounds.min(from.saturating_add(window));
                checks.push(Check {
                    tenant,
                    metric: number,
                    part,
                    name: format!("{family}{suffix}"),
                    rounds: from..to,
                });
                from = to;
            }
        }
    }
    checks
}

fn parts(metric: &Metric) -> &'static [(Part, &'static str)] {
    if metric.bounds().is_some() {
        &[
            (Part::Bucket, "_bucket"),
            (Part::Count, "_count"),
            (Part::Sum, "_sum"),
        ]
    } else {
        &[(Part::Number, "")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Provider;
    use crate::plan::tests::small;

    #[test]
    fn every_part_of_every_metric_is_asked_for_over_all_rounds() {
        let mut plan = small(Provider::Cerebrium);
        plan.rounds = 5000;
        plan.apps = 200;
        let checks = checks(&Scenario::new(plan), 0, Names::Suffixed);
        let of = |name: &str| -> Vec<Range<u32>> {
            let found = checks.iter().filter(|check| check.name == name);
            found.map(|check| check.rounds.clone()).collect()
        };
        for name in [
            "cerebrium_run_total",
            "cerebrium_run_queue_time_ms_milliseconds_bucket",
        ] {
            let rounds = of(name);
            assert_eq!((rounds[0].start, rounds.last().unwrap().end), (0, 5000));
            assert!(rounds.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
        // 100 apps × 15 buckets × 66 rounds are the most below 100,000.
        assert_eq!(
            of("cerebrium_run_queue_time_ms_milliseconds_bucket")[0],
            0..66
        );
        for part in [Part::Number, Part::Bucket, Part::Count, Part::Sum] {
            assert!(checks.iter().any(|check| check.part == part), "{part:?}");
        }
    }

    #[test]
    fn names_are_asked_for_as_the_store_makes_them() {
        let scenario = Scenario::new(small(Provider::Crusoe));
        let names = |names| -> Vec<String> {
            checks(&scenario, 0, names)
                .into_iter()
                .map(|check| check.name)
                .collect()
        };
        let counter = "DCGM_FI_DEV_PCIE_REPLAY_COUNTER".to_owned();
        assert!(names(Names::Kept).contains(&counter));
        assert!(names(Names::Suffixed).contains(&format!("{counter}_total")));
    }
}
