//! Records → durable on local disk, and from there, in order, to whoever stores them for good.
//!
//! A record is what one push leaves behind; the spool does not look into it. Records are appended to segment
//! files ([`segment`] has their format). A segment is the unit of delivery: one [`Deliver::deliver`] under one
//! token, which means one INSERT a table and partition.
//!
//! **States of a segment.** Each is visible in the folder, so that a new process goes on where the last one ended:
//!
//! | file | state | leaves it by |
//! |---|---|---|
//! | `NUMBER.open` | being written: groups of records are added, each made durable by one fsync before any of its pushes is answered | size, or age while no older segment waits; stop; a failed fsync; the next start |
//! | `NUMBER.seg` | sealed: waits for its turn, oldest first, tried until it is taken | delivered: the file is removed. Refused `poison_tries` times: set aside |
//! | `aside/NUMBER.seg` | set aside, with `NUMBER.json` that says why; it holds up nothing | an operator: `sluice spool retry` or `drop` |
//!
//! `NUMBER` is the time of creation in microseconds, 16 hex digits, or one more than the greatest number in the
//! folder. The token is the number and the *instance*, 128 random bits that every process makes at its start: it is never
//! used twice, not even by a machine whose clock went back or whose folder was emptied. It is in the file, so a segment
//! that is delivered again, after a crash or by an operator, has the token it had.
//!
//! **What survives what.**
//!
//! | when | then |
//! |---|---|
//! | the process is killed, the machine loses power | every record that was acknowledged is delivered after the next start; half a group at the end of the open segment is cut off |
//! | killed between a delivery and the removal of its file | the segment is delivered again under its token; nothing is doubled as far as the storage knows tokens |
//! | one bit flips on disk | at most one record is lost, counted and logged with its place; its neighbours are delivered |
//! | disk full, I/O errors, read-only file system | every record of the group is refused ([`SpoolError`]), and the segment is brought back to what was durable; after a failed fsync it is closed for good. Delivery goes on. Writing is tried again with every push |
//! | `max_bytes` reached, less than `min_free_bytes` free | records are refused before anything is written; delivery makes room |
//! | storage away | segments wait, and are sealed by size only, so that the INSERTs of a long queue are large |
//! | storage refuses a segment, or panics at it | set aside after `poison_tries`; those behind it go on |
//! | a segment's file cannot be read | passed over after `poison_tries` until it can be; those behind it go on |
//! | a file that is no segment, or of another format version | left alone and named in the log |
//!
//! **Not covered.** A disk that loses what it reported durable, and a damaged record, are found and counted, not
//! repaired: a spool is one copy. Records refused after an error may still be found by the next start when the machine
//! fails at that moment; senders send them again anyway.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use runtime::metrics::Metrics;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

mod config;
pub mod segment;
mod name;
mod disk;
mod folder;
mod state;
mod writer;
mod backoff;
mod deliver;
mod delivery;
mod aside;
pub mod admin;
mod metrics;

pub use aside::Note;
pub use config::Config;
pub use deliver::{Deliver, DeliveryFault, FaultKind};
pub use delivery::Delivery;
pub use folder::OpenError;

use delivery::{Pace, Stop};
use disk::{Disk, Local};
use folder::{Finds, Folder};
use metrics::{Meters, Refusal};
use state::State;
use writer::{Append, Bounds, Command, Work, Writer};

/// Records that may wait for the writer; further ones wait for a place. Requests in flight are bounded before.
const QUEUE: usize = 1024;

/// How long the last group may take to be written when the spool is closed; a disk that hangs takes longer.
const LAST_WRITE: Duration = Duration::from_secs(5);

/// Parts of ten of `max_bytes` from which on the spool is nearly full.
const NEARLY: u64 = 9;

