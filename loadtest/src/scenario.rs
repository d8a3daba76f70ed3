//! A plan → every source that pushes, its labels, its metrics and their values at any round.

mod growth;
mod metric;
mod cerebrium;
mod crusoe;
mod sdk;

use crate::plan::{Plan, Provider, Push, ROUND_MS};

use self::growth::{ONE, draw, part};
use self::metric::Moment;
pub(crate) use self::metric::{Metric, Observed, Value};

/// Name and value of an attribute or label.
pub(crate) type Pair = (&'static str, String);

/// Most rounds that the first generation of an app has run before the run begins.
const BEFORE: u64 = 3000;

/// One app, machine or process, in one generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// Which app.
    pub(crate) app: u32,
    /// How many apps it has replaced.
    pub(crate) generation: u32,
    /// Rounds since its counters began, at the round asked for.
    pub(crate) age: u64,
    /// When they began, milliseconds since the epoch.
    pub(crate) born_ms: i64,
}

/// Everything that is to be known about a run's data.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// What decides it all.
    pub(crate) plan: Plan,
    key: u64,
}

impl Scenario {
    /// The scenario of a plan that has been checked.
    pub(crate) fn new(plan: Plan) -> Self {
        let key = part(plan.seed, 1);
        Self { plan, key }
    }

    /// The metrics of every source.
    pub(crate) fn metrics(&self) -> &'static [Metric] {
        match self.plan.provider {
            Provider::Cerebrium => cerebrium::METRICS,
            Provider::Crusoe => crusoe::METRICS,
            Provider::Sdk => sdk::METRICS,
        }
    }

    /// Name and version of the instrumentation scope.
    pub(crate) fn scope(&self) -> (&'static str, &'static str) {
        match self.plan.provider {
            Provider::Cerebrium => ("cerebrium.metrics.loadtest", "1"),
            Provider::Crusoe => ("crusoe.telemetry.loadtest", "1"),
            Provider::Sdk => ("model_server.metrics", ""),
        }
    }

    /// Which generation of an app is alive at a round, and for how long.
    pub(crate) fn source(&self, app: u32, round: u32) -> Source {
        let key = part(self.key, u64::from(app));
        let first = Source {
            app,
            generation: 0,
            age: u64::from(round) + 1 + draw(key, 1) % BEFORE,
            born_ms: self.plan.time(0) - time_of(1 + draw(key, 1) % BEFORE),
        };
        let Some(lifetime) = self.plan.lifetime().map(u64::from) else {
            return first;
        };
        let phase = draw(key, 2) % lifetime;
        let generation = (u64::from(round) + phase) / lifetime;
        if generation == 0 {
            return first;
        }
        let born = generation * lifetime - phase;
        Source {
            app,
            generation: u32::try_from(generation).unwrap_or(u32::MAX),
            age: u64::from(round) - born + 1,
            born_ms: self.plan.time(0) + time_of(born) - ROUND_MS,
        }
    }

    /// Attributes of the source's resource.
    pub(crate) fn resource(&self, source: &Source) -> Vec<Pair> {
        match self.plan.provider {
            Provider::Cerebrium => cerebrium::resource(),
            Provider::Crusoe => crusoe::resource(&self.plan.run),
            Provider::Sdk => sdk::resource(&self.plan.run, source),
        }
    }

    /// Attributes of the point of a metric's variant.
    pub(crate) fn attributes(&self, source: &Source, metric: &Metric, variant: u32) -> Vec<Pair> {
        match self.plan.provider {
            Provider::Cerebrium => cerebrium::attributes(&self.plan.run, source),
            Provider::Crusoe => crusoe::attributes(&self.plan.run, source, metric, variant),
            Provider::Sdk => sdk::attributes(metric, variant),
        }
    }

    /// Resource attributes that every store makes labels of, as labels.
    pub(crate) fn promoted(&self, source: &Source) -> Vec<Pair> {
        match self.plan.provider {
            Provider::Cerebrium => Vec::new(),
            Provider::Crusoe => crusoe::resource(&self.plan.run),
            Provider::Sdk => sdk::promoted(&self.plan.run, source),
        }
    }

    /// The labels that tell the series of one metric name apart, besides `le`.
    pub(crate) fn identifying(&self) -> &'static [&'static str] {
        match self.plan.provider {
            Provider::Cerebrium => cerebrium::IDENTIFYING,
            Provider::Crusoe => crusoe::IDENTIFYING,
            Provider::Sdk => sdk::IDENTIFYING,
        }
    }

    /// The label that every series of this run and of no other has.
    pub(crate) fn run_label(&self) -> Pair {
        match self.plan.provider {
            Provider::Cerebrium => cerebrium::run_label(&self.plan.run),
            Provider::Crusoe => crusoe::run_label(&self.plan.run),
            Provider::Sdk => sdk::run_label(&self.plan.run),
        }
    }

    /// The value of metric `number` (an index into [`Scenario::metrics`]) of a source.
    pub(crate) fn value(&self, number: u32, source: &Source, variant: u32) -> Value {
        let key = part(
            self.key,
            (u64::from(source.generation) << 32) | u64::from(source.app),
        );
        let moment = Moment {
            key,
            runs: runs(part(self.key, u64::from(source.app))),
            age: source.age,
        };
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        self.metrics().get(at).map_or(Value::Integer(0), |metric| {
            metric.value(u64::from(number), variant, moment)
        })
    }

    /// Points and samples of one push.
    pub(crate) fn weigh(&self, push: Push) -> (u64, u64) {
        let apps =
            u64::from(u32::try_from(self.plan.apps_of(push.forwarder).len()).unwrap_or(u32::MAX));
        let each = |metric: &Metric| u64::from(metric.variants);
        let points: u64 = self.metrics().iter().map(each).sum();
        let samples: u64 = self
            .metrics()
            .iter()
            .map(|metric| each(metric) * metric.samples())
            .sum();
        (apps * points, apps * samples)
    }
}

/// Runs a minute of an app, 1024ths: a quarter of the apps is busy, half is used, a quarter nearly idle.
fn runs(key: u64) -> u64 {
    let about = draw(key, 3) % ONE;
    match draw(key, 4) % 4 {
        0 => (100 + about / 2) * ONE,
        1 | 2 => (2 + about / 32) * ONE,
        _ => 16 + about / 16,
    }
}

fn time_of(rounds: u64) -> i64 {
    i64::try_from(rounds).unwrap_or(i64::MAX / ROUND_MS) * ROUND_MS
}

#[cfg(test)]
mod tests;
