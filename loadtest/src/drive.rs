//! Ready bodies → pushes at a pace, and what came back.

mod pace;
mod connection;
mod answer;
mod worker;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Context;
use http::HeaderValue;
use secrecy::ExposeSecret as _;

use crate::encode::Bodies;
use crate::journal::{Fate, Journal};
use crate::latency::{Latency, Percentiles};
use crate::scenario::Scenario;
use crate::target::Target;

use self::connection::Address;
pub(crate) use self::pace::Pace;
use self::worker::Worker;

/// What to send and how.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// Whose data it is.
    pub(crate) scenario: &'a Scenario,
    /// Made from it.
    pub(crate) bodies: &'a Bodies,
    /// Where to.
    pub(crate) target: &'a Target,
    /// When.
    pub(crate) pace: Pace,
    /// Connections, and so the most pushes under way at the same time.
    pub(crate) connections: u32,
    /// No push begins later than this after the start.
    pub(crate) duration: Option<Duration>,
    /// How long one push is tried again; zero: never.
    pub(crate) retry_for: Duration,
    /// Longest wait for an answer.
    pub(crate) timeout: Duration,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Driven {
    /// From the first push to the last answer.
    pub(crate) elapsed: Duration,
    /// Answers and failures of all attempts, by status or reason.
    pub(crate) answers: BTreeMap<String, u64>,
    /// Attempts beyond the first of a push.
    pub(crate) retries: u64,
    /// Pushes that were accepted whole.
    pub(crate) accepted: u64,
    /// Points of them.
    pub(crate) points: u64,
    /// Samples of them.
    pub(crate) samples: u64,
    /// Pushes of which it is not known what was stored, and pushes that were refused.
    pub(crate) failed: u64,
    /// Points that answers of 200 called rejected.
    pub(crate) rejected_points: u64,
    /// From the scheduled time (open loop) or the first attempt (closed loop) to the acceptance.
    pub(crate) latency: Percentiles,
    /// Longest that a push began after its time, milliseconds: how far the generator fell behind.
    pub(crate) behind_ms: f64,
}

/// What all workers share.
#[derive(Debug)]
struct Shared<'a> {
    job: Job<'a>,
    started: Instant,
    next: Cell<u64>,
    address: Address,
    /// Header values by tenant and key.
    keys: Vec<Vec<HeaderValue>>,
    books: RefCell<Books<'a>>,
}

/// What is counted while it runs.
#[derive(Debug)]
struct Books<'a> {
    journal: &'a mut Journal,
    latency: Latency,
    answers: BTreeMap<String, u64>,
    retries: u64,
    accepted: u64,
    points: u64,
    samples: u64,
    failed: u64,
    rejected_points: u64,
    behind: Duration,
}

/// Sends every push of the job.
///
/// # Errors
/// When the address or a key cannot be used, or the state file cannot be written. Pushes that fail are
/// no error: they are counted.
pub(crate) async fn drive(job: Job<'_>, journal: &mut Journal) -> anyhow::Result<Driven> {
    let shared = Shared {
        address: Address::of(&job.target.push_url)?,
        keys: keys(job.target)?,
        started: Instant::now(),
        next: Cell::new(0),
        books: RefCell::new(Books {
            journal,
            latency: Latency::new()?,
            answers: BTreeMap::new(),
            retries: 0,
            accepted: 0,
            points: 0,
            samples: 0,
            failed: 0,
            rejected_points: 0,
            behind: Duration::ZERO,
        }),
        job,
    };
    work(&shared).await?;
    let elapsed = shared.started.elapsed();
    let books = shared.books.into_inner();
    books.journal.end()?;
    Ok(Driven {
        elapsed,
        latency: books.latency.percentiles(),
        answers: books.answers,
        retries: books.retries,
        accepted: books.accepted,
        points: books.points,
        samples: books.samples,
        failed: books.failed,
        rejected_points: books.rejected_points,
        behind_ms: books.behind.as_secs_f64() * 1000.0,
    })
}

async fn work(shared: &Shared<'_>) -> anyhow::Result<()> {
    let workers = (0..shared.job.connections).map(|_| Worker::new(shared).run());
    futures::future::try_join_all(workers).await?;
    Ok(())
}

/// `Authorization` of each tenant's keys.
fn keys(target: &Target) -> anyhow::Result<Vec<Vec<HeaderValue>>> {
    let header = |key: &secrecy::SecretString| {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret()))
            .context("a key holds characters that no header can carry")?;
        value.set_sensitive(true);
        Ok(value)
    };
    target
        .tenants
        .iter()
        .map(|tenant| tenant.ingest.iter().map(header).collect())
        .collect()
}

impl Shared<'_> {
    /// The next push to send and when; `None` when there is none left or no time.
    fn take(&self) -> Option<(u64, Duration)> {
        let number = self.next.get();
        let due = self.job.pace.due(number);
        let late = self
            .job
            .duration
            .is_some_and(|most| due.max(self.now()) >= most);
        if number >= self.job.scenario.plan.pushes() || late {
            return None;
        }
        self.next.set(number + 1);
        Some((number, due))
    }

    /// Time since the start.
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// The key of a forwarder: the forwarders of a tenant take its keys in turn.
    fn key(&self, forwarder: u32) -> Option<&HeaderValue> {
        let plan = &self.job.scenario.plan;
        let tenant = usize::try_from(plan.tenant_of(forwarder)).ok()?;
        let keys = self.keys.get(tenant)?;
        let turn = usize::try_from(forwarder / plan.tenants.max(1)).ok()?;
        keys.get(turn.checked_rem(keys.len())?)
    }

    /// Counts an answer or a failure.
    fn answered(&self, what: &str) {
        *self
            .books
            .borrow_mut()
            .answers
            .entry(what.to_owned())
            .or_default() += 1;
    }

    /// Counts a push that is over.
    fn finished(&self, number: u64, fate: Fate, latency: Duration) -> anyhow::Result<()> {
        let mut books = self.books.borrow_mut();
        // First on paper: what is counted as accepted must be looked for after any crash.
        books.journal.note(number, fate)?;
        if fate == Fate::Accepted {
            let plan = &self.job.scenario.plan;
            let (points, samples) = self.job.scenario.weigh(plan.push(number));
            books.accepted += 1;
            books.points += points;
            books.samples += samples;
            books.latency.add(latency);
        } else {
            books.failed += 1;
        }
        Ok(())
    }
}
