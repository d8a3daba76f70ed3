//! A router and an address → a bound listener that serves until it is told to stop.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::tasks::Tasks;

/// Why a listener could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address} for {name}; is another process using the port?")]
pub struct BindError {
    name: &'static str,
    address: SocketAddr,
    source: std::io::Error,
}

/// A service that is listening.
#[derive(Debug)]
pub struct Running {
    /// The address that was bound (the real port where 0 was asked for).
    pub address: SocketAddr,
    /// Ends when the service has stopped.
    pub done: JoinHandle<()>,
}

/// Opens `address`.
///
/// # Errors
/// [`BindError`] when the address is taken or not ours.
pub async fn bind(name: &'static str, address: SocketAddr) -> Result<TcpListener, BindError> {
    TcpListener::bind(address)
        .await
        .map_err(|source| BindError {
            name,
            address,
            source,
        })
}

/// Serves `router` under `name` until `stop` is cancelled, then lets requests in flight finish for at
/// most `grace`.
///
/// # Errors
/// [`BindError`] when the address is taken or not ours.
pub async fn http(
    name: &'static str,
    address: SocketAddr,
    router: Router,
    stop: CancellationToken,
    grace: Duration,
) -> Result<Running, BindError> {
    let listener = bind(name, address).await?;
    let address = listener.local_addr().map_err(|source| BindError {
        name,
        address,
        source,
    })?;
    // The end of a streamed answer is a small packet of its own: it must not wait for an acknowledgement.
    let listener = listener.tap_io(|connection| {
        if let Err(failure) = connection.set_nodelay(true) {
            tracing::debug!("a connection keeps its delay: {failure}");
        }
    });
    let tasks = Tasks::new();
    let done = tasks.spawn(name, async move {
        let graceful = stop.clone();
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        let server = axum::serve(listener, service).with_graceful_shutdown(async move { graceful.cancelled().await });
        let late = async {
            stop.cancelled().await;
            tokio::time::sleep(grace).await;
        };
        tokio::select! {
            ended = server => if let Err(failure) = ended { tracing::error!(service = name, "stopped serving: {failure}") },
            () = late => tracing::warn!(service = name, "requests still in flight after {grace:?} were cut off"),
        }
        tracing::info!(service = name, "stopped");
    });
    tracing::info!(service = name, %address, "listening");
    Ok(Running { address, done })
}
