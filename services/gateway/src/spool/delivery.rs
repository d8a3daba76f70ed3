//! Sealed segments, oldest first → whoever stores them; stored ones are removed, refused ones set aside.

use std::collections::BTreeSet;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use jiff::Timestamp;
use tokio::sync::mpsc::WeakSender;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::aside::{self, Note};
use super::backoff::Backoff;
use super::deliver::{Deliver, DeliveryFault, FaultKind};
use super::disk::Disk;
use super::folder::{self, Finds, Folder};
use super::metrics::{Loss, Meters, Outcome};
use super::state::{Next, Open, Sealed, State};
use super::writer::Command;

/// How often the folder is looked at for segments that were put back, and those dropped.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Waits between the tries of a delivery.
const BACKOFF: Backoff = Backoff {
    first: Duration::from_millis(100),
    most: Duration::from_secs(10),
};

/// The half of a spool that empties it; to be run beside the half that fills it.
pub struct Delivery {
    pub(super) folder: Arc<Folder>,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) state: Arc<State>,
    pub(super) meters: Meters,
    /// To ask for sealing. Weak: the writer ends with the last who can append.
    pub(super) writer: WeakSender<Command>,
    pub(super) seal_after: Duration,
    pub(super) poison_tries: u32,
    pub(super) pace: Pace,
    /// Segments out of the queue that the disk did not let go or give back.
    pub(super) leftovers: Vec<Leftover>,
    /// Files that are left alone; each is named once in the log.
    pub(super) strangers: BTreeSet<PathBuf>,
    pub(super) stop: Stop,
}

/// The times that are shorter in tests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) backoff: Backoff,
    pub(super) look_again: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            backoff: BACKOFF,
            look_again: LOOK_AGAIN,
        }
    }
}

/// How a delivery is brought to its end.
#[derive(Debug)]
pub(super) struct Stop {
    /// No segment will come any more: end when all are delivered.
    pub(super) drain: CancellationToken,
    /// End now.
    pub(super) abort: CancellationToken,
    /// Tells that it has ended, even by a panic.
    pub(super) _ended: DropGuard,
}

/// A segment that is out of the queue and still in the folder.
pub(super) struct Leftover {
    segment: Sealed,
    fate: Fate,
}

/// What is to become of a segment that is out of the queue.
#[derive(Clone)]
enum Fate {
    /// It is delivered.
    Removed,
    /// It is refused again and again.
    Aside(Note),
    /// The disk does not give it back: it holds up nothing, and returns to the queue when it can be read.
    Read,
}

impl std::fmt::Debug for Delivery {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Delivery")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

/// How the tries of one segment went.
#[derive(Default)]
struct Tries {
    failures: u32,
    refusals: u32,
    unreadable: u32,
    records: Option<Vec<Bytes>>,
}

/// A try that failed.
enum Failed {
    Delivery(DeliveryFault),
    Reading(io::Error),
    Gone,
}

impl Delivery {
    /// Delivers segments through `to` until [`super::Spool::close`] says to end. A `to` that panics has refused
    /// the segment.
    pub async fn run<D: Deliver>(mut self, to: D) {
        let abort = self.stop.abort.clone();
        tokio::select! {
            biased;
            () = abort.cancelled() => {}
            () = self.work(&to) => {}
        }
    }

    async fn work<D: Deliver>(&mut self, to: &D) {
        let mut look = Instant::now();
        loop {
            if look <= Instant::now() {
                self.look().await;
                look = Instant::now() + self.pace.look_again;
            }
            let due = match self.state.next() {
                Next::Deliver(segment) => {
                    self.deliver(segment, to).await;
                    continue;
                }
                Next::Seal(open) => self.seal_when_due(open).await,
                Next::Idle if self.stop.drain.is_cancelled() => return,
                Next::Idle => None,
            };
            let draining = self.stop.drain.is_cancelled();
            tokio::select! {
                () = self.state.changed.notified() => {}
                () = self.stop.drain.cancelled(), if !draining => {}
                () = sleep_until(due.map_or(look, |due| due.min(look))) => {}
            }
        }
    }

