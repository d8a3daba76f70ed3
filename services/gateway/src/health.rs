//! Room in the spool → whether the gateway is ready.

use std::time::Duration;

use bytesize::ByteSize;
use runtime::admin::Readiness;
use tokio_util::sync::CancellationToken;

use crate::spool::{Spool, Waiting};

/// The gateway's line in `/readyz`.
const PART: &str = "gateway";
/// Time between looks.
const PAUSE: Duration = Duration::from_millis(500);

/// Looks at the spool again and again and keeps `readiness` up to date, until `stop`.
///
/// ClickHouse may be away: pushes are taken and acknowledged as long as there is room for them.
pub(crate) async fn watch(spool: Spool, readiness: Readiness, stop: CancellationToken) {
    let mut late = false;
    loop {
        let waiting = spool.waiting();
        let full = waiting.nearly_full();
        // Changes are logged, not every look.
        if full != late {
            late = full;
            if full {
                tracing::warn!("not ready: {}", told(&waiting));
            } else {
                tracing::info!("ready again: the spool has room");
            }
        }
        if full {
            readiness.waiting(PART, told(&waiting));
        } else {
            readiness.ready(PART);
        }
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
    readiness.waiting(PART, "stopping");
}

fn told(waiting: &Waiting) -> String {
    let why = if waiting.refusing {
        "the spool takes nothing"
    } else {
        "the spool is nearly full"
    };
    let (bytes, most) = (ByteSize::b(waiting.bytes), ByteSize::b(waiting.max_bytes));
    format!("{why}: {bytes} of {most} are used")
}
