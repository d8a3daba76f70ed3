//! A push through all stages: known sender → room → body → messages → rows → durable.

use std::net::IpAddr;
use std::sync::Arc;

use auth::principal::Principal;
use bumpalo::Bump;
use bytes::Bytes;
use http::HeaderMap;
use jiff::Timestamp;
use runtime::error::ErrorKind;

use crate::app::App;
use crate::decode::{DecodeError, Encoding};
use crate::failure::Failure;
use crate::http::exchange::Facts;
use crate::http::wire::WireBody;
use crate::inflate::inflate;
use crate::intake::intake;
use crate::known::Known;
use crate::receive::{ReceivedPush, receive};
use crate::store::{EncodedPush, SpoolReceipt, store};
use crate::translate::{Context, TranslatedBatch, translate};

/// Bodies above this size, as sent, are worked on off the threads that serve connections.
const LARGE: usize = 128 << 10;

/// Takes a push in; what its sender is told beside "yes".
///
/// From a whole body on, the work goes on even if the client goes away: a push is never cut in half.
pub(crate) async fn push(
    app: &App,
    headers: &HeaderMap,
    body: WireBody,
    peer: IpAddr,
    facts: &mut Facts,
) -> Result<Option<(i64, String)>, Failure> {
    let authenticated = intake(app, headers, body, peer, facts).await?;
    let admitted = app.ledger.admit(authenticated)?;
    let Some(received) = receive(admitted, app.max_wire_bytes, app.body_timeout).await? else {
        return Ok(None);
    };
    facts.wire(length_of(&received.wire));
    let (done, outcome) = tokio::sync::oneshot::channel();
    let own = app.clone();
    drop(app.tasks.spawn("push", async move {
        // Nobody listens any more when the client went away; the push is stored all the same.
        drop(done.send(work(&own, received).await));
    }));
    let done = outcome
        .await
        .map_err(|_| Failure::defect().because("storing a push panicked"))??;
    let Some(Done { receipt, plain }) = done else {
        return Ok(None);
    };
    facts.plain(plain);
    facts.tally(receipt.tally());
    Ok(receipt.tally().partial_success())
}

/// A push that is durable.
struct Done {
    receipt: SpoolReceipt,
    /// Length of the body after decompression.
    plain: u64,
}

/// The stages that need no connection; `None` when the body turns out to hold nothing.
async fn work(app: &App, received: ReceivedPush) -> Result<Option<Done>, Failure> {
    let tenant = received.principal.tenant().id.clone();
    let wire = length_of(&received.wire);
    let turn = app.turns.take(&tenant, wire).await;
    let encoded = if received.wire.len() > LARGE {
        let known = Arc::clone(&app.known);
        let blocking = tokio::task::spawn_blocking(move || encoded(received, &known)).await;
        blocking.map_err(|cause| Failure::defect().because(cause))??
    } else {
        encoded(received, &app.known)?
    };
    drop(turn);
    let Some((push, plain)) = encoded else {
        return Ok(None);
    };
    app.gauges.body(wire, plain);
    let receipt = store(app, push).await?;
    Ok(Some(Done { receipt, plain }))
}

/// A push as the spool keeps it, and the length of its body after decompression.
type Encoded = (EncodedPush, u64);

/// The stages that need a processor and nothing else.
fn encoded(mut received: ReceivedPush, known: &Known) -> Result<Option<Encoded>, Failure> {
    let body = inflate(&mut received)?;
    let ReceivedPush {
        principal,
        form,
        room,
        now,
        wire: _,
    } = received;
    let Some(encoding) = form.encoding.filter(|_| !body.is_empty()) else {
        return Ok(None);
    };
    let plain = length_of(&body);
    let translated = translated(&principal, encoding, &body, now, known)?;
    Ok(Some((EncodedPush::of(translated, room)?, plain)))
}

/// Decodes and translates a body.
fn translated(
    principal: &Principal,
    encoding: Encoding,
    plain: &[u8],
    now: Timestamp,
    known: &Known,
) -> Result<TranslatedBatch, Failure> {
    let limits = &principal.tenant().limits;
    let room = limits
        .max_request_bytes
        .saturating_mul(crate::decode::ROOM_PER_BYTE);
    // Messages borrow from the body and the arena; none of them outlives the rows that are made of it.
    let arena = Bump::with_capacity(plain.len());
    let decoded = crate::decode::metrics(encoding, plain, room, &arena).map_err(undecodable)?;
    let context = Context {
        tenant: principal.tenant(),
        translation: principal.translation(),
        now_ms: now.as_millisecond(),
    };
    let mut batch = translate(&decoded.request, &context, known);
    if let Some(warning) = decoded.warning {
        batch.tally.note(warning);
    }
    Ok(batch)
}

fn length_of(bytes: &Bytes) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn undecodable(error: DecodeError) -> Failure {
    if error.too_large {
        return Failure::new(ErrorKind::TooLarge, "BODY_TOO_LARGE", error.message);
    }
    let mut failure = Failure::body("BODY_UNDECODABLE", error.message);
    failure.field = error.field.unwrap_or_default();
    failure
}
