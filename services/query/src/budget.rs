//! What a query may cost, and its turn: per tenant and in total, with bounded queues.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use auth::tenant::TenantId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::config::Concurrency;

/// What one query may still use, and what its tenant has chosen to see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Samples that may be held at once.
    pub(crate) samples: usize,
    /// Series that may be read.
    pub(crate) series: usize,
    /// Bytes that may be read from ClickHouse.
    pub(crate) bytes: u64,
    /// When time is up.
    pub(crate) deadline: Instant,
    /// Whether lists, and selectors without an exact name, show histograms in both views.
    pub(crate) both_views: bool,
}

/// Why a query got no turn.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoTurn {
    /// The tenant has as many queries waiting as it may have.
    #[error("this tenant has {0} queries waiting already; run fewer at once, or try again shortly")]
    TenantQueueFull(usize),
    /// The service has as many queries waiting as it may have.
    #[error("the query service is busy; try again shortly")]
    QueueFull,
    /// The query's time ran out while it waited.
    #[error("query timed out in query queue")]
    TimedOut,
}

/// Permission to run, given back when dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _tenant: OwnedSemaphorePermit,
    _total: OwnedSemaphorePermit,
}

/// Lets a bounded number of queries run: first the tenant's own bound, then the bound of all, so that a
/// busy tenant waits behind itself and not in front of others.
#[derive(Debug)]
pub(crate) struct Gate {
    total: Lane,
    tenants: Mutex<HashMap<TenantId, Arc<Lane>>>,
    config: Concurrency,
}

/// Tenants after which idle ones are forgotten.
const REMEMBERED_TENANTS: usize = 1024;

impl Gate {
    pub(crate) fn new(config: Concurrency) -> Self {
        let total = Lane::new(config.total, config.total_queue);
        Self {
            total,
            tenants: Mutex::default(),
            config,
        }
    }

    /// Waits for a turn of `tenant` until `deadline`.
    pub(crate) async fn enter(&self, tenant: &TenantId, deadline: Instant) -> Result<Turn, NoTurn> {
        let lane = self.lane(tenant);
        let full = NoTurn::TenantQueueFull(self.config.per_tenant_queue);
        let of_tenant = lane.enter(deadline, full).await?;
        let of_total = self.total.enter(deadline, NoTurn::QueueFull).await?;
        Ok(Turn {
            _tenant: of_tenant,
            _total: of_total,
        })
    }

    fn lane(&self, tenant: &TenantId) -> Arc<Lane> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if tenants.len() >= REMEMBERED_TENANTS && !tenants.contains_key(tenant) {
            let slots = self.config.per_tenant;
            tenants.retain(|_, lane| {
                Arc::strong_count(lane) > 1 || lane.slots.available_permits() < slots
            });
        }
        let lane = tenants.entry(tenant.clone()).or_insert_with(|| {
            Arc::new(Lane::new(
                self.config.per_tenant,
                self.config.per_tenant_queue,
            ))
        });
        Arc::clone(lane)
    }
}

/// A number of slots and a bounded number of waiters for them.
#[derive(Debug)]
struct Lane {
    slots: Arc<Semaphore>,
    waiting: AtomicUsize,
    queue: usize,
}

impl Lane {
    fn new(slots: usize, queue: usize) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(slots)),
            waiting: AtomicUsize::new(0),
            queue,
        }
    }

    async fn enter(&self, deadline: Instant, full: NoTurn) -> Result<OwnedSemaphorePermit, NoTurn> {
        if let Ok(permit) = Arc::clone(&self.slots).try_acquire_owned() {
            return Ok(permit);
        }
        let Some(_place) = Place::take(self) else {
            return Err(full);
        };
        match timeout_at(deadline, Arc::clone(&self.slots).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            // The semaphore is never closed; were it, nobody would get a turn in time.
            Ok(Err(_)) | Err(_) => Err(NoTurn::TimedOut),
        }
    }
}

/// A place in a queue, given back when dropped.
struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    fn take(lane: &'a Lane) -> Option<Self> {
        let before = lane.waiting.fetch_add(1, Ordering::AcqRel);
        let place = Self(&lane.waiting);
        (before < lane.queue).then_some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn gate(per_tenant: usize, per_tenant_queue: usize, total: usize, total_queue: usize) -> Gate {
        Gate::new(Concurrency {
            per_tenant,
            per_tenant_queue,
            total,
            total_queue,
        })
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(3600)
    }

    #[tokio::test]
    async fn a_tenant_that_fills_its_queue_is_refused_and_others_are_not() {
        let gate = gate(1, 0, 10, 10);
        let (one, two) = (TenantId::new("one"), TenantId::new("two"));
        let turn = gate.enter(&one, later()).await.unwrap();
        assert_eq!(
            gate.enter(&one, later()).await.unwrap_err(),
            NoTurn::TenantQueueFull(0)
        );
        assert!(gate.enter(&two, later()).await.is_ok());
        drop(turn);
        assert!(gate.enter(&one, later()).await.is_ok());
    }

    #[tokio::test]
    async fn the_whole_service_has_a_bound_too() {
        let gate = gate(5, 5, 1, 0);
        let turn = gate.enter(&TenantId::new("one"), later()).await.unwrap();
        assert_eq!(
            gate.enter(&TenantId::new("two"), later())
                .await
                .unwrap_err(),
            NoTurn::QueueFull
        );
        drop(turn);
        assert!(gate.enter(&TenantId::new("two"), later()).await.is_ok());
    }

    #[tokio::test]
    async fn waiting_ends_with_the_querys_time() {
        let gate = gate(1, 1, 1, 1);
        let tenant = TenantId::new("one");
        let _turn = gate.enter(&tenant, later()).await.unwrap();
        assert_eq!(
            gate.enter(&tenant, Instant::now()).await.unwrap_err(),
            NoTurn::TimedOut
        );
        // The place in the queue was given back.
        assert_eq!(
            gate.enter(&tenant, Instant::now()).await.unwrap_err(),
            NoTurn::TimedOut
        );
    }
}
