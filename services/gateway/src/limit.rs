//! A push whose sender is known → a push that there is room for, or 429 for one tenant, 503 for all.
//!
//! Rates and quotas belong here too: [`Ledger::admit`] is the one place where an [`AdmittedPush`] is made.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use auth::tenant::TenantId;
use runtime::error::ErrorKind;
use xxhash_rust::xxh3::xxh3_64;

use crate::config::InFlight;
use crate::failure::{Failure, soon};
use crate::intake::AuthenticatedPush;
use crate::metrics::Gauges;

/// How long a tenant over its share is asked to wait: pushes in work end within a second or two.
const TENANT_WAIT: Duration = Duration::from_secs(1);

/// In how many parts the shares of tenants are kept, each with a lock of its own.
const SHARDS: usize = 64;
const SHARDS_U64: u64 = 64;

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
    requests: AtomicUsize,
    bytes: AtomicU64,
    tenants: [Shard; SHARDS],
}

/// Shares of some of the tenants; only of those with requests in work, so bounded by the bound on requests.
type Shard = Mutex<HashMap<TenantId, Share>>;

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
            requests: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            tenants: std::array::from_fn(|_| Mutex::default()),
        }))
    }

    /// Lets the push in, if there is room for one more request of its tenant.
    pub(crate) fn admit(&self, push: AuthenticatedPush) -> Result<AdmittedPush, Failure> {
        let room = self.enter(&push.principal.tenant().id)?;
        Ok(AdmittedPush { push, room })
    }

    /// Takes the place of one request of `tenant`.
    pub(crate) fn enter(&self, tenant: &TenantId) -> Result<Room, Failure> {
        let inner = &self.0;
        let taken = inner.requests.fetch_add(1, Ordering::Relaxed);
        let entered = if taken >= inner.bounds.requests {
            Err(busy("the gateway has too many requests in work: try again"))
        } else {
            inner.enter(tenant)
        };
        if let Err(full) = entered {
            inner.requests.fetch_sub(1, Ordering::Relaxed);
            return Err(full);
        }
        inner.gauges.in_flight_requests.inc();
        Ok(Room {
            ledger: self.clone(),
            tenant: tenant.clone(),
            bytes: 0,
        })
    }
}

/// No room for anybody.
fn busy(public: &'static str) -> Failure {
    Failure::later(ErrorKind::Overloaded, "GATEWAY_BUSY", public, soon())
}

impl Inner {
    /// Counts one more request of `tenant`.
    fn enter(&self, tenant: &TenantId) -> Result<(), Failure> {
        let mut shares = self.shares(tenant);
        let own = shares.entry(tenant.clone()).or_default();
        if own.requests >= self.bounds.tenant_requests {
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
        own.requests += 1;
        Ok(())
    }

    /// The shares among which that of `tenant` is.
    fn shares(&self, tenant: &TenantId) -> MutexGuard<'_, HashMap<TenantId, Share>> {
        let hash =
            usize::try_from(xxh3_64(tenant.as_str().as_bytes()) % SHARDS_U64).unwrap_or_default();
        self.tenants[hash]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
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
        let taken = inner.bytes.fetch_add(more, Ordering::Relaxed);
        let grown = if taken.saturating_add(more) > inner.bounds.bytes.as_u64() {
            Err(busy("the gateway has too many bytes in work: try again"))
        } else {
            self.grow_own(more)
        };
        if let Err(full) = grown {
            inner.bytes.fetch_sub(more, Ordering::Relaxed);
            return Err(full);
        }
        inner.gauges.in_flight_bytes.inc_by(signed(more));
        self.bytes += more;
        Ok(())
    }

    fn grow_own(&self, more: u64) -> Result<(), Failure> {
        let inner = &self.ledger.0;
        let limit = inner.bounds.tenant_bytes.as_u64();
        let mut shares = inner.shares(&self.tenant);
        let own = shares.entry(self.tenant.clone()).or_default();
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
        Ok(())
    }

    /// Bytes that it takes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Gives back room for `fewer` bytes that are no longer kept.
    pub(crate) fn shrink(&mut self, fewer: u64) {
        let fewer = fewer.min(self.bytes);
        let inner = &self.ledger.0;
        inner.bytes.fetch_sub(fewer, Ordering::Relaxed);
        if let Some(own) = inner.shares(&self.tenant).get_mut(&self.tenant) {
            own.bytes -= fewer;
        }
        inner.gauges.in_flight_bytes.dec_by(signed(fewer));
        self.bytes -= fewer;
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let inner = &self.ledger.0;
        inner.requests.fetch_sub(1, Ordering::Relaxed);
        inner.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        let mut shares = inner.shares(&self.tenant);
        if let Some(own) = shares.get_mut(&self.tenant) {
            own.requests -= 1;
            own.bytes -= self.bytes;
            if own.requests == 0 {
                shares.remove(&self.tenant);
            }
        }
        drop(shares);
        inner.gauges.in_flight_requests.dec();
        inner.gauges.in_flight_bytes.dec_by(signed(self.bytes));
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
        other.shrink(50);
        other.shrink(50);
        other.grow(60).unwrap();
        drop(other);
        let kept: usize = ledger
            .0
            .tenants
            .iter()
            .map(|shard| shard.lock().unwrap().len())
            .sum();
        let (requests, bytes) = (&ledger.0.requests, &ledger.0.bytes);
        assert_eq!(
            (
                requests.load(Ordering::Relaxed),
                bytes.load(Ordering::Relaxed),
                kept
            ),
            (0, 0, 0)
        );
    }
}