/// Why a record was not taken. Nothing of it will be delivered, unless it says otherwise.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SpoolError {
    /// The segments that wait and those set aside leave no room for it: 503.
    #[error("the spool is full: {bytes} of {max_bytes} bytes are taken")]
    Full {
        /// Bytes of all segments.
        bytes: u64,
        /// The setting.
        max_bytes: u64,
    },
    /// The disk is nearly full, with whatever: 503.
    #[error(
        "the spool's disk is nearly full: {free} bytes are free, {needed} are needed beside {min_free_bytes}"
    )]
    DiskLow {
        /// Bytes of the record and those written with it.
        needed: u64,
        /// Bytes that could be written.
        free: u64,
        /// The setting.
        min_free_bytes: u64,
    },
    /// It is larger than any record may be: 413.
    #[error("a record of {bytes} bytes is larger than gateway.spool.max_record_bytes, {limit}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The setting.
        limit: u64,
    },
    /// The disk fails: 503.
    #[error("the spool's disk failed at {step}")]
    Disk {
        /// What it failed at.
        step: &'static str,
        /// What the operating system says.
        source: Arc<io::Error>,
    },
    /// The spool is closed, the gateway stops: 503.
    #[error("the spool is closed")]
    Closed,
}

impl SpoolError {
    fn disk(step: &'static str, source: io::Error) -> Self {
        let source = Arc::new(source);
        Self::Disk { step, source }
    }
}

/// What a spool holds at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Segments not delivered, the one being written included.
    pub segments: usize,
    /// Bytes of all segments, those set aside included.
    pub bytes: u64,
    /// The bound on `bytes`.
    pub max_bytes: u64,
    /// Segments set aside.
    pub aside_segments: u64,
    /// Age of the oldest record not delivered; zero when all are.
    pub lag: Duration,
    /// Whether the last record was refused for want of room or because the disk failed.
    pub refusing: bool,
}

impl Waiting {
    /// Whether new pushes should rather go elsewhere: nine tenths are taken, or the last record was refused.
    #[must_use]
    pub fn nearly_full(&self) -> bool {
        self.refusing || self.bytes >= self.max_bytes / 10 * NEARLY
    }
}

/// What a closed spool leaves on disk for the next start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Segments not delivered.
    pub segments: usize,
    /// Bytes of all segments, those set aside included.
    pub bytes: u64,
}

/// The half of a spool that fills it; cheap to clone.
#[derive(Clone, Debug)]
pub struct Spool {
    writer: mpsc::Sender<Command>,
    state: Arc<State>,
    meters: Meters,
    max_record_bytes: u64,
    max_bytes: u64,
    drain: CancellationToken,
    abort: CancellationToken,
    ended: CancellationToken,
}

impl Spool {
    /// Opens the spool in `config.dir`, made where it is missing, with whatever segments are left in it. Nothing is
    /// delivered before [`Delivery::run`], which has to run beside the spool until [`Spool::close`].
    ///
    /// # Errors
    /// [`OpenError`] when the folder cannot be used or another process uses it.
    pub async fn open(config: &Config, metrics: &Metrics) -> Result<(Self, Delivery), OpenError> {
        Self::open_on(config, metrics, Arc::new(Local)).await
    }

    async fn open_on(
        config: &Config,
        metrics: &Metrics,
        disk: Arc<dyn Disk>,
    ) -> Result<(Self, Delivery), OpenError> {
        let (config, metrics) = (config.clone(), metrics.clone());
        let opened = tokio::task::spawn_blocking(move || open(&config, &metrics, disk));
        let stopped = |error| OpenError::System("a thread", io::Error::other(error));
        opened.await.map_err(stopped)?
    }

    /// Stores a record; it is on disk when this answers `Ok`. Records of pushes at the same time share an fsync.
    ///
    /// Dropping the future does not take the record back.
    ///
    /// # Errors
    /// [`SpoolError`]: the record must not be acknowledged.
    pub async fn append(&self, payload: Bytes) -> Result<(), SpoolError> {
        let bytes = u64::try_from(payload.len()).unwrap_or(u64::MAX);
        let limit = self.max_record_bytes;
        if bytes > limit {
            self.meters.refusal(Refusal::TooLarge, 1);
            return Err(SpoolError::TooLarge { bytes, limit });
        }
        let (done, answer) = oneshot::channel();
        let at = Instant::now();
        let append = Command::Append(Append { payload, at, done });
        let sent = self.writer.send(append).await;
        sent.map_err(|_| SpoolError::Closed)?;
        answer.await.unwrap_or(Err(SpoolError::Closed))
    }

