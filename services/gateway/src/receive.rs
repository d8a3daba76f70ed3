//! An admitted push → its body as sent, whole, within the bounds of wire and time.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use auth::principal::Principal;
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use jiff::Timestamp;
use runtime::error::ErrorKind;

use crate::failure::Failure;
use crate::http::form::{Coding, Form};
use crate::http::wire::{WireBody, WireFault};
use crate::intake::AuthenticatedPush;
use crate::limit::{AdmittedPush, Room};

/// A push whose body is here.
#[derive(Debug)]
pub(crate) struct ReceivedPush {
    pub(crate) principal: Arc<Principal>,
    pub(crate) form: Form,
    /// The body as sent; never empty.
    pub(crate) wire: Bytes,
    pub(crate) room: Room,
    pub(crate) now: Timestamp,
}

/// Reads the body; `None` when there is none, whatever it is said to be.
///
/// It is kept as it was sent until it is this push's turn to be worked on: a few kilobytes off the wire
/// can be many megabytes.
pub(crate) async fn receive(
    admitted: AdmittedPush,
    wire_limit: u64,
    timeout: Duration,
) -> Result<Option<ReceivedPush>, Failure> {
    let AdmittedPush { push, mut room } = admitted;
    let AuthenticatedPush {
        principal,
        form,
        body,
        now,
    } = push;
    let limit = Limit {
        tenant: &principal.tenant().slug,
        plain: principal.tenant().limits.max_request_bytes,
        wire: wire_limit,
    };
    judge_head(form, &limit)?;
    if form.declared == Some(0) {
        return Ok(None);
    }
    let read = tokio::time::timeout(timeout, read(form, body, &limit, &mut room)).await;
    let wire = read.map_err(|_| {
        Failure::new(
            ErrorKind::SlowBody,
            "BODY_SLOW",
            format!(
                "the body did not arrive within {} seconds: send smaller batches",
                timeout.as_secs()
            ),
        )
    })??;
    Ok((!wire.is_empty()).then_some(ReceivedPush {
        principal,
        form,
        wire,
        room,
        now,
    }))
}

/// The bounds on one body.
struct Limit<'a> {
    tenant: &'a str,
    /// Bytes after decompression.
    plain: u64,
    /// Bytes as sent.
    wire: u64,
}

impl Limit<'_> {
    /// Refuses a body of `length` bytes as sent that is too long.
    fn judge(&self, form: Form, length: u64) -> Result<(), Failure> {
        if length > self.wire {
            return Err(self.wire_exceeded());
        }
        if form.coding == Some(Coding::Identity) && length > self.plain {
            return Err(plain_exceeded(self.tenant, self.plain));
        }
        Ok(())
    }

    fn wire_exceeded(&self) -> Failure {
        Failure::new(
            ErrorKind::TooLarge,
            "BODY_TOO_LARGE",
            format!(
                "the body is larger than {} bytes as sent, the max_wire_bytes of this gateway: send smaller batches \
                 (send_batch_max_size in a Collector's batch processor)",
                self.wire
            ),
        )
    }
}

/// A body that is larger than its tenant may send.
pub(crate) fn plain_exceeded(tenant: &str, limit: u64) -> Failure {
    Failure::new(
        ErrorKind::TooLarge,
        "BODY_TOO_LARGE",
        format!(
            "the body is larger than {limit} bytes after decompression, the max_request_bytes of tenant {tenant}: send \
             smaller batches (send_batch_max_size in a Collector's batch processor) or ask for a higher limit"
        ),
    )
}

/// Refuses what the head alone says cannot be read.
fn judge_head(form: Form, limit: &Limit<'_>) -> Result<(), Failure> {
    let Some(declared) = form.declared.filter(|length| *length > 0) else {
        return Ok(());
    };
    judge_form(form)?;
    limit.judge(form, declared)
}

/// Refuses a body that has bytes in a form that is not read here.
fn judge_form(form: Form) -> Result<(), Failure> {
    match (form.coding, form.encoding) {
        (None, _) => Err(Failure::coding()),
        (Some(Coding::Identity), None) => Err(Failure::media_type()),
        // Compressed, it may hold nothing at all.
        _ => Ok(()),
    }
}

/// Reads to the end, taking room for every byte before keeping it.
async fn read(
    form: Form,
    mut body: WireBody,
    limit: &Limit<'_>,
    room: &mut Room,
) -> Result<Bytes, Failure> {
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|fault| broken(&fault, limit))?;
        if chunk.is_empty() {
            continue;
        }
        judge_form(form)?;
        limit.judge(form, body.bytes_read())?;
        room.grow(u64::try_from(chunk.len()).unwrap_or(u64::MAX))?;
        if first.is_empty() && whole.is_empty() {
            first = chunk;
            continue;
        }
        if whole.is_empty() {
            // What is declared has been judged.
            let declared = form
                .declared
                .and_then(|length| usize::try_from(length).ok());
            whole.reserve(declared.unwrap_or_default());
            whole.extend_from_slice(&first);
            first.clear();
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(if whole.is_empty() {
        first
    } else {
        whole.freeze()
    })
}

fn broken(fault: &io::Error, limit: &Limit<'_>) -> Failure {
    let wire = fault
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<WireFault>());
    match wire {
        Some(WireFault::TooLarge) => limit.wire_exceeded(),
        Some(WireFault::BrokenOff) | None => Failure::body(
            "BODY_BROKEN_OFF",
            "the body broke off before its end: send it again",
        ),
    }
}
