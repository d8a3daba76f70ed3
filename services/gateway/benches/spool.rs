//! Pushes at the same time → records a second and the time until each is durable, on the disk of `TMPDIR`.
//!
//! `cargo bench -p gateway --bench spool`; records of 20 KB, 64 at a time unless an argument says otherwise.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::join_all;
use gateway::spool::{Config, Deliver, DeliveryFault, Spool};
use runtime::metrics::Metrics;
use runtime::tasks::Tasks;
use tokio_util::sync::CancellationToken;

const RECORD_BYTES: usize = 20_000;
const RECORDS_EACH: usize = 400;

/// Takes everything at once.
struct Sink;

impl Deliver for Sink {
    async fn deliver(&self, _: &str, _: Vec<Bytes>) -> Result<(), DeliveryFault> {
        Ok(())
    }
}

async fn pusher(spool: Spool, payload: Bytes) -> Vec<Duration> {
    let mut waits = Vec::with_capacity(RECORDS_EACH);
    for _ in 0..RECORDS_EACH {
        let begun = Instant::now();
        if spool.append(payload.clone()).await.is_ok() {
            waits.push(begun.elapsed());
        }
    }
    waits
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pushers = std::env::args().find_map(|argument| argument.parse().ok());
    let pushers: usize = pushers.unwrap_or(64);
    let dir = tempfile::tempdir()?;
    let config = Config {
        dir: dir.path().to_owned(),
        ..Config::default()
    };
    let metrics = Metrics::new();
    let (spool, delivery) = Spool::open(&config, &metrics).await?;
    drop(Tasks::new().spawn("spool-delivery", delivery.run(Sink)));

    let payload: Bytes = (0..RECORD_BYTES).map(|at| at.to_le_bytes()[0]).collect();
    let begun = Instant::now();
    let all = (0..pushers).map(|_| pusher(spool.clone(), payload.clone()));
    let mut waits: Vec<_> = join_all(all).await.into_iter().flatten().collect();
    let took = begun.elapsed();
    waits.sort_unstable();
    let at = |percent: usize| waits.get(waits.len() * percent / 100).copied();
    let a_second = waits.len() as u128 * 1000 / took.as_millis().max(1);
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{pushers} at a time: {a_second} records of {RECORD_BYTES} B a second"
    )?;
    writeln!(
        out,
        "until durable: p50 {:?}, p99 {:?}",
        at(50).unwrap_or_default(),
        at(99).unwrap_or_default()
    )?;
    let text = metrics.render()?;
    for line in text.lines() {
        if line.contains("spool_fsync_duration") || line.contains("spool_group_records") {
            writeln!(out, "{line}")?;
        }
    }
    spool
        .close(Duration::from_secs(10), &CancellationToken::new())
        .await;
    Ok(())
}
