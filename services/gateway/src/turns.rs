//! Pushes that are ready to be worked on → as many at a time as there are processors, tenants in fair turns.
//!
//! Decompressing, decoding and translating is what a push costs, so this is where tenants would slow each
//! other. A push takes a turn at once when one is free and nobody waits; otherwise it queues behind those
//! of its own tenant only, and the queues are served by deficit round robin over bytes: whoever sends fifty
//! times its share waits for itself. The lock is taken only when somebody has to wait. How many may wait is
//! bounded by the pushes in work (`limit`).

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use auth::tenant::TenantId;
use tokio::sync::oneshot;

/// Bytes that a tenant may have worked on before the next one has its turn.
const QUANTUM: u64 = 64 << 10;

/// Turns of all tenants; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Turns(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    free: AtomicUsize,
    waiting: AtomicUsize,
    queues: Mutex<Queues>,
}

/// The right to use a processor, given back when dropped.
#[derive(Debug)]
pub(crate) struct Turn(Option<Turns>);

#[derive(Debug, Default)]
struct Queues {
    /// Tenants with pushes that wait, in order of their turns.
    order: VecDeque<TenantId>,
    tenants: HashMap<TenantId, Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    /// Bytes that may still be worked on in this round.
    credit: u64,
    pushes: VecDeque<(u64, oneshot::Sender<Turn>)>,
}

impl Turns {
    /// `count` turns at a time, at least one.
    pub(crate) fn new(count: usize) -> Self {
        Self(Arc::new(Inner {
            free: AtomicUsize::new(count.max(1)),
            waiting: AtomicUsize::new(0),
            queues: Mutex::default(),
        }))
    }

    /// Waits for the turn of a push of `bytes` bytes of `tenant`.
    pub(crate) async fn take(&self, tenant: &TenantId, bytes: u64) -> Turn {
        if self.0.waiting.load(Ordering::SeqCst) == 0 && self.0.claim() {
            return Turn(Some(self.clone()));
        }
        let (sender, turn) = oneshot::channel();
        {
            let mut queues = self.0.queues();
            queues.push(tenant, bytes, sender);
            self.0.waiting.fetch_add(1, Ordering::SeqCst);
            self.serve(&mut queues);
        }
        match turn.await {
            Ok(turn) => turn,
            // Its sender is gone only when everything ends; nobody is left to be unfair to.
            Err(_) => Turn(None),
        }
    }

