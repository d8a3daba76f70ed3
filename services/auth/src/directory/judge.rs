//! A known record and the circumstances of a request → accepted or refused; the same rules for every
//! directory.

use std::net::IpAddr;

use jiff::Timestamp;

use crate::principal::Principal;
use crate::record::KeyStatus;
use crate::refusal::{Reason, Refusal};

/// The answer for a key that is not there and for one whose secret is wrong.
pub(super) fn unknown() -> Refusal {
    Refusal::new(
        Reason::UnknownKey,
        "the key is well formed but not known here: check that it was made on this installation and not deleted",
    )
}

/// What stands in the way of a request whose secret has been verified.
pub(super) fn judge(
    principal: &Principal,
    claimed: Option<&str>,
    peer: IpAddr,
    now: Timestamp,
) -> Result<(), Refusal> {
    let (key, tenant) = (principal.key(), principal.tenant());
    if key.status == KeyStatus::Revoked {
        let when = key
            .revoked_at
            .map(|at| format!(" at {at:.0}"))
            .unwrap_or_default();
        return Err(Refusal::new(
            Reason::Revoked,
            format!("key {} was revoked{when}: use another key", key.kid),
        ));
    }
    if let Some(end) = key.expires_at.filter(|end| *end <= now) {
        return Err(Refusal::new(
            Reason::Expired,
            format!("key {} expired at {end:.0}: make a new one", key.kid),
        ));
    }
    if claimed.is_some_and(|name| !tenant.answers_to(name)) {
        return Err(Refusal::new(
            Reason::TenantMismatch,
            format!(
                "key {} does not belong to the tenant named beside it: name {} or leave the name out",
                key.kid, tenant.slug
            ),
        ));
    }
    if tenant.suspended {
        return Err(Refusal::new(
            Reason::TenantSuspended,
            format!("tenant {} is suspended: ask the operator", tenant.slug),
        ));
    }
    if key.status == KeyStatus::Suspended {
        return Err(Refusal::new(
            Reason::KeySuspended,
            format!("key {} is suspended: resume it or use another key", key.kid),
        ));
    }
    if !key.allows(peer) {
        return Err(Refusal::new(
            Reason::Network,
            format!(
                "key {} may not be used from this address ({}): add its network to the key's allowed_cidrs",
                key.kid,
                peer.to_canonical()
            ),
        ));
    }
    Ok(())
}
