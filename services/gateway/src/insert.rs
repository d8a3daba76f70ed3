//! Translated rows → ClickHouse, one INSERT a table, all of them or an error.

use std::time::Duration;

use clickhouse::{Client, RowOwned, RowWrite};
use schemas::tables;
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::failure::Failure;
use crate::metrics::Gauges;
use crate::outcome::Tally;
use crate::translate::TranslatedBatch;
use crate::translate::weight::{Weight, runs};

mod fault;
mod known;

use fault::{Cause, Fault};
use known::Known;

/// Most bytes of rows in one INSERT: a quarter of what the embedded server takes in one request.
const MOST_BYTES: usize = 64 << 20;

/// Proof that every row of a push is stored.
#[derive(Debug)]
pub(crate) struct Receipt(Tally);

impl Receipt {
    /// What became of the push's points.
    pub(crate) fn tally(&self) -> &Tally {
        &self.0
    }
}

/// The tables, as the gateway writes them.
#[derive(Debug)]
pub(crate) struct Store {
    client: Connection,
    known: Known,
    /// INSERTs that may run at the same time; further ones wait, as long as the push has time.
    turns: Semaphore,
    timeout: Duration,
    gauges: Gauges,
}

/// A client, for whose settings there is nothing to show.
struct Connection(Client);

impl std::fmt::Debug for Connection {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("ClickHouse")
    }
}

impl Store {
    /// Writes through `client` as `config` says.
    pub(crate) fn new(client: Client, config: &Config, gauges: Gauges) -> Self {
        // Synchronous: the answer of an INSERT is what the sender's 200 rests on. Unvalidated: the row
        // types are compared with the tables by tests, not once a process.
        let client = client
            .with_setting("async_insert", "0")
            .with_validation(false);
        Self {
            client: Connection(client),
            known: Known::new(config.known_series),
            turns: Semaphore::new(config.max_inserts.max(1)),
            timeout: config.insert_timeout,
            gauges,
        }
    }

    /// Stores all rows of `batch`. Series and metadata come first: points without their series would be
    /// invisible, a series without points is only empty.
    ///
    /// After an error some of the rows may be stored; the sender's second try writes them again, which
    /// changes nothing for queries.
    pub(crate) async fn insert(&self, mut batch: TranslatedBatch) -> Result<Receipt, Failure> {
        let fresh = self.known.retain_fresh(&mut batch);
        let all = tokio::time::timeout(self.timeout, self.tables(&batch)).await;
        let stored = all.unwrap_or_else(|_| Err(Fault::slow(self.timeout)));
        stored.map_err(|fault| {
            self.gauges.insert_failure(fault.label());
            Failure::from(fault)
        })?;
        self.known.remember(fresh);
        Ok(Receipt(batch.tally))
    }

    async fn tables(&self, batch: &TranslatedBatch) -> Result<(), Fault> {
        tokio::try_join!(
            self.table(tables::SERIES, &batch.series),
            self.table(tables::METADATA, &batch.metadata),
        )?;
        tokio::try_join!(
            self.table(tables::SAMPLES, &batch.samples),
            self.table(tables::HISTOGRAMS, &batch.histograms),
        )?;
        Ok(())
    }

    /// One INSERT, or as many as the rows need to be none too large. A broken connection is tried once more: the server may have closed an idle one just
    /// when it was taken, and the same rows twice are the same rows.
    async fn table<R: RowOwned + RowWrite + Weight>(
        &self,
        table: &'static str,
        rows: &[R],
    ) -> Result<(), Fault> {
        for run in runs(rows, MOST_BYTES) {
            // The semaphore is never closed.
            let _turn = self.turns.acquire().await;
            match self.send(table, run).await {
                Err(fault) if fault.cause == Cause::Unreachable => self.send(table, run).await?,
                other => other?,
            }
        }
        Ok(())
    }

    async fn send<R: RowOwned + RowWrite>(
        &self,
        table: &'static str,
        rows: &[R],
    ) -> Result<(), Fault> {
        let fault = |error| Fault::of(table, error);
        let mut insert = self.client.0.insert::<R>(table).await.map_err(fault)?;
        for row in rows {
            insert.write(row).await.map_err(fault)?;
        }
        insert.end().await.map_err(fault)
    }
}
