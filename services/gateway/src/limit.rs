//! A push whose sender is known → a push that there is room for, or 429 for one tenant, 503 for all.
//!
//! Rates and quotas belong here too: [`Ledger::admit`] is the one place where an [`AdmittedPush`] is made.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use auth::tenant::TenantId;
use runtime::error::ErrorKind;

use crate::config::InFlight;
use crate::failure::{Failure, soon};
use crate::intake::AuthenticatedPush;
use crate::metrics::Gauges;

/// How long a tenant over its share is asked to wait: pushes in work end within a second or two.
const TENANT_WAIT: Duration = Duration::from_secs(1);

/// A push that is worth reading.
#[derive(Debug)]
pub(crate) struct AdmittedPush {
    pub(crate) push: AuthenticatedPush,
    /// The room it takes, given back when dropped.
    pub(crate) room: Room,
}

/// Who uses how much of the gateway right now; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Ledger(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bounds: InFlight,
    gauges: Gauges,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    all: Share,
    /// Only tenants with requests in work: bounded by the bound on requests.
    tenants: HashMap<TenantId, Share>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Share {
    requests: usize,
    bytes: u64,
}

impl Ledger {
    pub(crate) fn new(bounds: InFlight, gauges: Gauges) -> Self {
        Self(Arc::new(Inner {
            bounds,
            gauges,
            used: Mutex::default(),
        }))
    }

    /// Lets the push in, if there is room for one more request of its tenant.
    pub(crate) fn admit(&self, push: AuthenticatedPush) -> Result<AdmittedPush, Failure> {
        let room = self.enter(&push.principal.tenant().id)?;
        Ok(AdmittedPush { push, room })
    }

    fn enter(&self, tenant: &TenantId) -> Result<Room, Failure> {
        let bounds = &self.0.bounds;
        let mut used = self.0.used();
        if used.all.requests >= bounds.requests {
            return Err(Failure::later(
                ErrorKind::Overloaded,
                "GATEWAY_BUSY",
                "the gateway has too many requests in work: try again",
                soon(),
            ));
        }
        let own = used.tenants.get(tenant).copied().unwrap_or_default();
        if own.requests >= bounds.tenant_requests {
            return Err(Failure::later(
                ErrorKind::RateLimited,
                "TENANT_BUSY",
                format!(
                    "tenant {tenant} has {} requests in work, which is its limit: send fewer at the same time",
                    own.requests
                ),
                TENANT_WAIT,
            ));
        }
        used.all.requests += 1;
        used.tenants.entry(tenant.clone()).or_default().requests += 1;
        self.0.show(&used);
        Ok(Room {
            ledger: self.clone(),
            tenant: tenant.clone(),
            bytes: 0,
        })
    }
}

impl Inner {
    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, used: &Used) {
        let bytes = i64::try_from(used.all.bytes).unwrap_or(i64::MAX);
        self.gauges
            .in_flight_requests
            .set(i64::try_from(used.all.requests).unwrap_or(i64::MAX));
        self.gauges.in_flight_bytes.set(bytes);
    }
}

/// The room that one push takes; given back when dropped.
#[derive(Debug)]
pub(crate) struct Room {
    ledger: Ledger,
    tenant: TenantId,
    bytes: u64,
}

impl Room {
    /// Takes room for `more` bytes of body.
    pub(crate) fn grow(&mut self, more: u64) -> Result<(), Failure> {
        let inner = &self.ledger.0;
        let mut used = inner.used();
        if used.all.bytes + more > inner.bounds.bytes.as_u64() {
            return Err(Failure::later(
                ErrorKind::Overloaded,
                "GATEWAY_BUSY",
                "the gateway has too many bytes in work: try again",
                soon(),
            ));
        }
        let limit = inner.bounds.tenant_bytes.as_u64();
        let own = used.tenants.entry(self.tenant.clone()).or_default();
        if own.bytes + more > limit {
            return Err(Failure::later(
                ErrorKind::RateLimited,
                "TENANT_BUSY",
                format!(
                    "tenant {} has {limit} bytes in work, which is its limit: send less at the same time",
                    self.tenant
                ),
                TENANT_WAIT,
            ));
        }
        own.bytes += more;
        used.all.bytes += more;
        inner.show(&used);
        self.bytes += more;
        Ok(())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut used = self.ledger.0.used();
        used.all.requests -= 1;
        used.all.bytes -= self.bytes;
        if let Some(own) = used.tenants.get_mut(&self.tenant) {
            own.requests -= 1;
            own.bytes -= self.bytes;
            if own.requests == 0 {
                used.tenants.remove(&self.tenant);
            }
        }
        self.ledger.0.show(&used);
    }
}

#[cfg(test)]
mod tests {
    use bytesize::ByteSize;
    use runtime::metrics::Metrics;

    use super::*;

    fn ledger() -> Ledger {
        let bounds = InFlight {
            requests: 3,
            bytes: ByteSize::b(100),
            tenant_requests: 2,
            tenant_bytes: ByteSize::b(60),
        };
        Ledger::new(bounds, Gauges::register(&Metrics::new()))
    }

    fn kind<T: std::fmt::Debug>(
        answer: Result<T, Failure>,
    ) -> (ErrorKind, &'static str, Option<Duration>) {
        let failure = answer.unwrap_err();
        (
            failure.error.kind,
            failure.reason,
            failure.error.retry_after,
        )
    }

    #[test]
    fn a_tenant_over_its_share_is_told_429_while_others_get_in() {
        let ledger = ledger();
        let (acme, other) = (TenantId::new("acme"), TenantId::new("other"));
        let first = ledger.enter(&acme).unwrap();
        let _second = ledger.enter(&acme).unwrap();
        assert_eq!(
            kind(ledger.enter(&acme)),
            (ErrorKind::RateLimited, "TENANT_BUSY", Some(TENANT_WAIT))
        );
        let _third = ledger.enter(&other).unwrap();
        let (full, reason, wait) = kind(ledger.enter(&other));
        assert_eq!((full, reason), (ErrorKind::Overloaded, "GATEWAY_BUSY"));
        assert!((5..=15).contains(&wait.unwrap().as_secs()));
        drop(first);
        drop(ledger.enter(&acme).unwrap());
    }

    #[test]
    fn bytes_are_bounded_for_a_tenant_and_for_all_and_given_back() {
        let ledger = ledger();
        let mut acme = ledger.enter(&TenantId::new("acme")).unwrap();
        acme.grow(60).unwrap();
        assert_eq!(kind(acme.grow(1)).0, ErrorKind::RateLimited);
        let mut other = ledger.enter(&TenantId::new("other")).unwrap();
        other.grow(40).unwrap();
        assert_eq!(kind(other.grow(1)).0, ErrorKind::Overloaded);
        drop(acme);
        other.grow(20).unwrap();
        drop(other);
        let used = ledger.0.used();
        assert_eq!(
            (used.all.requests, used.all.bytes, used.tenants.len()),
            (0, 0, 0)
        );
    }
}
