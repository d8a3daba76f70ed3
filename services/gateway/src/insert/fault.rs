//! A failed INSERT → whether the sender should wait for the network, for ClickHouse, or for us.

use std::time::Duration;

use clickhouse::error::Error;
use runtime::error::{BoxError, ErrorKind};

use crate::failure::{Failure, soon};

/// Why an INSERT failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// No connection, or it broke.
    Unreachable,
    /// It took too long.
    Slow,
    /// ClickHouse has no room: memory, parts, statements, disk.
    Overloaded,
    /// ClickHouse does not want these rows: a defect here or a schema that does not fit.
    Refused,
}

/// A failed INSERT.
#[derive(Debug, thiserror::Error)]
#[error("cannot insert into {table}")]
pub(crate) struct Fault {
    table: &'static str,
    pub(crate) cause: Cause,
    source: BoxError,
}

/// ClickHouse's exception codes that pass by themselves.
const PASSING: [u32; 12] = [
    159, // TIMEOUT_EXCEEDED
    164, // READONLY
    201, // QUOTA_EXCEEDED
    202, // TOO_MANY_SIMULTANEOUS_QUERIES
    209, // SOCKET_TIMEOUT
    210, // NETWORK_ERROR
    236, // ABORTED
    241, // MEMORY_LIMIT_EXCEEDED
    242, // TABLE_IS_READ_ONLY
    243, // NOT_ENOUGH_SPACE
    252, // TOO_MANY_PARTS
    319, // UNKNOWN_STATUS_OF_INSERT
];

impl Fault {
    pub(super) fn of(table: &'static str, error: Error) -> Self {
        let cause = match &error {
            Error::Network(_) => Cause::Unreachable,
            Error::TimedOut => Cause::Slow,
            Error::BadResponse(text) => match exception_code(text) {
                Some(code) if !PASSING.contains(&code) => Cause::Refused,
                // No code: a proxy or a server on its way up or down.
                _ => Cause::Overloaded,
            },
            _ => Cause::Refused,
        };
        Self {
            table,
            cause,
            source: error.into(),
        }
    }

    pub(super) fn slow(limit: Duration) -> Self {
        Self {
            table: "all tables of a push",
            cause: Cause::Slow,
            source: format!("not done after {limit:?}").into(),
        }
    }

    pub(super) const fn label(&self) -> &'static str {
        match self.cause {
            Cause::Unreachable => "unreachable",
            Cause::Slow => "slow",
            Cause::Overloaded => "overloaded",
            Cause::Refused => "refused",
        }
    }
}

/// The number in `Code: 252. DB::Exception: …`.
fn exception_code(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("Code: ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

impl From<Fault> for Failure {
    /// Always 503: whatever is wrong with the storage, the sender's data is not, so it should be kept
    /// and sent again.
    fn from(fault: Fault) -> Self {
        let (kind, reason) = match fault.cause {
            Cause::Unreachable => (ErrorKind::Unavailable, "STORAGE_UNAVAILABLE"),
            Cause::Slow => (ErrorKind::Timeout, "STORAGE_SLOW"),
            Cause::Overloaded => (ErrorKind::Overloaded, "STORAGE_BUSY"),
            Cause::Refused => (ErrorKind::Unavailable, "STORAGE_REFUSED"),
        };
        let public = "the storage does not take data right now; nothing was acknowledged: send the same data again";
        Self::later(kind, reason, public, soon()).because(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_asks_the_sender_to_try_again() {
        for (error, cause) in [
            (Error::Network("refused".into()), Cause::Unreachable),
            (Error::TimedOut, Cause::Slow),
            (
                Error::BadResponse("Code: 252. DB::Exception: Too many parts".into()),
                Cause::Overloaded,
            ),
            (Error::BadResponse("Code: 241".into()), Cause::Overloaded),
            (
                Error::BadResponse("502 Bad Gateway".into()),
                Cause::Overloaded,
            ),
            (
                Error::BadResponse("Code: 60. DB::Exception: Table does not exist".into()),
                Cause::Refused,
            ),
            (
                Error::BadResponse("Code: 27. DB::Exception: Cannot parse input".into()),
                Cause::Refused,
            ),
            (Error::NotEnoughData, Cause::Refused),
        ] {
            let fault = Fault::of("samples", error);
            assert_eq!(fault.cause, cause, "{fault:?}");
            let failure = Failure::from(fault);
            assert_eq!(failure.error.kind.status(), 503);
            assert!((5..=15).contains(&failure.error.retry_after.unwrap().as_secs()));
            assert!(
                !failure.error.public.contains("samples"),
                "internals stay inside"
            );
        }
    }
}
