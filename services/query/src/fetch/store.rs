//! Statements → rows and bytes, each with a time limit, and killed when nobody waits any more.

use auth::tenant::TenantScope;
use clickhouse::query::{BytesCursor, Query, RowCursor};
use clickhouse::{Client, RowOwned, RowRead};
use runtime::tasks::Tasks;
use tokio::time::{Instant, timeout_at};

use crate::fetch::FetchError;
use crate::fetch::sql;
use crate::metrics::QueryMetrics;

/// ClickHouse, as this service uses it.
#[derive(Clone)]
pub(crate) struct Store {
    /// Reads rows by position: the statements name their columns, so their types need no second check.
    pub(crate) client: Client,
    tasks: Tasks,
    metrics: QueryMetrics,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Store").finish_non_exhaustive()
    }
}

impl Store {
    pub(crate) fn new(client: Client, metrics: QueryMetrics) -> Self {
        Self {
            client: client.with_validation(false),
            tasks: Tasks::new(),
            metrics,
        }
    }

    /// All rows of a small answer.
    pub(crate) async fn rows<T>(
        &self,
        scope: &TenantScope,
        query: Query,
        deadline: Instant,
    ) -> Result<Vec<T>, FetchError>
    where
        T: RowOwned + RowRead,
    {
        let (query, statement) = self.start(scope, query, deadline);
        let rows = timeout_at(deadline, query.fetch_all::<T>()).await;
        let rows = rows
            .map_err(|_| FetchError::Timeout)?
            .map_err(FetchError::from);
        statement.ended();
        rows
    }

    /// A large answer row by row.
    pub(crate) fn cursor<T: RowRead>(
        &self,
        scope: &TenantScope,
        query: Query,
        deadline: Instant,
    ) -> Result<Rows<T>, FetchError> {
        let (query, statement) = self.start(scope, query, deadline);
        let cursor = query.fetch::<T>()?;
        Ok(Rows {
            cursor,
            deadline,
            statement: Some(statement),
        })
    }

    /// A large answer as a Native stream.
    pub(crate) fn stream(
        &self,
        scope: &TenantScope,
        query: Query,
        deadline: Instant,
    ) -> Result<Stream, FetchError> {
        let (query, statement) = self.start(scope, query, deadline);
        let cursor = query.fetch_bytes("Native")?;
        Ok(Stream {
            cursor,
            deadline,
            statement: Some(statement),
        })
    }

    /// Names the statement and limits its time; what is answered must be told when it has ended.
    fn start(&self, scope: &TenantScope, query: Query, deadline: Instant) -> (Query, Statement) {
        let id = format!("sluice-query-{}", uuid::Uuid::new_v4());
        let left = deadline.saturating_duration_since(Instant::now());
        // A whole second at least: 0 would mean no limit.
        let seconds = left.as_secs().saturating_add(1);
        let query = query
            .with_setting("query_id", id.clone())
            .with_setting("max_execution_time", seconds.to_string());
        (
            query,
            Statement {
                id,
                scope: scope.clone(),
                store: self.clone(),
                running: true,
            },
        )
    }
}

/// A statement that ClickHouse may be working on. Dropped before its end, it is killed.
struct Statement {
    id: String,
    scope: TenantScope,
    store: Store,
    running: bool,
}

impl Statement {
    fn ended(mut self) {
        self.running = false;
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        if !self.running {
            return;
        }
        self.store.metrics.kills.inc();
        let kill = sql::kill(&self.scope, &self.store.client, &self.id);
        // Best effort: the connection is closed as well, and the statement has a time limit.
        drop(self.store.tasks.spawn("kill-query", async move {
            if let Err(why) = kill.execute().await {
                tracing::debug!("cannot kill a statement that nobody waits for: {why}");
            }
        }));
    }
}

/// Rows that are still arriving.
pub(crate) struct Rows<T> {
    cursor: RowCursor<T>,
    deadline: Instant,
    statement: Option<Statement>,
}

impl<T: RowRead> Rows<T> {
    /// The next row, `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<T::Value<'_>>, FetchError> {
        let next = timeout_at(self.deadline, self.cursor.next())
            .await
            .map_err(|_| FetchError::Timeout)?;
        if !matches!(next, Ok(Some(_)))
            && let Some(statement) = self.statement.take()
        {
            statement.ended();
        }
        Ok(next?)
    }
}

/// Bytes that are still arriving.
pub(crate) struct Stream {
    cursor: BytesCursor,
    deadline: Instant,
    statement: Option<Statement>,
}

impl Stream {
    /// The next bytes, `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<bytes::Bytes>, FetchError> {
        let next = timeout_at(self.deadline, self.cursor.next())
            .await
            .map_err(|_| FetchError::Timeout)?;
        if !matches!(next, Ok(Some(_)))
            && let Some(statement) = self.statement.take()
        {
            statement.ended();
        }
        Ok(next?)
    }
}

#[cfg(test)]
mod tests;
