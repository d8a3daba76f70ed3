//! Turns OTLP timestamps into milliseconds and holds them against the tenant's window.

use std::time::Duration;

use super::reject::Reason;
use super::{Context, Refusal};

const NANOS_PER_MILLI: u64 = 1_000_000;

/// The times between which a point is taken, milliseconds since the epoch, both included.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    oldest: i64,
    newest: i64,
}

impl Window {
    pub(super) fn of(context: &Context<'_>) -> Self {
        let limits = &context.tenant.limits;
        Self {
            oldest: context.now_ms.saturating_sub(millis(limits.max_past)),
            newest: context.now_ms.saturating_add(millis(limits.max_future)),
        }
    }

    /// The time of a point, milliseconds since the epoch.
    pub(super) fn admit(&self, time_unix_nano: u64) -> Result<i64, Refusal> {
        if time_unix_nano == 0 {
            return Err(Refusal::new(
                Reason::TimestampZero,
                "timeUnixNano is 0 or missing",
            ));
        }
        let ts = to_millis(time_unix_nano);
        if ts < self.oldest {
            let late = self.oldest - ts;
            return Err(Refusal::new(
                Reason::TooOld,
                format!(
                    "timeUnixNano {time_unix_nano} is {late} ms before the oldest accepted time"
                ),
            ));
        }
        if ts > self.newest {
            let early = ts - self.newest;
            return Err(Refusal::new(
                Reason::TooFarInFuture,
                format!(
                    "timeUnixNano {time_unix_nano} is {early} ms after the latest accepted time"
                ),
            ));
        }
        Ok(ts)
    }
}

/// When a cumulative point started, milliseconds since the epoch; 0 when it does not say or claims a
/// time after the point itself.
pub(super) fn start_of(start_time_unix_nano: u64, ts: i64) -> i64 {
    let start = to_millis(start_time_unix_nano);
    if start > ts { 0 } else { start }
}

fn to_millis(nanos: u64) -> i64 {
    i64::try_from(nanos / NANOS_PER_MILLI).unwrap_or(i64::MAX)
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