    /// Has the open segment sealed if it is old enough, or answers when it will be.
    async fn seal_when_due(&self, open: Open) -> Option<Instant> {
        let due = open.first + self.seal_after;
        if due > Instant::now() {
            return Some(due);
        }
        if let Some(writer) = self.writer.upgrade() {
            // The writer tells when it is done; when it has ended, it has sealed.
            drop(writer.send(Command::Seal(open.number)).await);
        }
        None
    }

    /// Tries one segment until it is done with.
    async fn deliver<D: Deliver>(&mut self, segment: Sealed, to: &D) {
        let mut tries = Tries::default();
        let mut look = Instant::now() + self.pace.look_again;
        loop {
            let failed = match self.attempt(&segment, &mut tries, to).await {
                Ok(()) => return self.finish(segment, Fate::Removed).await,
                Err(failed) => failed,
            };
            tries.failures += 1;
            let why = match failed {
                Failed::Gone => return self.gone(&segment),
                Failed::Delivery(fault) if fault.kind == FaultKind::Transient => {
                    self.meters.delivery(Outcome::Transient);
                    fault.message
                }
                Failed::Delivery(fault) => {
                    self.meters.delivery(Outcome::Refused);
                    tries.refusals += 1;
                    fault.message
                }
                Failed::Reading(error) => {
                    self.meters.delivery(Outcome::Unreadable);
                    tries.unreadable += 1;
                    format!("its file cannot be read: {error}")
                }
            };
            if tries.refusals >= self.poison_tries {
                let note = self.poisoned(&segment, why, tries.refusals);
                return self.finish(segment, Fate::Aside(note)).await;
            }
            if tries.unreadable >= self.poison_tries {
                return self.pass_over(segment, &why);
            }
            let random = getrandom::u64().unwrap_or(0);
            let wait = self.pace.backoff.after(tries.failures, random);
            // The first failure, and then ever more rarely.
            if tries.failures.is_power_of_two() {
                let token = segment.identity.token();
                let failures = tries.failures;
                tracing::warn!(token, failures, ?wait, "a segment is not delivered: {why}");
            }
            sleep(wait).await;
            if look <= Instant::now() {
                self.look().await;
                look = Instant::now() + self.pace.look_again;
            }
        }
    }

    async fn attempt<D: Deliver>(
        &self,
        segment: &Sealed,
        tries: &mut Tries,
        to: &D,
    ) -> Result<(), Failed> {
        let records = match &tries.records {
            Some(records) => records.clone(),
            None => tries.records.insert(self.read(segment).await?).clone(),
        };
        if records.is_empty() {
            return Ok(());
        }
        let token = segment.identity.token();
        let delivered = AssertUnwindSafe(to.deliver(&token, records)).catch_unwind();
        match delivered.await {
            Ok(Ok(())) => {
                self.meters.delivery(Outcome::Delivered);
                Ok(())
            }
            Ok(Err(fault)) => Err(Failed::Delivery(fault)),
            Err(_) => Err(Failed::Delivery(DeliveryFault {
                kind: FaultKind::Refused,
                message: "storing the segment panicked; the log says where".to_owned(),
            })),
        }
    }

    /// The records of a segment. What is damaged is counted the first time.
    async fn read(&self, segment: &Sealed) -> Result<Vec<Bytes>, Failed> {
        let (path, length) = (segment.path.clone(), segment.length);
        let bytes = self.blocking(move |disk| disk.read(&path, length)).await;
        let bytes = match bytes {
            Ok(bytes) => Bytes::from(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Failed::Gone),
            Err(error) => return Err(Failed::Reading(error)),
        };
        let contents = segment.identity.contents(&bytes);
        if !segment.counted {
            for lost in contents.damage {
                folder::report(segment, lost, false, &self.meters);
            }
        }
        Ok(contents.records)
    }

    fn gone(&self, segment: &Sealed) {
        self.meters.lost(Loss::Missing);
        tracing::error!(
            file = %segment.path.display(),
            "a segment vanished before it was delivered: only `sluice spool` may remove files from the spool"
        );
        self.state.settled(segment.number);
        self.state.shrank(segment.length);
    }

