//! What stores the records of a segment, as the spool sees it.

use std::future::Future;

use bytes::Bytes;

/// Stores the records of a segment.
pub trait Deliver: Send + Sync {
    /// Stores all of `records`, in an order of its own choice. `token` is the same whenever a segment is
    /// delivered again, with the same records: what was stored of it before has to be recognised by it.
    ///
    /// The future may be dropped at any await: the segment then comes again after the next start.
    fn deliver(
        &self,
        token: &str,
        records: Vec<Bytes>,
    ) -> impl Future<Output = Result<(), DeliveryFault>> + Send;
}

/// Why a segment is not stored.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct DeliveryFault {
    /// Whether to try again or give up at some time.
    pub kind: FaultKind,
    /// What went wrong, with its causes, for the log and for the operator.
    pub message: String,
}

/// Whether a fault passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It passes by itself: tried for ever.
    Transient,
    /// These rows are not taken: tried `poison_tries` times.
    Refused,
}
