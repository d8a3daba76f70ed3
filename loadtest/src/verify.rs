//! What was acknowledged and what PromQL gives back → what was lost, doubled, changed or came from nowhere.

mod check;
mod expect;
mod read;
mod compare;

use std::time::{Duration, Instant};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::journal::Journal;
use crate::scenario::Scenario;
use crate::target::Target;

use self::check::{Check, checks};
use self::compare::{Findings, compare};
use self::expect::expected;
use self::read::Reader;

/// Pause between two looks at something that is not there yet.
const PAUSE: Duration = Duration::from_millis(200);
/// Most series with a fault that are listed.
const LISTED: usize = 50;

/// How to verify.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// How long after the last push an acknowledged point may stay invisible.
    pub(crate) within: Duration,
    /// Relative difference of values that is taken for none; zero: bit for bit.
    pub(crate) tolerance: f64,
}

/// The outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Verdict {
    /// Queries asked, repeated ones too.
    pub(crate) queries: u64,
    /// Series of the pushes that were acknowledged.
    pub(crate) series: u64,
    /// Acknowledged samples.
    pub(crate) acknowledged: u64,
    /// Acknowledged samples that are there, once, with their values.
    pub(crate) intact: u64,
    /// Acknowledged samples that are not there.
    pub(crate) lost: u64,
    /// Samples that are there twice: at one time, or under two label sets.
    pub(crate) doubled: u64,
    /// Samples with another value or with other labels.
    pub(crate) changed: u64,
    /// Samples that nobody pushed, or whose push was refused.
    pub(crate) unexpected: u64,
    /// Samples of pushes without a clear answer, which may be there or not: those that are.
    pub(crate) unclear: u64,
    /// How long the last points took to become visible after verification began, milliseconds, as seen
    /// by these queries; an upper bound.
    pub(crate) waited_ms: u64,
    /// How long it all took, milliseconds.
    pub(crate) took_ms: u64,
    /// The first series with a fault.
    pub(crate) faults: Vec<Fault>,
}

/// A series with a fault.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fault {
    /// Tenant and series.
    pub(crate) series: String,
    /// Samples lost, doubled, changed, unexpected.
    pub(crate) lost: u64,
    /// See [`Verdict::doubled`].
    pub(crate) doubled: u64,
    /// See [`Verdict::changed`].
    pub(crate) changed: u64,
    /// See [`Verdict::unexpected`].
    pub(crate) unexpected: u64,
    /// One of them, in words.
    pub(crate) example: String,
}

impl Verdict {
    /// Whether everything acknowledged is there exactly once and nothing else is.
    pub(crate) const fn holds(&self) -> bool {
        self.lost == 0 && self.doubled == 0 && self.changed == 0 && self.unexpected == 0
    }

    fn add(&mut self, tenant: &str, findings: Findings) {
        self.series += findings.series;
        self.acknowledged += findings.acknowledged;
        self.intact += findings.intact;
        self.unclear += findings.unclear;
        for mut fault in findings.faults {
            self.lost += fault.lost;
            self.doubled += fault.doubled;
            self.changed += fault.changed;
            self.unexpected += fault.unexpected;
            if self.faults.len() < LISTED {
                fault.series = format!("{tenant}: {}", fault.series);
                self.faults.push(fault);
            }
        }
    }
}

/// Reads everything back and compares.
///
/// # Errors
/// When the store does not answer queries, or refuses them.
pub(crate) async fn verify(
    scenario: &Scenario,
    journal: &Journal,
    target: &Target,
    rules: Rules,
) -> anyhow::Result<Verdict> {
    let start = Instant::now();
    let mut verdict = Verdict::default();
    for (number, tenant) in (0..).zip(&target.tenants) {
        let reader = Reader::new(target, tenant)?;
        for check in checks(scenario, number, target.names) {
            let wanted = expected(scenario, journal, &check);
            let look = async || {
                let found = reader.read(scenario, &check).await?;
                Ok(compare(scenario, &wanted, &found, rules.tolerance))
            };
            let findings = until_there(look, (start, rules.within), &mut verdict).await;
            let findings = findings.with_context(|| unreadable(&check, &tenant.name))?;
            verdict.add(&tenant.name, findings);
        }
    }
    verdict.took_ms = milliseconds(start.elapsed());
    Ok(verdict)
}

fn unreadable(check: &Check, tenant: &str) -> String {
    format!("cannot read {} back as tenant {tenant}", check.name)
}

/// Looks until nothing is lost, or for so long after `start`; a store may be starting again meanwhile.
async fn until_there(
    look: impl AsyncFn() -> anyhow::Result<Findings>,
    (start, within): (Instant, Duration),
    verdict: &mut Verdict,
) -> anyhow::Result<Findings> {
    loop {
        let last = start.elapsed() >= within;
        let findings = look().await;
        verdict.queries += 1;
        if last || findings.as_ref().is_ok_and(|findings| findings.lost() == 0) {
            return findings;
        }
        tokio::time::sleep(PAUSE).await;
        verdict.waited_ms = milliseconds(start.elapsed());
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
