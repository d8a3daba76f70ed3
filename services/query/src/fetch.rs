//! What a query selects → the series it needs, within its budget.
//!
//! [`resolve`] finds out which stored series each selection means (with [`names`] and [`catalogue`]) →
//! [`units`] makes the fewest statements of that → [`store`] runs them, [`native`] and [`rows`] turn
//! their streams into [`columns`] → [`assemble`] gives each selection its series, histograms through
//! [`views`]. [`list`] answers the label APIs from the catalogue alone.

pub(crate) mod sql;
mod store;
mod names;
mod catalogue;
pub(crate) mod resolve;
mod units;
mod native;
mod columns;
mod rows;
mod views;
mod assemble;
mod list;
#[cfg(test)]
pub(crate) mod testing;

use std::sync::Arc;

use auth::tenant::TenantScope;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use promql::error::EvalError;
use promql::select::Selection;

use crate::budget::Budget;
use crate::config::Config;
use crate::http::reply::{ErrorType, Failure};
use crate::metrics::QueryMetrics;
use catalogue::Catalogue;
use resolve::{Resolved, resolve};
use rows::{Allowance, Slots};
use sql::Window;
use store::Store;
use units::{Table, Unit, Units};

pub(crate) use assemble::Fetched;
pub(crate) use list::Family;

/// Statements of one query that run at once.
const AT_ONCE: usize = 2;

/// Why series could not be fetched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    /// A regex that does not compile.
    #[error(transparent)]
    Selector(#[from] EvalError),
    /// Budget of samples.
    #[error("query processing would load too many samples into memory in query execution")]
    TooManySamples,
    /// Budget of series.
    #[error("the query selects more than {0} series; narrow its label matchers")]
    TooManySeries(usize),
    /// Budget of bytes.
    #[error(
        "the query reads more than {0} bytes; shorten its time range or narrow its label matchers"
    )]
    TooManyBytes(u64),
    /// Budget of time.
    #[error("query timed out in expression evaluation")]
    Timeout,
    /// ClickHouse is away or refuses.
    #[error("storage is unavailable, try again in a few seconds")]
    Store(#[source] clickhouse::error::Error),
    /// ClickHouse answers something else than was asked.
    #[error("storage gave an answer that cannot be read")]
    Answer(#[from] native::NativeError),
    /// A defect here.
    #[error("something went wrong on our side")]
    Panicked(#[source] tokio::task::JoinError),
    /// Somebody else's reading, which this query waited for, failed.
    #[error(transparent)]
    Shared(Arc<FetchError>),
}

/// What a selection means and in which window.
type Meant = (Resolved, Option<Window>);

/// Work on a part of a query.
type Pending<'a, T> = BoxFuture<'a, Result<T, FetchError>>;

/// ClickHouse's exception codes that say a limit was hit.
const OUT_OF_TIME: &str = "Code: 159.";

impl From<clickhouse::error::Error> for FetchError {
    fn from(error: clickhouse::error::Error) -> Self {
        match &error {
            clickhouse::error::Error::BadResponse(text) if text.starts_with(OUT_OF_TIME) => {
                Self::Timeout
            }
            clickhouse::error::Error::TimedOut => Self::Timeout,
            _ => Self::Store(error),
        }
    }
}

impl From<FetchError> for Failure {
    fn from(error: FetchError) -> Self {
        let mut root = &error;
        while let FetchError::Shared(inner) = root {
            root = inner;
        }
        let kind = match root {
            FetchError::Selector(_) => ErrorType::BadData,
            FetchError::TooManySamples
            | FetchError::TooManySeries(_)
            | FetchError::TooManyBytes(_) => ErrorType::Execution,
            FetchError::Timeout => ErrorType::Timeout,
            FetchError::Store(_) => ErrorType::Unavailable,
            FetchError::Answer(_) | FetchError::Panicked(_) | FetchError::Shared(_) => {
                ErrorType::Internal
            }
        };
        Self::new(kind, root.to_string()).because(error)
    }
}

/// Reads what queries need.
#[derive(Debug)]
pub(crate) struct Fetcher {
    store: Store,
    catalogue: Catalogue,
    metrics: QueryMetrics,
}

impl Fetcher {
    pub(crate) fn new(client: clickhouse::Client, config: &Config, metrics: QueryMetrics) -> Self {
        let store = Store::new(client, metrics.clone());
        let catalogue = Catalogue::new(store.clone(), &config.catalogue, metrics.clone());
        Self {
            store,
            catalogue,
            metrics,
        }
    }

    /// Reads what `selections` need. The series themselves are put together by [`Fetched::into_sets`],
    /// which is work for another thread.
    pub(crate) async fn fetch(
        &self,
        scope: &TenantScope,
        selections: &[Selection],
        budget: &Budget,
    ) -> Result<Fetched, FetchError> {
        let mut resolving: Vec<Pending<'_, Meant>> = Vec::with_capacity(selections.len());
        for selection in selections {
            resolving.push(self.resolve(scope, selection, budget).boxed());
        }
        let resolving = futures::stream::iter(resolving).buffered(AT_ONCE);
        let resolved: Vec<Meant> = resolving.try_collect().await?;
        let plan = Units::plan(&resolved);
        let allowance = Allowance::new(budget);
        let mut readings: Vec<Pending<'_, Slots>> = Vec::with_capacity(plan.units.len());
        for unit in &plan.units {
            readings.push(self.read(scope, unit, &allowance, budget).boxed());
        }
        let slots = futures::stream::iter(readings)
            .buffered(AT_ONCE)
            .try_collect()
            .await;
        let (samples, bytes) = allowance.taken();
        self.metrics.samples_read.inc_by(samples);
        self.metrics.bytes_read.inc_by(bytes);
        Ok(Fetched::new(
            resolved.into_iter().map(|(resolved, _)| resolved).collect(),
            plan,
            slots?,
        ))
    }

    async fn resolve(
        &self,
        scope: &TenantScope,
        selection: &Selection,
        budget: &Budget,
    ) -> Result<Meant, FetchError> {
        let Some(window) = Window::new(selection.start, selection.end) else {
            return Ok((Resolved::nothing(&selection.matchers)?, None));
        };
        let catalogue = &self.catalogue;
        let resolved =
            resolve(catalogue, scope, &selection.matchers, window.days(), budget).await?;
        Ok((resolved, Some(window)))
    }

    async fn read(
        &self,
        scope: &TenantScope,
        unit: &Unit,
        allowance: &Allowance,
        budget: &Budget,
    ) -> Result<Slots, FetchError> {
        let ids = unit.ids();
        let read = sql::Read {
            metrics: &unit.metrics,
            window: unit.window,
            ids: ids.as_deref(),
        };
        let query = match unit.table {
            Table::Samples => sql::samples(scope, &self.store.client, &read),
            Table::Histograms => sql::histograms(scope, &self.store.client, &read, unit.detail),
        };
        let mut stream = self.store.stream(scope, query, budget.deadline)?;
        rows::read(unit, &mut stream, allowance).await
    }
}
