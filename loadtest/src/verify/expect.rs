//! A check → the samples that must be, may be and must not be in its answer, from the scenario alone.

use std::collections::HashMap;

use super::check::{Check, Part};
use crate::journal::{Fate, Journal};
use crate::plan::Push;
use crate::scenario::{Metric, Scenario, Source, Value};

/// Expected series by [`identity`].
pub(super) type Expected = HashMap<String, Wanted>;

/// One series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    /// Labels that it must have; it may have more.
    pub(super) labels: Vec<(String, String)>,
    /// Time, value and what became of the push, in order of time.
    pub(super) samples: Vec<(i64, f64, Fate)>,
}

/// What tells a series of a metric from the others: the identifying labels and the bucket's bound.
pub(super) fn identity<'a>(
    scenario: &Scenario,
    label: impl Fn(&str) -> Option<&'a str>,
    bound: Option<f64>,
) -> String {
    let mut text = String::new();
    for name in scenario.identifying() {
        text.push_str(label(name).unwrap_or_default());
        text.push('\u{1}');
    }
    if let Some(bound) = bound {
        text.push_str(&bound.to_bits().to_string());
    }
    text
}

/// What the answer to a check must be.
pub(super) fn expected(scenario: &Scenario, journal: &Journal, check: &Check) -> Expected {
    let mut expected = Expected::new();
    let plan = &scenario.plan;
    let at = usize::try_from(check.metric).unwrap_or(usize::MAX);
    let Some(metric) = scenario.metrics().get(at) else {
        return expected;
    };
    for forwarder in plan.forwarders_of(check.tenant) {
        let fates: Vec<Fate> = check
            .rounds
            .clone()
            .map(|round| journal.fate(plan.number(Push { round, forwarder })))
            .collect();
        for app in plan.apps_of(forwarder) {
            for variant in 0..metric.variants {
                let series = Series {
                    scenario,
                    check,
                    metric,
                    app,
                    variant,
                };
                series.add(&fates, &mut expected);
            }
        }
    }
    expected
}

/// The series of one variant of an app's metric: one, or one a bucket, and more where the app is
/// replaced.
struct Series<'a> {
    scenario: &'a Scenario,
    check: &'a Check,
    metric: &'a Metric,
    app: u32,
    variant: u32,
}

impl Series<'_> {
    fn add(&self, fates: &[Fate], expected: &mut Expected) {
        let mut open: Option<(Source, Vec<Wanted>)> = None;
        for (round, fate) in self.check.rounds.clone().zip(fates) {
            let source = self.scenario.source(self.app, round);
            if open
                .as_ref()
                .is_some_and(|(before, _)| before.generation != source.generation)
            {
                self.close(open.take(), expected);
            }
            let (_, series) = open.get_or_insert_with(|| (source, self.empty()));
            let time = self.scenario.plan.time(round);
            let values = self.values(&source);
            for (wanted, value) in series.iter_mut().zip(values) {
                wanted.samples.push((time, value, *fate));
            }
        }
        self.close(open, expected);
    }

    /// A series, or one for each bucket.
    fn empty(&self) -> Vec<Wanted> {
        let count = self.bounds().len();
        vec![Wanted::default(); count]
    }

    /// Bounds of the buckets; `None` for what is no bucket.
    fn bounds(&self) -> Vec<Option<f64>> {
        match (self.check.part, self.metric.bounds()) {
            (Part::Bucket, Some(bounds)) => bounds
                .iter()
                .copied()
                .chain([f64::INFINITY])
                .map(Some)
                .collect(),
            _ => vec![None],
        }
    }

    fn close(&self, open: Option<(Source, Vec<Wanted>)>, expected: &mut Expected) {
        let Some((source, series)) = open else {
            return;
        };
        let labels: Vec<(String, String)> = self
            .scenario
            .attributes(&source, self.metric, self.variant)
            .into_iter()
            .chain(self.scenario.promoted(&source))
            .map(|(name, value)| (name.replace('.', "_"), value))
            .collect();
        for (bound, mut wanted) in self.bounds().into_iter().zip(series) {
            let label = |name: &str| {
                let found = labels.iter().find(|(known, _)| known == name);
                found.map(|(_, value)| value.as_str())
            };
            let identity = identity(self.scenario, label, bound);
            wanted.labels.clone_from(&labels);
            expected.insert(identity, wanted);
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "counts stay far below 2^53: a rate times some thousand rounds"
    )]
    fn values(&self, source: &Source) -> Vec<f64> {
        match self.scenario.value(self.check.metric, source, self.variant) {
            Value::Integer(value) => vec![value as f64],
            Value::Double(value) => vec![value],
            Value::Histogram(observed) => match self.check.part {
                Part::Count => vec![observed.count as f64],
                Part::Sum => vec![observed.sum],
                Part::Number | Part::Bucket => {
                    let below = observed.counts.iter().scan(0, |below, count| {
                        *below += count;
                        Some(*below as f64)
                    });
                    below.collect()
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Provider;
    use crate::plan::tests::small;
    use crate::target::Names;
    use crate::verify::check::checks;

    fn all(scenario: &Scenario) -> Vec<Expected> {
        let journal = Journal::create(&scenario.plan, None).unwrap();
        let tenants = 0..scenario.plan.tenants;
        tenants
            .flat_map(|tenant| checks(scenario, tenant, Names::Suffixed))
            .map(|check| expected(scenario, &journal, &check))
            .collect()
    }

    #[test]
    fn the_model_has_as_many_samples_as_the_pushes() {
        for (provider, churn) in [
            (Provider::Cerebrium, 0),
            (Provider::Cerebrium, 1000),
            (Provider::Crusoe, 1000),
            (Provider::Sdk, 500),
        ] {
            let mut plan = small(provider);
            plan.churn = churn;
            plan.rounds = 30;
            let scenario = Scenario::new(plan);
            let pushed: u64 = (0..scenario.plan.pushes())
                .map(|number| scenario.weigh(scenario.plan.push(number)).1)
                .sum();
            let expected: usize = all(&scenario)
                .iter()
                .flat_map(HashMap::values)
                .map(|wanted| wanted.samples.len())
                .sum();
            assert_eq!(
                u64::try_from(expected).unwrap(),
                pushed,
                "{provider:?} {churn}"
            );
        }
    }

    #[test]
    fn buckets_are_added_up_to_the_count() {
        let scenario = Scenario::new(small(Provider::Cerebrium));
        let journal = Journal::create(&scenario.plan, None).unwrap();
        let of = |suffix: &str| {
            let name = format!("cerebrium_run_total{suffix}");
            let wanted = name.replace("run_total", "run_execution_time_ms_milliseconds");
            let checks = checks(&scenario, 0, Names::Suffixed);
            let check = checks.iter().find(|check| check.name == wanted).unwrap();
            expected(&scenario, &journal, check)
        };
        let (buckets, counts) = (of("_bucket"), of("_count"));
        assert_eq!(buckets.len(), counts.len() * 15);
        let infinite = f64::INFINITY.to_bits().to_string();
        for (key, count) in &counts {
            assert_eq!(buckets[&format!("{key}{infinite}")].samples, count.samples);
        }
    }
}
