//! Signals → one token that everything stops by.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::tasks::Tasks;

/// A token that is cancelled by the first SIGTERM, SIGINT or Ctrl-C. A second signal ends the process
/// at once with status 130: what was acknowledged is on disk or in ClickHouse already.
///
/// # Errors
/// When the operating system refuses a signal handler.
pub fn on_signals(tasks: &Tasks) -> std::io::Result<CancellationToken> {
    let token = CancellationToken::new();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let cancel = token.clone();
    drop(tasks.spawn("signals", async move {
        tokio::select! {
            _ = terminate.recv() => tracing::info!("SIGTERM: finishing what was accepted, then stopping"),
            _ = interrupt.recv() => tracing::info!("interrupt: finishing what was accepted, then stopping"),
            () = cancel.cancelled() => return,
        }
        cancel.cancel();
    }));
    Ok(token)
}

/// Resolves when a further SIGTERM or interrupt arrives: the caller stops waiting.
pub async fn second_signal() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
}
