//! The records of a segment → ClickHouse, each row once, all of them or an error.
//!
//! An INSERT of points is one block of one partition, so it becomes one part or none, and it has a token: a block
//! whose token ClickHouse knows is not stored again. That alone is not enough. A MergeTree without replicas notes
//! the token *before* the part takes its place; killed in between, it drops the rows when they come again. So where
//! an earlier try may have been cut off, some of the rows are looked for afterwards, and if they are not there the
//! block goes under another token.
//!
//! Series and metadata have no token: their tables keep equal rows as one, and a block dropped as known would not
//! reach the view that fills `label_values`, which may have been what was cut off.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use clickhouse::{Client, RowOwned, RowWrite};
use runtime::error::Chain;
use schemas::insert::{self, PointKey};
use schemas::tables;

use crate::batch::{Batch, DecodeError, Histogram, Sample};
use crate::known::Known;
use crate::spool::{Deliver, DeliveryFault, FaultKind};

mod weight;
mod merge;
mod columns;
mod native;
mod fault;

use fault::Fault;
use merge::{Merging, Unit};
use weight::Weight;

/// Most bytes of series or metadata in one INSERT.
const MOST_BYTES: usize = 64 << 20;

/// How often a block goes under another token, because the one before was noted and the rows are not there.
const TOKENS: u32 = 3;

/// Stores the spool's segments, one at a time.
#[derive(Debug)]
pub(crate) struct Delivering {
    tables: Tables,
    known: Arc<Known>,
    /// Whether the last try did not come to a good end. So it is at first: this process may have had a predecessor
    /// that was killed.
    doubt: AtomicBool,
}

impl Delivering {
    /// Stores in `tables`; tells `known` when series may have to be written again.
    pub(crate) fn new(tables: Tables, known: Arc<Known>) -> Self {
        Self {
            tables,
            known,
            doubt: AtomicBool::new(true),
        }
    }
}

impl Deliver for Delivering {
    async fn deliver(&self, token: &str, records: Vec<Bytes>) -> Result<(), DeliveryFault> {
        let doubt = self.doubt.swap(true, Ordering::Relaxed);
        let stored = match decoded(&records) {
            Ok(batches) => {
                drop(records);
                self.tables
                    .store(batches, token, doubt)
                    .await
                    .map_err(DeliveryFault::from)
            }
            Err(broken) => Err(DeliveryFault {
                kind: FaultKind::Refused,
                message: Chain(&broken).to_string(),
            }),
        };
        match &stored {
            Ok(()) => self.doubt.store(false, Ordering::Relaxed),
            // The segment may be set aside, and the series in it with it: they are to be written again.
            Err(fault) if fault.kind == FaultKind::Refused => self.known.clear(),
            Err(_) => {}
        }
        stored
    }
}

fn decoded(records: &[Bytes]) -> Result<Vec<Batch>, DecodeError> {
    records.iter().map(|record| Batch::decode(record)).collect()
}

/// The tables, as the gateway writes them.
#[derive(Debug)]
pub(crate) struct Tables {
    client: Connection,
    timeout: Duration,
}

/// A client, for whose settings there is nothing to show.
struct Connection(Client);

impl std::fmt::Debug for Connection {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("ClickHouse")
    }
}

impl Tables {
    /// Writes through `client`; one segment may take `timeout`.
    pub(crate) fn new(client: Client, timeout: Duration) -> Self {
        // Synchronous: a segment is removed when ClickHouse has answered. Unvalidated: the row types are
        // compared with the tables by tests, not once a process.
        let client = client
            .with_setting("async_insert", "0")
            .with_validation(false);
        Self {
            client: Connection(client),
            timeout,
        }
    }

    /// Stores all rows of `batches`. Series and metadata come first: points without their series would be
    /// invisible, a series without points is only empty. `token` belongs to these batches alone; with `doubt`, some
    /// of them may have been stored under it before.
    ///
    /// # Errors
    /// [`Fault`]; then some of the tables may have their rows already.
    pub(crate) async fn store(
        &self,
        batches: Vec<Batch>,
        token: &str,
        doubt: bool,
    ) -> Result<(), Fault> {
        let all = tokio::time::timeout(self.timeout, self.tables(batches, token, doubt)).await;
        all.unwrap_or_else(|_| Err(Fault::slow(self.timeout)))
    }

