//! A few numbers → which push holds whose points of which minute: all that decides a run's bytes.

use std::ops::Range;

use anyhow::{bail, ensure};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Metric time between two pushes of a forwarder, milliseconds.
pub(crate) const ROUND_MS: i64 = 60_000;
/// Metric time that a run may cover: gateways take points of the last 7 days, some of which pass while
/// it runs.
const MAX_ROUNDS: u32 = 7 * 24 * 60 - 60;
/// Percent of an hour's rounds.
const ROUNDS_AND_PERCENT: u32 = 60 * 100;

/// Whose pushes are imitated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Provider {
    /// Cerebrium's metrics export: 13 points and 77 samples an app.
    Cerebrium,
    /// Crusoe's forwarder: DCGM and VM metrics of machines with 8 GPUs.
    Crusoe,
    /// Processes with a Python OpenTelemetry SDK.
    Sdk,
}

impl Provider {
    /// The word on the command line.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Cerebrium => "cerebrium",
            Self::Crusoe => "crusoe",
            Self::Sdk => "sdk",
        }
    }
}

/// How a push of several apps is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Layout {
    /// A resource an app, each with its own list of metrics.
    PerApp,
    /// One resource and one list of metrics, with a point an app; not for `sdk`, whose resources differ.
    Grouped,
}

/// All that decides the bytes of a run. Kept in the state file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// Whose pushes.
    pub(crate) provider: Provider,
    /// Decides every value.
    pub(crate) seed: u64,
    /// In a label of every series, so that runs on one store do not meet.
    pub(crate) run: String,
    /// Apps, machines or processes at any time.
    pub(crate) apps: u32,
    /// How many of them one forwarder pushes together.
    pub(crate) apps_per_push: u32,
    /// Minutes of metric time.
    pub(crate) rounds: u32,
    /// Time of the first round, milliseconds since the epoch.
    pub(crate) start_ms: i64,
    /// Percent of the apps that give way to new ones, an hour of metric time.
    pub(crate) churn: u32,
    /// How a push is laid out.
    pub(crate) layout: Layout,
    /// Whether bodies are compressed.
    pub(crate) gzip: bool,
    /// Tenants among which the forwarders are dealt out.
    pub(crate) tenants: u32,
    /// Pushes are sent up to this number only, for a run that is bounded by time.
    pub(crate) limit: u64,
}

/// One push: what one forwarder sends for one minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Push {
    /// Which minute.
    pub(crate) round: u32,
    /// Which forwarder.
    pub(crate) forwarder: u32,
}

