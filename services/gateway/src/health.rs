//! Whether ClickHouse answers → whether the gateway is ready.

use std::time::Duration;

use clickhouse::Client;
use runtime::admin::Readiness;
use tokio_util::sync::CancellationToken;

/// The gateway's line in `/readyz`.
const PART: &str = "gateway";
/// How long ClickHouse may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// Time between questions while all is well.
const CALM: Duration = Duration::from_secs(5);
/// Time before the first question after a failure; doubles up to [`CALM`].
const HASTE: Duration = Duration::from_millis(100);

/// Says that nothing is known yet.
pub(crate) fn begin(readiness: &Readiness) {
    readiness.waiting(PART, "ClickHouse has not answered yet");
}

/// Asks ClickHouse again and again and keeps `readiness` up to date, until `stop`.
pub(crate) async fn watch(store: Client, readiness: Readiness, stop: CancellationToken) {
    let mut pause = HASTE;
    let mut well = None;
    loop {
        let answer = tokio::time::timeout(PATIENCE, schemas::connect::ping(&store)).await;
        let fault = match answer {
            Ok(Ok(())) => None,
            Ok(Err(fault)) => Some(fault.to_string()),
            Err(_) => Some(format!("no answer within {PATIENCE:?}")),
        };
        pause = match &fault {
            None => CALM,
            Some(_) => {
                if well == Some(true) {
                    HASTE
                } else {
                    (pause * 2).min(CALM)
                }
            }
        };
        // Changes are logged, not every failed attempt.
        if well != Some(fault.is_none()) {
            well = Some(fault.is_none());
            match &fault {
                None => tracing::info!("ClickHouse answers"),
                Some(fault) => tracing::warn!("ClickHouse does not answer: {fault}"),
            }
        }
        match fault {
            None => readiness.ready(PART),
            Some(fault) => readiness.waiting(PART, format!("ClickHouse does not answer: {fault}")),
        }
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(pause) => {}
        }
    }
    readiness.waiting(PART, "stopping");
}
