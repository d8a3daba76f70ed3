//! The Prometheus HTTP API over ClickHouse: requests become answers.
//!
//! The path of a query: `http` knows who asks and reads the parameters → `plan` parses them into an
//! expression and what it selects → `budget` gives it a turn → `fetch` reads the selected series →
//! `execute` evaluates them (`promql`) → `http` writes Prometheus' JSON.

mod config;
mod app;
mod http;
mod plan;
mod budget;
mod fetch;
mod execute;
mod metrics;

use std::sync::Arc;

use auth::directory::KeyDirectory;
use auth::extract::HeaderNames;
use runtime::admin::Readiness;
use runtime::metrics::Metrics;
use runtime::serve::{BindError, Running};
use runtime::tasks::Tasks;
use tokio_util::sync::CancellationToken;

pub use config::{Catalogue, Concurrency, Config};

/// What the process hands to the query service.
#[derive(Debug)]
pub struct Parts {
    /// Knows tenants and keys.
    pub directory: Arc<dyn KeyDirectory>,
    /// Which headers may carry a credential.
    pub headers: HeaderNames,
    /// ClickHouse, with the database that holds the tables.
    pub store: Store,
    /// Where the service adds its metrics.
    pub metrics: Metrics,
    /// Where the service says whether it is ready.
    pub readiness: Readiness,
}

/// A ClickHouse client (which cannot be printed, since it may hold a password).
pub struct Store(pub clickhouse::Client);

impl std::fmt::Debug for Store {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Store")
    }
}

/// Why the service could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is taken.
    #[error(transparent)]
    Bind(#[from] BindError),
}

/// Serves the API on `config.listen` until `stop`, then lets queries in flight finish for
/// `config.shutdown_grace`.
///
/// # Errors
/// [`StartError`] when the address is taken or not ours.
pub async fn run(
    config: Config,
    parts: Parts,
    stop: CancellationToken,
) -> Result<Running, StartError> {
    let (listen, grace) = (config.listen, config.shutdown_grace);
    let Parts {
        directory,
        headers,
        store,
        metrics,
        readiness,
    } = parts;
    let metrics = metrics::QueryMetrics::register(&metrics);
    let fetcher = fetch::Fetcher::new(store.0, &config, metrics.clone());
    let app = app::App {
        directory,
        headers: Arc::new(headers),
        gate: Arc::new(budget::Gate::new(config.concurrency.clone())),
        fetcher: Arc::new(fetcher),
        config: Arc::new(config),
        metrics,
        started: jiff::Timestamp::now(),
    };
    let router = http::router(app);
    let running = runtime::serve::http("query", listen, router, stop.clone(), grace).await?;
    readiness.ready("query");
    drop(Tasks::new().spawn("query-readiness", async move {
        stop.cancelled().await;
        readiness.waiting("query", "stopping");
    }));
    Ok(running)
}