    /// What the spool holds now.
    #[must_use]
    pub fn waiting(&self) -> Waiting {
        let state = &self.state;
        Waiting {
            segments: state.segments(),
            bytes: state.bytes(),
            max_bytes: self.max_bytes,
            aside_segments: state.aside_segments(),
            lag: state.lag(SystemTime::now()).unwrap_or_default(),
            refusing: state.short() || state.failing(),
        }
    }

    /// Takes no more records and delivers what is left, for at most `limit` and until `cut` is cancelled; a delivery
    /// in work is dropped then. What is not delivered stays on disk.
    pub async fn close(&self, limit: Duration, cut: &CancellationToken) -> Left {
        let sealed = async {
            let (done, sealed) = oneshot::channel();
            if self.writer.send(Command::Stop(done)).await.is_ok() {
                // An error says that the writer has ended, which is what is waited for.
                drop(sealed.await);
            }
        };
        if tokio::time::timeout(LAST_WRITE, sealed).await.is_err() {
            tracing::error!(
                "the spool's disk does not answer; what it holds is there at the next start"
            );
        }
        self.drain.cancel();
        tokio::select! {
            () = self.ended.cancelled() => {}
            () = cut.cancelled() => {}
            () = tokio::time::sleep(limit) => {}
        }
        self.abort.cancel();
        self.ended.cancelled().await;
        Left {
            segments: self.state.segments(),
            bytes: self.state.bytes(),
        }
    }
}

fn open(
    config: &Config,
    metrics: &Metrics,
    disk: Arc<dyn Disk>,
) -> Result<(Spool, Delivery), OpenError> {
    let folder = Arc::new(Folder::open(&config.dir)?);
    let failed = |source| OpenError::Folder {
        path: config.dir.clone(),
        source,
    };
    let state = Arc::new(State::default());
    let meters = Meters::register(metrics, Arc::clone(&state));
    let finds = folder.recover(disk.as_ref(), &meters).map_err(failed)?;
    let previous = folder.newest().map_err(failed)?;
    let mut instance = [0; 16];
    let random = getrandom::fill(&mut instance);
    random.map_err(|error| OpenError::System("random numbers", io::Error::from(error)))?;

    let (commands, queue) = mpsc::channel(QUEUE);
    let writer = Writer {
        folder: Arc::clone(&folder),
        disk: Arc::clone(&disk),
        state: Arc::clone(&state),
        meters: meters.clone(),
        bounds: Bounds {
            max_bytes: config.max_bytes.as_u64(),
            min_free_bytes: config.min_free_bytes.as_u64(),
            segment_bytes: config.segment_bytes.as_u64(),
        },
        instance,
        previous,
        work: Work::default(),
    };
    let thread = std::thread::Builder::new().name("spool-writer".to_owned());
    thread
        .spawn(move || writer.run(queue))
        .map_err(|error| OpenError::System("a thread", error))?;

    let spool = Spool {
        writer: commands,
        state,
        meters,
        max_record_bytes: config.max_record_bytes.as_u64(),
        max_bytes: config.max_bytes.as_u64(),
        drain: CancellationToken::new(),
        abort: CancellationToken::new(),
        ended: CancellationToken::new(),
    };
    let delivery = spool.delivery(config, folder, disk, finds);
    Ok((spool, delivery))
}

impl Spool {
    fn delivery(
        &self,
        config: &Config,
        folder: Arc<Folder>,
        disk: Arc<dyn Disk>,
        finds: Finds,
    ) -> Delivery {
        let mut delivery = Delivery {
            folder,
            disk,
            state: Arc::clone(&self.state),
            meters: self.meters.clone(),
            writer: self.writer.downgrade(),
            seal_after: config.seal_after,
            poison_tries: config.poison_tries,
            pace: Pace::default(),
            leftovers: Vec::new(),
            strangers: BTreeSet::new(),
            stop: Stop {
                drain: self.drain.clone(),
                abort: self.abort.clone(),
                _ended: self.ended.clone().drop_guard(),
            },
        };
        delivery.take_in(finds);
        delivery.count_aside();
        delivery
    }
}

#[cfg(test)]
mod tests;
