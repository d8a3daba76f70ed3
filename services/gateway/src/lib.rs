//! OTLP in, ClickHouse rows out: the gateway's stages, in the order data passes them.
//!
//! A request's path: `http` finds its route → `intake` asks [`auth`] who sends it and whether that
//! sender may push (`AuthenticatedPush`) → `limit` finds room for it (`AdmittedPush`) → `receive`
//! reads the body within its bounds (`ReceivedPush`), of which not a byte was read before → `turns` lets it
//! have a processor when its tenant's turn comes → `inflate` decompresses it → [`decode`] makes OTLP messages
//! that borrow from it → [`translate`] makes rows of those ([`translate::TranslatedBatch`]) → `store` makes them durable in the [`spool`] (`SpoolReceipt`) → `http` answers.
//! Beside all requests `deliver` takes what the spool has sealed to ClickHouse. `push`
//! walks through the stages; each consumes the value of the one before, so none can be left out.
//!
//! [`outcome`] counts every point on the way: accepted, or rejected with a reason that the sender is told.
//! A 2xx means that every accepted point is durable.

use std::sync::Arc;

use auth::directory::KeyDirectory;
use runtime::admin::Readiness;
use runtime::metrics::Metrics;
use runtime::serve::{self, BindError, Running};
use runtime::tasks::Tasks;
use tokio_util::sync::CancellationToken;

use spool::Spool;

mod config;
mod app;
mod http;
mod intake;
mod limit;
mod receive;
mod turns;
mod inflate;
pub mod decode;
pub mod translate;
pub mod batch;
pub mod known;
mod store;
pub mod spool;
mod deliver;
mod push;
pub mod outcome;
mod failure;
mod metrics;
mod health;

pub use config::{Config, InFlight, Unusable};

/// What the gateway works with.
pub struct Parts {
    /// Knows tenants and keys.
    pub directory: Arc<dyn KeyDirectory>,
    /// The database that holds the tables of `schemas`; it may be away.
    pub store: clickhouse::Client,
    /// Where the gateway's metrics are shown.
    pub metrics: Metrics,
    /// Where the gateway says whether it is ready.
    pub readiness: Readiness,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Parts")
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// Why the gateway could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its port is taken.
    #[error("cannot start the gateway")]
    Bind(#[from] BindError),
    /// Its spool cannot be used.
    #[error("cannot open the gateway's spool")]
    Spool(#[from] spool::OpenError),
}

/// Serves OTLP/HTTP until `stop` is cancelled. Then no new requests are taken, pushes in work have
/// `shutdown_grace` to be stored and answered, and what is in the spool has as long again to reach
/// ClickHouse; the rest stays on disk. [`Running::done`] ends after that.
///
/// # Errors
/// [`StartError`] when port or spool cannot be opened. ClickHouse need not be there.
pub async fn run(
    config: Config,
    parts: Parts,
    stop: CancellationToken,
) -> Result<Running, StartError> {
    let Parts {
        directory,
        store,
        metrics,
        readiness,
    } = parts;
    let (listen, grace) = (config.listen, config.shutdown_grace);
    let (spool, delivery) = Spool::open(&config.spool, &metrics).await?;
    let tables = deliver::Tables::new(store, config.insert_timeout);
    let work = Tasks::new();
    let gauges = metrics::Gauges::register(&metrics);
    let app = app::App::build(config, directory, spool.clone(), gauges, work.clone());
    let known = Arc::clone(&app.known);
    let served = serve::http("gateway", listen, http::router(app), stop.clone(), grace).await?;
    let own = Tasks::new();
    drop(own.spawn(
        "gateway-health",
        health::watch(spool.clone(), readiness, stop),
    ));
    drop(own.spawn(
        "delivery",
        delivery.run(deliver::Delivering::new(tables, known)),
    ));
    let address = served.address;
    let done = own.spawn("gateway-stop", async move {
        if let Err(failure) = served.done.await {
            tracing::error!("the gateway's server ended badly: {failure}");
        }
        // Pushes whose clients are gone are not among the requests in flight.
        let late = work.finish(grace).await;
        if late > 0 {
            tracing::warn!("{late} pushes were not stored within {grace:?} and not acknowledged");
        }
        let left = spool.close(grace, &CancellationToken::new()).await;
        if left.segments > 0 {
            let spool::Left { segments, bytes } = left;
            tracing::warn!("{segments} segments ({bytes} bytes) wait on disk for the next start");
        }
    });
    Ok(Running { address, done })
}