    /// Hands out free turns as long as there are pushes that wait.
    ///
    /// Whoever gives a turn back makes it free before looking for waiters, and whoever waits is counted before
    /// looking for free turns: one of the two sees the other.
    fn serve(&self, queues: &mut Queues) {
        while self.0.waiting.load(Ordering::SeqCst) > 0 && self.0.claim() {
            let mut turn = Turn(Some(self.clone()));
            while let Some(waiter) = queues.pop() {
                self.0.waiting.fetch_sub(1, Ordering::SeqCst);
                match waiter.send(turn) {
                    Ok(()) => {
                        turn = Turn(None);
                        break;
                    }
                    // It went away while it waited.
                    Err(back) => turn = back,
                }
            }
            // Given back by hand where nobody took it: dropping it would ask for the lock that is held.
            if turn.0.take().is_some() {
                self.0.free.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

impl Inner {
    /// Takes a free turn, if there is one.
    fn claim(&self) -> bool {
        self.free
            .try_update(Ordering::SeqCst, Ordering::SeqCst, |free| {
                free.checked_sub(1)
            })
            .is_ok()
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(turns) = self.0.take() else { return };
        turns.0.free.fetch_add(1, Ordering::SeqCst);
        if turns.0.waiting.load(Ordering::SeqCst) > 0 {
            turns.serve(&mut turns.0.queues());
        }
    }
}

impl Queues {
    fn push(&mut self, tenant: &TenantId, bytes: u64, sender: oneshot::Sender<Turn>) {
        if !self.tenants.contains_key(tenant) {
            self.order.push_back(tenant.clone());
        }
        let queue = self.tenants.entry(tenant.clone()).or_default();
        queue.pushes.push_back((bytes, sender));
    }

    /// The push whose turn it is.
    fn pop(&mut self) -> Option<oneshot::Sender<Turn>> {
        loop {
            let tenant = self.order.front()?;
            let Some(queue) = self.tenants.get_mut(tenant) else {
                self.order.pop_front();
                continue;
            };
            match queue.pushes.front() {
                Some((bytes, _)) if *bytes > queue.credit => {
                    queue.credit = queue.credit.saturating_add(QUANTUM);
                    self.order.rotate_left(1);
                }
                Some((bytes, _)) => {
                    queue.credit -= bytes;
                    let sender = queue.pushes.pop_front().map(|(_, sender)| sender);
                    self.forget_idle();
                    return sender;
                }
                None => self.forget_idle(),
            }
        }
    }

    /// Takes the first tenant out when nothing of it waits; its credit ends with its queue.
    fn forget_idle(&mut self) {
        let Some(tenant) = self.order.front() else {
            return;
        };
        if self
            .tenants
            .get(tenant)
            .is_none_or(|queue| queue.pushes.is_empty())
        {
            self.tenants.remove(tenant);
            self.order.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::BoxFuture;

    use super::*;

    fn wait<'a>(turns: &'a Turns, tenant: &'static str, bytes: u64) -> BoxFuture<'a, Turn> {
        async move { turns.take(&TenantId::new(tenant), bytes).await }.boxed()
    }

    /// Asks for a turn that is not free.
    fn queue<'a>(turns: &'a Turns, tenant: &'static str, bytes: u64) -> BoxFuture<'a, Turn> {
        let mut asked = wait(turns, tenant, bytes);
        assert!((&mut asked).now_or_never().is_none(), "it had to wait");
        asked
    }

    #[test]
    fn a_turn_is_free_again_when_it_is_dropped() {
        let turns = Turns::new(2);
        let one = wait(&turns, "a", 1).now_or_never().unwrap();
        let two = wait(&turns, "a", 1).now_or_never().unwrap();
        let three = queue(&turns, "a", 1);
        drop(one);
        let three = three.now_or_never().expect("handed on");
        drop((two, three));
        assert_eq!(turns.0.free.load(Ordering::SeqCst), 2);
        assert_eq!(turns.0.waiting.load(Ordering::SeqCst), 0);
        assert!(turns.0.queues().tenants.is_empty());
    }

    #[test]
    fn a_tenant_with_many_pushes_waits_for_itself() {
        let turns = Turns::new(1);
        let mut held = wait(&turns, "greedy", 1).now_or_never().unwrap();
        let mut asked: Vec<(&str, BoxFuture<'_, Turn>)> = (0..6)
            .map(|_| ("greedy", queue(&turns, "greedy", QUANTUM)))
            .collect();
        asked.push(("modest", queue(&turns, "modest", QUANTUM)));
        let mut served = Vec::new();
        while !asked.is_empty() {
            drop(held);
            let ready = asked
                .iter_mut()
                .enumerate()
                .find_map(|(at, (name, turn))| turn.now_or_never().map(|turn| (at, *name, turn)));
            let (at, name, turn) = ready.expect("one is served");
            drop(asked.remove(at));
            served.push(name);
            held = turn;
        }
        let place = served.iter().position(|name| *name == "modest").unwrap();
        assert!(place <= 1, "{served:?}");
        assert_eq!(served.len(), 7);
    }

    #[test]
    fn turns_are_shared_by_bytes_and_not_by_pushes() {
        let turns = Turns::new(1);
        let mut held = wait(&turns, "large", 1).now_or_never().unwrap();
        let mut asked = Vec::new();
        for _ in 0..4 {
            asked.push((4, queue(&turns, "large", 4 * QUANTUM)));
        }
        for _ in 0..16 {
            asked.push((1, queue(&turns, "small", QUANTUM)));
        }
        let (mut large, mut small, mut widest) = (0_i32, 0_i32, 0);
        while !asked.is_empty() {
            drop(held);
            let ready = asked
                .iter_mut()
                .enumerate()
                .find_map(|(at, (size, turn))| turn.now_or_never().map(|turn| (at, *size, turn)));
            let (at, size, turn) = ready.expect("one is served");
            drop(asked.remove(at));
            if size == 4 {
                large += 4
            } else {
                small += 1
            }
            widest = widest.max((large - small).abs());
            held = turn;
        }
        drop(held);
        assert_eq!((large, small), (16, 16));
        assert!(widest <= 5, "{widest} quanta apart");
    }

    #[test]
    fn one_that_goes_away_while_it_waits_costs_nobody_a_turn() {
        let turns = Turns::new(1);
        let held = wait(&turns, "a", 1).now_or_never().unwrap();
        let gone = queue(&turns, "a", 1);
        let stays = queue(&turns, "a", 1);
        drop(gone);
        drop(held);
        let stays = stays.now_or_never().expect("served");
        let late = queue(&turns, "b", 1);
        drop(stays);
        // Handed a turn and gone before taking it.
        drop(late);
        assert!(wait(&turns, "c", 1).now_or_never().is_some());
    }
}
