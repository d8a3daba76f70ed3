//! A push through all stages: known sender → room → body → messages → rows → stored.

use std::net::IpAddr;
use std::sync::Arc;

use auth::principal::Principal;
use bytes::Bytes;
use http::HeaderMap;
use jiff::Timestamp;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use runtime::error::ErrorKind;

use crate::app::App;
use crate::decode::{self, DecodeError, Encoding};
use crate::failure::Failure;
use crate::http::exchange::Facts;
use crate::http::wire::WireBody;
use crate::inflate::inflate;
use crate::insert::Receipt;
use crate::intake::intake;
use crate::limit::Room;
use crate::receive::{ReceivedPush, receive};
use crate::translate::{Context, TranslatedBatch, translate};

/// Bodies above this size, as sent, are worked on off the threads that serve connections.
const LARGE: usize = 128 << 10;

/// A push that is valid OTLP.
#[derive(Debug)]
struct DecodedPush {
    principal: Arc<Principal>,
    request: ExportMetricsServiceRequest,
    warning: Option<String>,
    now: Timestamp,
}

/// Takes a push in; what its sender is told beside "yes".
///
/// From a whole body on, the work goes on even if the client goes away: an insert is never cut in half.
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
        // Nobody listens any more when the client went away; the rows are stored all the same.
        drop(done.send(work(&own, received).await));
    }));
    let receipt = outcome
        .await
        .map_err(|_| Failure::defect().because("storing a push panicked"))??;
    let Some(Stored { receipt, plain }) = receipt else {
        return Ok(None);
    };
    facts.plain(plain);
    facts.tally(receipt.tally());
    Ok(receipt.tally().partial_success())
}

/// A push that is done.
struct Stored {
    receipt: Receipt,
    /// Length of the body after decompression.
    plain: u64,
}

/// The stages that need no connection; `None` when the body turns out to hold nothing.
async fn work(app: &App, received: ReceivedPush) -> Result<Option<Stored>, Failure> {
    let (tenant, wire) = (
        received.principal.tenant().id.clone(),
        length_of(&received.wire),
    );
    let turn = app.turns.take(&tenant, wire).await;
    let large = received.wire.len() > LARGE;
    let translated = if large {
        let blocking = tokio::task::spawn_blocking(move || translated(received)).await;
        blocking.map_err(|cause| Failure::defect().because(cause))??
    } else {
        translated(received)?
    };
    drop(turn);
    let Some(Translated { batch, plain, room }) = translated else {
        return Ok(None);
    };
    app.gauges.body(wire, plain);
    let receipt = app.store.insert(batch).await?;
    app.gauges.points(receipt.tally());
    // Taken until the rows are stored.
    drop(room);
    Ok(Some(Stored { receipt, plain }))
}

/// The rows of a push, with the room that it takes.
struct Translated {
    batch: TranslatedBatch,
    /// Length of the body after decompression.
    plain: u64,
    room: Room,
}

/// The stages that need a processor and nothing else.
fn translated(mut received: ReceivedPush) -> Result<Option<Translated>, Failure> {
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
    let batch = rows(principal, encoding, body, now)?;
    Ok(Some(Translated { batch, plain, room }))
}

fn rows(
    principal: Arc<Principal>,
    encoding: Encoding,
    plain: Bytes,
    now: Timestamp,
) -> Result<TranslatedBatch, Failure> {
    let limits = &principal.tenant().limits;
    let room = limits
        .max_request_bytes
        .saturating_mul(decode::ROOM_PER_BYTE);
    let decoded = decode::metrics(encoding, &plain, room).map_err(undecodable)?;
    // Body and messages together would be twice the memory that was admitted.
    drop(plain);
    let push = DecodedPush {
        principal,
        request: decoded.request,
        warning: decoded.warning,
        now,
    };
    Ok(push.translate())
}

impl DecodedPush {
    fn translate(self) -> TranslatedBatch {
        let context = Context {
            tenant: self.principal.tenant(),
            translation: self.principal.translation(),
            now_ms: self.now.as_millisecond(),
        };
        let mut batch = translate(self.request, &context);
        if let Some(warning) = self.warning {
            batch.tally.note(warning);
        }
        batch
    }
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
