//! A failed INSERT → whether the same rows will be taken later.

use std::time::Duration;

use clickhouse::error::Error;
use runtime::error::{BoxError, Chain};

use crate::spool::{DeliveryFault, FaultKind};

/// Why an INSERT failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// ClickHouse is away, slow, full, or not set up: the same rows will be taken later.
    Passing,
    /// ClickHouse does not want these rows.
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

/// ClickHouse's exception codes that say nothing about the rows: they pass by themselves, or somebody has to set
/// up the server, its tables or our access. Every other code is taken for a refusal.
const PASSING: [u32; 38] = [
    16,   // NO_SUCH_COLUMN_IN_TABLE
    60,   // UNKNOWN_TABLE
    74,   // CANNOT_READ_FROM_FILE_DESCRIPTOR
    75,   // CANNOT_WRITE_TO_FILE_DESCRIPTOR
    76,   // CANNOT_OPEN_FILE
    81,   // UNKNOWN_DATABASE
    115,  // UNKNOWN_SETTING
    159,  // TIMEOUT_EXCEEDED
    164,  // READONLY
    173,  // CANNOT_ALLOCATE_MEMORY
    192,  // UNKNOWN_USER
    193,  // WRONG_PASSWORD
    194,  // REQUIRED_PASSWORD
    198,  // DNS_ERROR
    201,  // QUOTA_EXCEEDED
    202,  // TOO_MANY_SIMULTANEOUS_QUERIES
    209,  // SOCKET_TIMEOUT
    210,  // NETWORK_ERROR
    218,  // TABLE_IS_DROPPED
    225,  // NO_ZOOKEEPER
    236,  // ABORTED
    241,  // MEMORY_LIMIT_EXCEEDED
    242,  // TABLE_IS_READ_ONLY
    243,  // NOT_ENOUGH_SPACE
    252,  // TOO_MANY_PARTS
    254,  // NO_REPLICA_HAS_PART
    279,  // ALL_CONNECTION_TRIES_FAILED
    285,  // TOO_FEW_LIVE_REPLICAS
    289,  // REPLICA_IS_NOT_IN_QUORUM
    319,  // UNKNOWN_STATUS_OF_INSERT
    394,  // QUERY_WAS_CANCELLED
    425,  // SYSTEM_ERROR
    452,  // SETTING_CONSTRAINT_VIOLATION
    473,  // DEADLOCK_AVOIDED
    497,  // ACCESS_DENIED
    516,  // AUTHENTICATION_FAILED
    999,  // KEEPER_EXCEPTION
    1000, // POCO_EXCEPTION
];

impl Fault {
    pub(super) fn of(table: &'static str, error: Error) -> Self {
        let cause = match &error {
            Error::Network(_) | Error::TimedOut => Cause::Passing,
            Error::BadResponse(text) => match exception_code(text) {
                Some(code) if !PASSING.contains(&code) => Cause::Refused,
                // No code: a proxy or a server on its way up or down.
                _ => Cause::Passing,
            },
            _ => Cause::Refused,
        };
        Self {
            table,
            cause,
            source: error.into(),
        }
    }

    /// A panic while the rows were put together: these rows cause it, so they are not tried for ever.
    pub(super) fn defect(panic: tokio::task::JoinError) -> Self {
        Self {
            table: "any table",
            cause: Cause::Refused,
            source: panic.into(),
        }
    }

    /// Whatever token the rows go under, they are not there afterwards.
    pub(super) fn vanished(table: &'static str) -> Self {
        Self {
            table,
            cause: Cause::Passing,
            source: "ClickHouse takes the rows and does not have them then; is it a replica that lags behind?"
                .into(),
        }
    }

    pub(super) fn slow(limit: Duration) -> Self {
        Self {
            table: "all tables of a segment",
            cause: Cause::Passing,
            source: format!("not done after {limit:?}").into(),
        }
    }
}

/// The number in `Code: 252. DB::Exception: …`.
fn exception_code(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("Code: ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

impl From<Fault> for DeliveryFault {
    fn from(fault: Fault) -> Self {
        let kind = match fault.cause {
            Cause::Passing => FaultKind::Transient,
            Cause::Refused => FaultKind::Refused,
        };
        let message = Chain(&fault).to_string();
        Self { kind, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_something_about_the_rows_is_a_refusal() {
        let answer = |text: &str| Error::BadResponse(text.to_owned());
        for (error, kind) in [
            (Error::Network("refused".into()), FaultKind::Transient),
            (Error::TimedOut, FaultKind::Transient),
            (
                answer("Code: 252. DB::Exception: Too many parts"),
                FaultKind::Transient,
            ),
            (answer("Code: 241"), FaultKind::Transient),
            (answer("502 Bad Gateway"), FaultKind::Transient),
            (
                answer("Code: 60. DB::Exception: Table does not exist"),
                FaultKind::Transient,
            ),
            (
                answer("Code: 27. DB::Exception: Cannot parse input"),
                FaultKind::Refused,
            ),
            (
                answer("Code: 49. DB::Exception: Bad cast"),
                FaultKind::Refused,
            ),
            (Error::NotEnoughData, FaultKind::Refused),
        ] {
            let fault = DeliveryFault::from(Fault::of("samples", error));
            assert_eq!(fault.kind, kind, "{fault:?}");
            assert!(
                fault.message.starts_with("cannot insert into samples"),
                "{fault}"
            );
        }
        let slow = DeliveryFault::from(Fault::slow(Duration::from_secs(9)));
        assert_eq!(
            (slow.kind, slow.message.contains("9s")),
            (FaultKind::Transient, true)
        );
    }
}