    fn poisoned(&self, segment: &Sealed, why: String, refusals: u32) -> Note {
        self.meters.set_aside.inc();
        let name = segment.number;
        tracing::error!(
            token = segment.identity.token(),
            refusals,
            "a segment is refused again and again and is set aside: {why}. See `sluice spool list`; when the cause is \
             gone, `sluice spool retry {name:016x}`"
        );
        Note {
            token: segment.identity.token(),
            why,
            refusals,
            at: Timestamp::now().to_string(),
        }
    }

    fn pass_over(&mut self, segment: Sealed, why: &str) {
        let file = segment.path.display();
        tracing::error!(%file, "a segment waits until it can be read, and those behind it go on: {why}. Check the disk");
        self.state.settled(segment.number);
        let fate = Fate::Read;
        self.leftovers.push(Leftover { segment, fate });
    }

    /// Takes a segment out of the queue and to its fate, now or when the disk lets it.
    async fn finish(&mut self, segment: Sealed, fate: Fate) {
        self.state.settled(segment.number);
        let leftover = Leftover { segment, fate };
        if let Err(reason) = self.clear(&leftover).await {
            let file = leftover.segment.path.display();
            tracing::warn!(%file, "a segment that is done with stays for now: {reason}");
            self.leftovers.push(leftover);
        }
    }

    async fn clear(&mut self, leftover: &Leftover) -> io::Result<()> {
        let segment = leftover.segment.clone();
        match leftover.fate.clone() {
            Fate::Removed => {
                let folder = self.folder.path.clone();
                let path = segment.path;
                self.blocking(move |disk| match disk.remove(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    _ => disk.sync_folder(&folder),
                })
                .await?;
            }
            Fate::Aside(note) => {
                let places = (self.folder.path.clone(), self.folder.aside.clone());
                let moved = move |disk: &dyn Disk| aside::set_aside(disk, &places, &segment, &note);
                self.blocking(moved).await?;
                self.count_aside();
            }
            Fate::Read => {
                let (path, length) = (segment.path.clone(), segment.length);
                let read = self.blocking(move |disk| disk.read(&path, length)).await;
                match read {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    // One that vanished is found out and counted in its turn.
                    _ => drop(self.state.found(segment)),
                }
            }
        }
        self.state.shrank(leftover.segment.length);
        Ok(())
    }

    /// Looks at the folder: what was put back is delivered, what was dropped counts no more, what could not be
    /// removed or read is tried again.
    async fn look(&mut self) {
        for leftover in std::mem::take(&mut self.leftovers) {
            if self.clear(&leftover).await.is_err() {
                self.leftovers.push(leftover);
            }
        }
        let mut known = self.state.numbers();
        known.extend(self.leftovers.iter().map(|left| left.segment.number));
        let folder = Arc::clone(&self.folder);
        let finds = self.blocking(move |disk| folder.arrivals(disk, &known));
        match finds.await {
            Ok(finds) => self.take_in(finds),
            Err(reason) => tracing::warn!("cannot look into the spool's folder: {reason}"),
        }
        self.count_aside();
    }

    pub(super) fn take_in(&mut self, finds: Finds) {
        for segment in finds.segments {
            let token = segment.identity.token();
            if self.state.found(segment) {
                tracing::info!(token, "a segment in the spool's folder waits for delivery");
            }
        }
        for (file, reason) in finds.strangers {
            if self.strangers.insert(file.clone()) {
                let file = file.display();
                tracing::warn!(%file, "a file in the spool's folder is left alone: {reason}");
            }
        }
    }

    pub(super) fn count_aside(&self) {
        match aside::measure(&self.folder.aside) {
            Ok((segments, bytes)) => self.state.set_aside(segments, bytes),
            Err(reason) => tracing::warn!("cannot look at what is set aside: {reason}"),
        }
    }

    /// Does what blocks off the threads that serve connections.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Disk) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let disk = Arc::clone(&self.disk);
        let done = tokio::task::spawn_blocking(move || work(disk.as_ref()));
        done.await.map_err(io::Error::other)?
    }
}
