//! One request from its head to its answer: what the log line and the counters say about it.

use std::time::Instant;

use auth::key::KeyId;
use auth::principal::Caller;
use auth::tenant::TenantId;
use axum::extract::Request;
use http::{HeaderMap, HeaderValue, header};
use runtime::error::{Chain, ErrorKind};

use super::form::Form;
use crate::decode::Encoding;
use crate::failure::Failure;
use crate::metrics::Gauges;
use crate::outcome::{Tally, excerpt};

/// The header that names a request.
pub(crate) const REQUEST_ID: &str = "x-request-id";
/// Longest request id that is taken over from a client.
const MAX_REQUEST_ID: usize = 128;

/// What became known about a push on its way.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    tenant: Option<TenantId>,
    kid: Option<KeyId>,
    tolerated: Vec<&'static str>,
    wire: u64,
    plain: u64,
    points: u64,
    rejected: u64,
}

impl Facts {
    /// Who sent it.
    pub(crate) fn caller(&mut self, caller: &Caller) {
        self.tenant = Some(caller.principal.tenant().id.clone());
        self.kid = Some(caller.principal.key().kid.clone());
        self.tolerated = caller.tolerated.iter().map(|odd| odd.code()).collect();
    }

    /// How large it was as sent.
    pub(crate) fn wire(&mut self, bytes: u64) {
        self.wire = bytes;
    }

    /// How large it was after decompression.
    pub(crate) fn plain(&mut self, bytes: u64) {
        self.plain = bytes;
    }

    /// What became of its points.
    pub(crate) fn tally(&mut self, tally: &Tally) {
        (self.points, self.rejected) = (tally.received(), tally.rejected());
    }
}

/// A request in work. Dropped without [`Exchange::close`], its client went away.
#[derive(Debug)]
pub(crate) struct Exchange {
    started: Instant,
    /// The client's own id of the request, or a new one.
    pub(crate) request_id: String,
    /// The encoding of the answer.
    pub(crate) encoding: Encoding,
    /// The web page that asks.
    pub(crate) origin: Option<HeaderValue>,
    user_agent: String,
    path: String,
    gauges: Gauges,
    /// What became known on the way.
    pub(crate) facts: Facts,
    open: bool,
}

impl Exchange {
    /// Notes the head of `request`.
    pub(crate) fn open(request: &Request, gauges: Gauges) -> Self {
        let headers = request.headers();
        let text = |name| {
            headers
                .get(name)
                .map(|value| String::from_utf8_lossy(value.as_bytes()))
        };
        Self {
            started: Instant::now(),
            request_id: request_id(headers),
            encoding: Form::of(headers).encoding.unwrap_or(Encoding::Json),
            origin: headers.get(header::ORIGIN).cloned(),
            user_agent: excerpt(&text(header::USER_AGENT).unwrap_or_default()),
            path: excerpt(request.uri().path()),
            gauges,
            facts: Facts::default(),
            open: true,
        }
    }

    /// Counts and logs the end: once, here.
    pub(crate) fn close(mut self, status: u16, failure: Option<&Failure>) {
        self.open = false;
        let kind = failure.map_or("ok", |failure| failure.error.kind.label());
        self.gauges
            .request(status, kind, self.started.elapsed().as_secs_f64());
        let Some(failure) = failure else {
            return self.log_success(status);
        };
        if status < 500 {
            self.log_refusal(status, failure);
        } else {
            self.log_fault(status, failure);
        }
    }

    fn log_success(&self, status: u16) {
        let facts = &self.facts;
        tracing::debug!(
            request_id = self.request_id,
            tenant = facts.tenant.as_ref().map(TenantId::as_str),
            kid = facts.kid.as_ref().map(KeyId::as_str),
            status,
            milliseconds = self.milliseconds(),
            points = facts.points,
            rejected = facts.rejected,
            wire_bytes = facts.wire,
            plain_bytes = facts.plain,
            tolerated = ?facts.tolerated,
            user_agent = self.user_agent,
            "push"
        );
    }

    fn log_refusal(&self, status: u16, failure: &Failure) {
        let facts = &self.facts;
        tracing::info!(
            request_id = self.request_id,
            tenant = facts.tenant.as_ref().map(TenantId::as_str),
            kid = facts.kid.as_ref().map(KeyId::as_str),
            status,
            reason = failure.reason,
            milliseconds = self.milliseconds(),
            path = self.path,
            wire_bytes = facts.wire,
            user_agent = self.user_agent,
            "push refused: {}",
            failure.error.public
        );
    }

    /// A fault of ours or of what we depend on. Being full is expected to pass; the rest is an error.
    fn log_fault(&self, status: u16, failure: &Failure) {
        let facts = &self.facts;
        let chain = failure
            .error
            .source
            .as_ref()
            .map(|source| Chain(&**source).to_string());
        let (tenant, kid) = (
            facts.tenant.as_ref().map(TenantId::as_str),
            facts.kid.as_ref().map(KeyId::as_str),
        );
        let (request_id, reason, milliseconds) =
            (&self.request_id, failure.reason, self.milliseconds());
        if matches!(failure.error.kind, ErrorKind::Overloaded) {
            tracing::warn!(
                request_id,
                tenant,
                kid,
                status,
                reason,
                milliseconds,
                cause = chain,
                "push put off"
            );
        } else {
            tracing::error!(
                request_id,
                tenant,
                kid,
                status,
                reason,
                milliseconds,
                cause = chain,
                "push failed"
            );
        }
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if self.open {
            self.gauges
                .request(499, "client_gone", self.started.elapsed().as_secs_f64());
            tracing::debug!(
                request_id = self.request_id,
                tenant = self.facts.tenant.as_ref().map(TenantId::as_str),
                status = 499,
                milliseconds = self.milliseconds(),
                "the client went away"
            );
        }
    }
}

/// The id that the client gave, if it is fit to be repeated; otherwise a new one.
fn request_id(headers: &HeaderMap) -> String {
    let fit = |id: &&str| {
        (1..=MAX_REQUEST_ID).contains(&id.len())
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(&byte))
    };
    let given = headers
        .get(REQUEST_ID)
        .and_then(|id| id.to_str().ok())
        .filter(fit);
    given.map_or_else(|| uuid::Uuid::now_v7().to_string(), str::to_owned)
}
