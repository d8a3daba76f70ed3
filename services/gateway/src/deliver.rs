//! The records of a segment → ClickHouse, one INSERT a table, all of them or an error.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clickhouse::{Client, RowOwned, RowWrite};
use runtime::error::Chain;
use schemas::tables;

use crate::batch::{Batch, DecodeError};
use crate::known::Known;
use crate::spool::{Deliver, DeliveryFault, FaultKind};

mod native;
mod merge;
mod fault;

use fault::Fault;

/// Stores the spool's segments.
#[derive(Debug)]
pub(crate) struct Delivering {
    pub(crate) tables: Tables,
    pub(crate) known: Arc<Known>,
}

impl Deliver for Delivering {
    async fn deliver(&self, token: &str, records: Vec<Bytes>) -> Result<(), DeliveryFault> {
        let stored = match decoded(&records) {
            Ok(batches) => {
                drop(records);
                self.tables
                    .store(batches, token)
                    .await
                    .map_err(DeliveryFault::from)
            }
            Err(broken) => Err(DeliveryFault {
                kind: FaultKind::Refused,
                message: Chain(&broken).to_string(),
            }),
        };
        if stored
            .as_ref()
            .is_err_and(|fault| fault.kind == FaultKind::Refused)
        {
            // The segment may be set aside, and the series in it with it: they are to be written again.
            self.known.clear();
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

    /// Stores all rows of `batches` under `token`: again under the same token, nothing is doubled. Series and
    /// metadata come first: points without their series would be invisible, a series without points is only empty.
    ///
    /// # Errors
    /// [`Fault`]; then some of the tables may have their rows already.
    pub(crate) async fn store(&self, batches: Vec<Batch>, token: &str) -> Result<(), Fault> {
        let all = tokio::time::timeout(self.timeout, self.tables(batches, token)).await;
        all.unwrap_or_else(|_| Err(Fault::slow(self.timeout)))
    }

    async fn tables(&self, batches: Vec<Batch>, token: &str) -> Result<(), Fault> {
        let series: Vec<_> = batches.iter().flat_map(Batch::series_rows).collect();
        let metadata: Vec<_> = batches.iter().flat_map(Batch::metadata_rows).collect();
        // Off the threads that serve connections: a large segment takes a while.
        let merging = tokio::task::spawn_blocking(move || merge::blocks(&batches));
        tokio::try_join!(
            self.rows(tables::SERIES, token, &series),
            self.rows(tables::METADATA, token, &metadata),
        )?;
        let blocks = merging.await.map_err(Fault::defect)?;
        tokio::try_join!(
            self.blocks(tables::SAMPLES, token, blocks.samples),
            self.blocks(tables::HISTOGRAMS, token, blocks.histograms),
        )?;
        Ok(())
    }

    /// One INSERT of rows, for what is seldom written.
    async fn rows<R: RowOwned + RowWrite>(
        &self,
        table: &'static str,
        token: &str,
        rows: &[R],
    ) -> Result<(), Fault> {
        if rows.is_empty() {
            return Ok(());
        }
        let fault = |error| Fault::of(table, error);
        let client = self.under(table, token);
        let mut insert = client.insert::<R>(table).await.map_err(fault)?;
        for row in rows {
            insert.write(row).await.map_err(fault)?;
        }
        insert.end().await.map_err(fault)
    }

    /// One INSERT of blocks.
    async fn blocks(
        &self,
        table: &'static str,
        token: &str,
        blocks: Vec<Bytes>,
    ) -> Result<(), Fault> {
        if blocks.is_empty() {
            return Ok(());
        }
        let fault = |error| Fault::of(table, error);
        let client = self.under(table, token);
        let mut insert = client.insert_formatted_with(schemas::insert::native(table));
        for block in blocks {
            insert.send(block).await.map_err(fault)?;
        }
        insert.end().await.map_err(fault)
    }

    /// A client whose INSERT into `table` is known by the token.
    fn under(&self, table: &str, token: &str) -> Client {
        let token = format!("{token}-{table}");
        self.client
            .0
            .clone()
            .with_setting("insert_deduplication_token", token)
    }
}
