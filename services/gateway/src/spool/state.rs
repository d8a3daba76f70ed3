//! What the writer, the delivery and whoever asks know in common: which segments there are, and how much they hold.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::name;
use super::segment::Identity;

/// A segment that nothing is added to any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sealed {
    /// In the file's name; the order of delivery.
    pub(super) number: u64,
    pub(super) path: PathBuf,
    /// In the file's header; the token.
    pub(super) identity: Identity,
    /// Bytes that are valid; the file can be longer when cutting it failed.
    pub(super) length: u64,
    /// Whether what is damaged in it has been counted.
    pub(super) counted: bool,
}

/// The segment that is being written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) number: u64,
    /// When its first record was handed over.
    pub(super) first: Instant,
}

/// What is to be done next.
#[derive(Debug)]
pub(super) enum Next {
    /// Deliver this, the oldest one.
    Deliver(Sealed),
    /// Nothing waits; this one is being written.
    Seal(Open),
    /// Nothing is on its way.
    Idle,
}

#[derive(Debug, Default)]
struct Ledger {
    open: Option<Open>,
    sealed: BTreeMap<u64, Sealed>,
}

/// The state of a spool.
#[derive(Debug, Default)]
pub(super) struct State {
    ledger: Mutex<Ledger>,
    /// Told when there may be a new answer to [`State::next`].
    pub(super) changed: Notify,
    live_bytes: AtomicU64,
    aside_bytes: AtomicU64,
    aside_segments: AtomicU64,
    failing: AtomicBool,
    short: AtomicBool,
}

impl State {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A segment has its first records.
    pub(super) fn opened(&self, open: Open) {
        self.ledger().open = Some(open);
        self.changed.notify_one();
    }

    /// The segment that was being written is complete.
    pub(super) fn sealed(&self, segment: Sealed) {
        let mut ledger = self.ledger();
        ledger.open = None;
        ledger.sealed.insert(segment.number, segment);
        drop(ledger);
        self.changed.notify_one();
    }

    /// A segment was found in the folder; whether it is news.
    ///
    /// To be asked after the folder was read: what is in it and neither being written nor waiting then is not
    /// the writer's.
    pub(super) fn found(&self, segment: Sealed) -> bool {
        let mut ledger = self.ledger();
        let own = ledger
            .open
            .is_some_and(|open| open.number == segment.number);
        if own || ledger.sealed.contains_key(&segment.number) {
            return false;
        }
        self.grew(segment.length);
        ledger.sealed.insert(segment.number, segment);
        true
    }

    /// A segment needs no delivery any more. Its bytes count until [`State::shrank`].
    pub(super) fn settled(&self, number: u64) {
        self.ledger().sealed.remove(&number);
    }

    /// The numbers of the segments that wait.
    pub(super) fn numbers(&self) -> BTreeSet<u64> {
        self.ledger().sealed.keys().copied().collect()
    }

    pub(super) fn next(&self) -> Next {
        let ledger = self.ledger();
        match (ledger.sealed.first_key_value(), ledger.open) {
            (Some((_, oldest)), _) => Next::Deliver(oldest.clone()),
            (None, Some(open)) => Next::Seal(open),
            (None, None) => Next::Idle,
        }
    }

    pub(super) fn grew(&self, bytes: u64) {
        self.live_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn shrank(&self, bytes: u64) {
        self.live_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn set_aside(&self, segments: u64, bytes: u64) {
        self.aside_segments.store(segments, Ordering::Relaxed);
        self.aside_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Bytes of all segments, those set aside included.
    pub(super) fn bytes(&self) -> u64 {
        let live = self.live_bytes.load(Ordering::Relaxed);
        live.saturating_add(self.aside_bytes.load(Ordering::Relaxed))
    }

    pub(super) fn aside_segments(&self) -> u64 {
        self.aside_segments.load(Ordering::Relaxed)
    }

    /// Segments that are not delivered, the one being written included.
    pub(super) fn segments(&self) -> usize {
        let ledger = self.ledger();
        ledger.sealed.len() + usize::from(ledger.open.is_some())
    }

    /// Age of the oldest record that is not delivered.
    pub(super) fn lag(&self, now: SystemTime) -> Option<Duration> {
        let ledger = self.ledger();
        let sealed = ledger.sealed.first_key_value().map(|(number, _)| *number);
        let oldest = sealed.or(ledger.open.map(|open| open.number))?;
        drop(ledger);
        Some(now.duration_since(name::begun(oldest)).unwrap_or_default())
    }

    /// Notes how the last write went; whether that is a change.
    pub(super) fn set_failing(&self, failing: bool) -> bool {
        self.failing.swap(failing, Ordering::Relaxed) != failing
    }

    /// Notes whether the last record found room; whether that is a change.
    pub(super) fn set_short(&self, short: bool) -> bool {
        self.short.swap(short, Ordering::Relaxed) != short
    }

    /// Whether the last record found no room.
    pub(super) fn short(&self) -> bool {
        self.short.load(Ordering::Relaxed)
    }

    /// Whether the last write failed.
    pub(super) fn failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }
}