impl Plan {
    /// Refuses what cannot be run.
    ///
    /// # Errors
    /// A sentence that names the option to change.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        ensure!(self.apps > 0, "--apps must be at least 1");
        ensure!(self.apps_per_push > 0, "--apps-per-push must be at least 1");
        ensure!(self.churn <= 1000, "--churn must be at most 1000 percent");
        if self.rounds == 0 || self.rounds > MAX_ROUNDS {
            bail!(
                "{} rounds of a minute each were asked for, possible are 1 to {MAX_ROUNDS} (points may be at most \
                 7 days old): use more --apps, fewer --rounds or a shorter --duration",
                self.rounds
            );
        }
        if self.tenants > self.forwarders() {
            bail!(
                "{} tenants but only {} forwarders: use more --apps or fewer --apps-per-push",
                self.tenants,
                self.forwarders()
            );
        }
        ensure!(
            !(self.provider == Provider::Sdk && self.layout == Layout::Grouped),
            "--layout grouped is not possible for sdk: its processes differ in their resources"
        );
        Ok(())
    }

    /// How many forwarders there are.
    pub(crate) fn forwarders(&self) -> u32 {
        self.apps.div_ceil(self.apps_per_push.max(1))
    }

    /// How many pushes the run has.
    pub(crate) fn pushes(&self) -> u64 {
        (u64::from(self.forwarders()) * u64::from(self.rounds)).min(self.limit)
    }

    /// The push with this number: round after round, forwarder after forwarder.
    pub(crate) fn push(&self, number: u64) -> Push {
        let forwarders = u64::from(self.forwarders());
        let whole = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        Push {
            round: whole(number / forwarders),
            forwarder: whole(number % forwarders),
        }
    }

    /// The number of a push; at or beyond [`Plan::pushes`] for one that is not sent.
    pub(crate) fn number(&self, push: Push) -> u64 {
        u64::from(push.round) * u64::from(self.forwarders()) + u64::from(push.forwarder)
    }

    /// The apps of a forwarder.
    pub(crate) fn apps_of(&self, forwarder: u32) -> Range<u32> {
        let first = forwarder * self.apps_per_push;
        first..(first + self.apps_per_push).min(self.apps)
    }

    /// The tenant of a forwarder, by index.
    pub(crate) fn tenant_of(&self, forwarder: u32) -> u32 {
        forwarder % self.tenants.max(1)
    }

    /// The forwarders of a tenant.
    pub(crate) fn forwarders_of(&self, tenant: u32) -> impl Iterator<Item = u32> {
        (0..self.forwarders()).filter(move |forwarder| self.tenant_of(*forwarder) == tenant)
    }

    /// Time of a round, milliseconds since the epoch.
    pub(crate) fn time(&self, round: u32) -> i64 {
        self.start_ms + i64::from(round) * ROUND_MS
    }

    /// Rounds after which an app gives way to a new one; `None` when apps stay.
    pub(crate) fn lifetime(&self) -> Option<u32> {
        (self.churn > 0).then(|| (ROUNDS_AND_PERCENT / self.churn).max(1))
    }
}

/// The first round's time for a run whose last round is the last full minute before `now`.
pub(crate) fn start_of(now_ms: i64, rounds: u32) -> i64 {
    now_ms - now_ms.rem_euclid(ROUND_MS) - i64::from(rounds.saturating_sub(1)) * ROUND_MS
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A small run, for tests of what is made from it.
    pub(crate) fn small(provider: Provider) -> Plan {
        Plan {
            provider,
            seed: 7,
            run: "r1".to_owned(),
            apps: 5,
            apps_per_push: 2,
            rounds: 4,
            start_ms: 1_793_534_400_000,
            churn: 0,
            layout: Layout::PerApp,
            gzip: true,
            tenants: 2,
            limit: u64::MAX,
        }
    }

    #[test]
    fn every_app_is_pushed_once_a_round_by_one_forwarder() {
        let plan = small(Provider::Cerebrium);
        assert_eq!(plan.forwarders(), 3);
        assert_eq!(plan.pushes(), 12);
        for round in 0..plan.rounds {
            let apps: Vec<u32> = (0..plan.pushes())
                .map(|number| plan.push(number))
                .filter(|push| push.round == round)
                .flat_map(|push| plan.apps_of(push.forwarder))
                .collect();
            assert_eq!(apps, [0, 1, 2, 3, 4]);
        }
    }

    #[test]
    fn a_push_and_its_number_belong_together() {
        let plan = small(Provider::Cerebrium);
        for number in 0..plan.pushes() {
            assert_eq!(plan.number(plan.push(number)), number);
        }
    }

    #[test]
    fn the_last_round_is_the_last_full_minute() {
        let mut plan = small(Provider::Cerebrium);
        plan.start_ms = start_of(1_793_534_459_999, plan.rounds);
        assert_eq!(plan.time(3), 1_793_534_400_000);
        assert_eq!(plan.time(0), 1_793_534_220_000);
    }

    #[test]
    fn more_rounds_than_seven_days_hold_are_refused() {
        let mut plan = small(Provider::Cerebrium);
        plan.rounds = MAX_ROUNDS;
        plan.check().unwrap();
        plan.rounds += 1;
        assert!(plan.check().unwrap_err().to_string().contains("--rounds"));
    }

    #[test]
    fn more_tenants_than_forwarders_are_refused() {
        let mut plan = small(Provider::Cerebrium);
        plan.tenants = 4;
        assert!(plan.check().unwrap_err().to_string().contains("--apps"));
    }
}
