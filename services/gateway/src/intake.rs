//! A request's head → a push whose sender is known and may push; not a byte of its body has been read.

use std::net::IpAddr;
use std::sync::Arc;

use auth::directory::authenticate;
use auth::principal::Principal;
use auth::refusal::Refusal;
use auth::scope::Scope;
use http::HeaderMap;
use jiff::Timestamp;

use crate::app::App;
use crate::http::exchange::Facts;
use crate::http::form::Form;
use crate::http::wire::WireBody;

/// A push whose sender is known.
#[derive(Debug)]
pub(crate) struct AuthenticatedPush {
    /// Who pushes.
    pub(crate) principal: Arc<Principal>,
    /// How the body is written.
    pub(crate) form: Form,
    /// The body, unread.
    pub(crate) body: WireBody,
    /// When the push arrived.
    pub(crate) now: Timestamp,
}

/// Finds out who sends `body` and whether it may.
pub(crate) async fn intake(
    app: &App,
    headers: &HeaderMap,
    body: WireBody,
    peer: IpAddr,
    facts: &mut Facts,
) -> Result<AuthenticatedPush, Refusal> {
    let now = Timestamp::now();
    let answer = authenticate(&*app.directory, headers, &app.credentials, peer, now).await;
    let allowed = answer.and_then(|caller| {
        facts.caller(&caller);
        caller
            .principal
            .may(Scope::MetricsWrite)
            .map(|()| caller.principal)
    });
    let principal = allowed.inspect_err(|refusal| app.gauges.refusal(refusal.reason))?;
    Ok(AuthenticatedPush {
        principal,
        form: Form::of(headers),
        body,
        now,
    })
}