    async fn tables(&self, batches: Vec<Batch>, token: &str, doubt: bool) -> Result<(), Fault> {
        let batches = Arc::new(batches);
        let samples = Merging::begin::<Sample>(Arc::clone(&batches));
        let histograms = Merging::begin::<Histogram>(Arc::clone(&batches));
        let series = Box::new(batches.iter().flat_map(Batch::series_rows));
        let metadata = Box::new(batches.iter().flat_map(Batch::metadata_rows));
        tokio::try_join!(
            self.rows(tables::SERIES, series),
            self.rows(tables::METADATA, metadata),
        )?;
        tokio::try_join!(
            self.points(tables::SAMPLES, samples, token, doubt),
            self.points(tables::HISTOGRAMS, histograms, token, doubt),
        )?;
        Ok(())
    }

    /// Stores rows of which the table keeps equal ones as one.
    async fn rows<R: RowOwned + RowWrite + Weight>(
        &self,
        table: &'static str,
        rows: Box<dyn Iterator<Item = R> + Send + '_>,
    ) -> Result<(), Fault> {
        let fault = |error| Fault::of(table, error);
        let client = self.client.0.clone();
        let client = client.with_setting("insert_deduplicate", "0");
        let mut rows = rows.peekable();
        while rows.peek().is_some() {
            let mut insert = client.insert::<R>(table).await.map_err(fault)?;
            let mut bytes = 0;
            let fits = |bytes: usize, row: &R| bytes == 0 || bytes + row.weight() <= MOST_BYTES;
            while let Some(row) = rows.next_if(|row| fits(bytes, row)) {
                bytes += row.weight();
                insert.write(&row).await.map_err(fault)?;
            }
            insert.end().await.map_err(fault)?;
        }
        Ok(())
    }

    /// Stores points, one unit after the other.
    async fn points(
        &self,
        table: &'static str,
        mut units: Merging,
        token: &str,
        doubt: bool,
    ) -> Result<(), Fault> {
        let mut number = 0_u32;
        while let Some(unit) = units.next().await.map_err(Fault::defect)? {
            let token = format!("{token}-{table}-{number}");
            self.unit(table, unit, &token, doubt).await?;
            number += 1;
        }
        Ok(())
    }

    /// Stores a unit under its token, or where that turns out to be noted without the rows, under another.
    async fn unit(
        &self,
        table: &'static str,
        unit: Unit,
        token: &str,
        doubt: bool,
    ) -> Result<(), Fault> {
        let Unit {
            block,
            witnesses,
            expires,
        } = unit;
        self.block(table, block.clone(), token).await?;
        // Rows that are too old to be kept are not missed.
        if !doubt || expires <= today() {
            return Ok(());
        }
        for other in 1..=TOKENS {
            if self.all_stored(table, &witnesses).await? {
                return Ok(());
            }
            tracing::warn!(
                token,
                other,
                "ClickHouse noted rows that it did not keep; they are stored again"
            );
            let token = format!("{token}-{other}");
            self.block(table, block.clone(), &token).await?;
        }
        if self.all_stored(table, &witnesses).await? {
            return Ok(());
        }
        Err(Fault::vanished(table))
    }

    /// One INSERT of one block.
    async fn block(&self, table: &'static str, block: Bytes, token: &str) -> Result<(), Fault> {
        let fault = |error| Fault::of(table, error);
        let client = self.client.0.clone();
        let mut insert = client
            .with_setting("insert_deduplication_token", token)
            .insert_formatted_with(insert::native(table));
        insert.send(block).await.map_err(fault)?;
        insert.end().await.map_err(fault)
    }

    async fn all_stored(
        &self,
        table: &'static str,
        points: &BTreeSet<PointKey>,
    ) -> Result<bool, Fault> {
        let statement = insert::all_stored(table, points);
        let points: Vec<&PointKey> = points.iter().collect();
        let question = self.client.0.query(&statement).bind(points);
        let answer = question.fetch_one::<u8>().await;
        answer
            .map(|all| all == 1)
            .map_err(|error| Fault::of(table, error))
    }
}

/// Days since the epoch.
fn today() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let days = now.unwrap_or_default().as_secs() / 86_400;
    u32::try_from(days).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
