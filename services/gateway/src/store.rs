//! A translated push → a record in the spool, durable before its sender is told so.

use std::time::Duration;

use bytes::Bytes;
use runtime::error::ErrorKind;

use crate::app::App;
use crate::failure::{Failure, soon};
use crate::limit::Room;
use crate::outcome::Tally;
use crate::spool::SpoolError;
use crate::translate::{Fingerprint, TranslatedBatch};

/// How long a sender waits while the gateway stops: another one is there by then.
const STOPPING: Duration = Duration::from_secs(2);

/// A push as the spool keeps it.
#[derive(Debug)]
pub(crate) struct EncodedPush {
    /// `None` when there is nothing to keep.
    record: Option<Bytes>,
    fresh: Vec<Fingerprint>,
    tally: Tally,
    /// Taken until the record is durable.
    room: Room,
}

impl EncodedPush {
    /// Encodes a batch.
    pub(crate) fn of(translated: TranslatedBatch, room: Room) -> Result<Self, Failure> {
        let TranslatedBatch {
            batch,
            fresh,
            tally,
        } = translated;
        let record = if batch.is_empty() {
            None
        } else {
            let encoded = batch.encode();
            Some(encoded.map_err(|defect| Failure::defect().because(defect))?)
        };
        Ok(Self {
            record,
            fresh,
            tally,
            room,
        })
    }
}

/// Proof that every accepted point of a push is durable.
#[derive(Debug)]
pub(crate) struct SpoolReceipt(Tally);

impl SpoolReceipt {
    /// What became of the push's points.
    pub(crate) fn tally(&self) -> &Tally {
        &self.0
    }
}

/// Makes a push durable. After an error nothing of it is acknowledged, and its sender should send it again.
pub(crate) async fn store(app: &App, push: EncodedPush) -> Result<SpoolReceipt, Failure> {
    if let Some(record) = push.record {
        app.spool.append(record).await?;
    }
    app.known.remember(push.fresh);
    app.gauges.points(&push.tally);
    drop(push.room);
    Ok(SpoolReceipt(push.tally))
}

impl From<SpoolError> for Failure {
    /// 503 for whatever passes: the sender's data is good, so it should be kept and sent again.
    fn from(error: SpoolError) -> Self {
        let again = "nothing of this push was kept: send the same data again";
        let (kind, reason, wait) = match &error {
            SpoolError::TooLarge { limit, .. } => {
                let public = format!(
                    "the push makes more than {limit} bytes of rows, the gateway.spool.max_record_bytes of this gateway: \
                     send smaller batches (send_batch_max_size in a Collector's batch processor)"
                );
                return Self::new(ErrorKind::TooLarge, "ROWS_TOO_LARGE", public).because(error);
            }
            SpoolError::Full { .. } | SpoolError::DiskLow { .. } => {
                (ErrorKind::Overloaded, "SPOOL_FULL", soon())
            }
            SpoolError::Disk { .. } => (ErrorKind::Unavailable, "SPOOL_FAILED", soon()),
            SpoolError::Closed => (ErrorKind::Overloaded, "STOPPING", STOPPING),
        };
        Self::later(
            kind,
            reason,
            format!("the gateway cannot store data right now; {again}"),
            wait,
        )
        .because(error)
    }
}
