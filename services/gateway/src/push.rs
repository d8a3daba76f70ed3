//! A push through all stages: known sender → room → body → messages → rows → stored.

use std::net::IpAddr;
use std::sync::Arc;

use auth::principal::Principal;
use http::HeaderMap;
use jiff::Timestamp;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use runtime::error::ErrorKind;

use crate::app::App;
use crate::decode::{self, DecodeError, Encoding};
use crate::failure::Failure;
use crate::http::exchange::Facts;
use crate::http::wire::WireBody;
use crate::inflate::{ReadPush, inflate};
use crate::insert::Receipt;
use crate::intake::intake;
use crate::translate::{Context, TranslatedBatch, translate};

/// Bodies above this size are decoded off the threads that serve connections.
const LARGE: usize = 1 << 20;

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
    let Some(read) = inflate(admitted, app.max_wire_bytes, app.body_timeout).await? else {
        return Ok(None);
    };
    let plain = u64::try_from(read.plain.len()).unwrap_or(u64::MAX);
    facts.body(read.wire, plain);
    app.gauges.body(read.wire, plain);

    let (done, outcome) = tokio::sync::oneshot::channel();
    let own = app.clone();
    drop(app.tasks.spawn("push", async move {
        // Nobody listens any more when the client went away; the rows are stored all the same.
        drop(done.send(store(&own, read).await));
    }));
    let receipt = outcome
        .await
        .map_err(|_| Failure::defect().because("storing a push panicked"))??;
    facts.tally(receipt.tally());
    Ok(receipt.tally().partial_success())
}

/// The stages that need no connection.
async fn store(app: &App, read: ReadPush) -> Result<Receipt, Failure> {
    let ReadPush {
        principal,
        encoding,
        plain,
        wire: _,
        room,
        now,
    } = read;
    let batch = if plain.len() > LARGE {
        let work = move || rows(principal, encoding, plain, now);
        let blocking = tokio::task::spawn_blocking(work).await;
        blocking.map_err(|cause| Failure::defect().because(cause))??
    } else {
        rows(principal, encoding, plain, now)?
    };
    let receipt = app.store.insert(batch).await?;
    app.gauges.points(receipt.tally());
    // Taken until the rows are stored.
    drop(room);
    Ok(receipt)
}

fn rows(
    principal: Arc<Principal>,
    encoding: Encoding,
    plain: Vec<u8>,
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

fn undecodable(error: DecodeError) -> Failure {
    if error.too_large {
        return Failure::new(ErrorKind::TooLarge, "BODY_TOO_LARGE", error.message);
    }
    let mut failure = Failure::body("BODY_UNDECODABLE", error.message);
    failure.field = error.field.unwrap_or_default();
    failure
}
