//! Records that wait → one group in the open segment, made durable by one fsync, and an answer for each of them.
//!
//! The writer is a thread of its own: everything it does blocks. While it waits for the disk, further records
//! gather in its queue and become the next group, so that the slower the disk, the larger the groups.

use std::io::{self, IoSlice};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::SpoolError;
use super::disk::{Disk, Output, write_all};
use super::folder::Folder;
use super::metrics::{Meters, Refusal};
use super::name;
use super::segment::{FRAME, HEADER, Identity};
use super::state::{Open, Sealed, State};

/// Most commands that are taken from the queue at once.
const ROUND: usize = 1024;

/// What the writer is asked for.
#[derive(Debug)]
pub(super) enum Command {
    Append(Append),
    /// Seal the segment of this number, if it is still open.
    Seal(u64),
    /// Seal and end.
    Stop(oneshot::Sender<()>),
}

/// A record that waits for being durable.
#[derive(Debug)]
pub(super) struct Append {
    pub(super) payload: Bytes,
    pub(super) at: Started,
    pub(super) done: oneshot::Sender<Result<(), SpoolError>>,
}

/// The bounds that the writer keeps; see [`super::Config`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) max_bytes: u64,
    pub(super) min_free_bytes: u64,
    pub(super) segment_bytes: u64,
}

/// The only one that adds to the spool.
pub(super) struct Writer {
    pub(super) folder: Arc<Folder>,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) state: Arc<State>,
    pub(super) meters: Meters,
    pub(super) bounds: Bounds,
    /// Of this process.
    pub(super) instance: [u8; 16],
    /// The greatest number in use.
    pub(super) previous: u64,
    pub(super) work: Work,
}

/// What the writer has in hand; nothing at first.
#[derive(Default)]
pub(super) struct Work {
    open: Option<Segment>,
    /// The records of the next write, and their bytes with framing.
    group: Vec<Append>,
    group_bytes: u64,
    /// A file without records that could not be removed. No other is begun before it is gone.
    abandoned: Option<PathBuf>,
}

/// The segment that is being written.
struct Segment {
    identity: Identity,
    path: PathBuf,
    file: Box<dyn Output>,
    /// Bytes known to be durable; 0 before the first group is.
    durable: u64,
}

/// When the first record of a segment was handed over.
type Started = tokio::time::Instant;

/// A step that failed, by its name in the metrics.
type Failed = (&'static str, io::Error);

impl Writer {
    /// Works until it is told to stop or nobody can append any more.
    pub(super) fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let mut round = Vec::with_capacity(ROUND);
        let mut stopped = None;
        while stopped.is_none() && commands.blocking_recv_many(&mut round, ROUND) > 0 {
            for command in round.drain(..) {
                match command {
                    Command::Append(append) if stopped.is_none() => self.take(append),
                    Command::Append(late) => answer(late, Err(SpoolError::Closed)),
                    Command::Seal(number) => self.seal_if_open(number),
                    Command::Stop(done) => stopped = Some(done),
                }
            }
            self.commit();
        }
        commands.close();
        self.seal();
        while let Some(command) = commands.blocking_recv() {
            if let Command::Append(late) = command {
                answer(late, Err(SpoolError::Closed));
            }
        }
        // With the lock on the folder, before anybody hears of the end.
        drop(self);
        if let Some(done) = stopped {
            // Whoever asked may have stopped waiting.
            done.send(()).unwrap_or_default();
        }
    }

    /// Adds a record to the group, or refuses it.
    fn take(&mut self, append: Append) {
        let frame = size(FRAME).saturating_add(size(append.payload.len()));
        if self.pending() > 0 && self.pending() + frame > self.bounds.segment_bytes {
            self.commit();
            self.seal();
        }
        let begin = if self.pending() == 0 { size(HEADER) } else { 0 };
        let bytes = self.state.bytes() + self.work.group_bytes;
        if bytes + begin + frame > self.bounds.max_bytes {
            self.refuse(append, bytes);
            return;
        }
        self.work.group.push(append);
        self.work.group_bytes += begin + frame;
        if self.pending() >= self.bounds.segment_bytes {
            self.commit();
            self.seal();
        }
    }

    /// Length of the open segment once the group is in it.
    fn pending(&self) -> u64 {
        let durable = self.work.open.as_ref().map_or(0, |open| open.durable);
        durable.saturating_add(self.work.group_bytes)
    }

    fn refuse(&self, append: Append, bytes: u64) {
        let max_bytes = self.bounds.max_bytes;
        if self.state.set_short(true) {
            tracing::error!(
                bytes,
                max_bytes,
                "the spool is full and refuses pushes until ClickHouse has taken some of it: look at `sluice spool \
                 list` and at ClickHouse, or raise gateway.spool.max_bytes"
            );
        }
        self.meters.refusal(Refusal::Full, 1);
        answer(append, Err(SpoolError::Full { bytes, max_bytes }));
    }

    /// Makes the group durable and answers each of its records.
    fn commit(&mut self) {
        let group = std::mem::take(&mut self.work.group);
        let bytes = std::mem::take(&mut self.work.group_bytes);
        let Some(first) = group.first().map(|append| append.at) else {
            return;
        };
        let outcome = match self.reserve(group.len(), bytes) {
            Ok(()) => self.write(&group, first),
            Err(low) => Err(low),
        };
        if outcome.is_ok() && self.state.set_short(false) {
            tracing::info!("the spool has room again");
        }
        for append in group {
            answer(append, outcome.clone());
        }
    }

    /// Whether `bytes` more, of so many records, leave enough of the disk free.
    fn reserve(&self, records: usize, bytes: u64) -> Result<(), SpoolError> {
        let free = self.disk.free(&self.folder.path).map_err(|source| {
            self.meters.write_error("statvfs");
            SpoolError::disk("statvfs", source)
        })?;
        let min_free_bytes = self.bounds.min_free_bytes;
        if free >= min_free_bytes.saturating_add(bytes) {
            return Ok(());
        }
        self.meters.refusal(Refusal::DiskLow, size(records));
        if self.state.set_short(true) {
            tracing::error!(
                free,
                min_free_bytes,
                "the spool's disk is nearly full and pushes are refused: make room on it"
            );
        }
        Err(SpoolError::DiskLow {
            needed: bytes,
            free,
            min_free_bytes,
        })
    }

    /// Writes and syncs the group. After an error nothing of it is in the segment.
    fn write(&mut self, group: &[Append], first: Started) -> Result<(), SpoolError> {
        let mut segment = match self.work.open.take().map_or_else(|| self.begin(), Ok) {
            Ok(segment) => segment,
            Err(failed) => return Err(self.failed(failed)),
        };
        match self.write_to(&mut segment, group) {
            Ok(written) => {
                if segment.durable == 0 {
                    let number = segment.identity.number;
                    self.state.opened(Open { number, first });
                }
                segment.durable += written;
                self.work.open = Some(segment);
                self.wrote(group.len(), written);
                Ok(())
            }
            Err(failed) => {
                self.take_back(segment, failed.0);
                Err(self.failed(failed))
            }
        }
    }

    fn wrote(&self, records: usize, bytes: u64) {
        self.state.grew(bytes);
        self.meters.records.inc_by(size(records));
        self.meters.bytes.inc_by(bytes);
        #[expect(clippy::cast_precision_loss, reason = "at most a round of records")]
        self.meters.group.observe(records as f64);
        if self.state.set_failing(false) {
            tracing::info!("the spool's disk takes records again");
        }
    }

    fn write_to(&self, segment: &mut Segment, group: &[Append]) -> Result<u64, Failed> {
        let first = segment.durable == 0;
        let header = segment.identity.header();
        let mut end = if first { size(HEADER) } else { segment.durable };
        let mut heads = Vec::with_capacity(group.len());
        for append in group {
            let head = segment.identity.head(end, &append.payload);
            heads.push(head.ok_or(("frame", io::ErrorKind::FileTooLarge.into()))?);
            end += size(FRAME) + size(append.payload.len());
        }
        let header = header.get(..).filter(|_| first);
        let frames = heads
            .iter()
            .zip(group)
            .flat_map(|(head, append)| [head.as_slice(), &append.payload]);
        let mut parts: Vec<IoSlice<'_>> =
            header.into_iter().chain(frames).map(IoSlice::new).collect();
        let file = segment.file.as_mut();
        write_all(file, &mut parts).map_err(|error| ("write", error))?;
        let begun = Instant::now();
        file.sync().map_err(|error| ("fsync", error))?;
        if first {
            let sync = self.disk.sync_folder(&self.folder.path);
            sync.map_err(|error| ("fsync_folder", error))?;
        }
        self.meters.fsync.observe(begun.elapsed().as_secs_f64());
        Ok(end - segment.durable)
    }

    fn begin(&mut self) -> Result<Segment, Failed> {
        if let Some(path) = self.work.abandoned.take() {
            self.discard(path).map_err(|error| ("remove", error))?;
        }
        let number = name::after(self.previous, SystemTime::now());
        let number = number.ok_or_else(|| ("create", io::Error::other("no number is left")))?;
        self.previous = number;
        let path = self.folder.path.join(name::open(number));
        let file = self.disk.create(&path).map_err(|error| ("create", error))?;
        let instance = self.instance;
        Ok(Segment {
            identity: Identity { instance, number },
            path,
            file,
            durable: 0,
        })
    }

    /// Brings a segment back to what was durable before `step` failed. After a failed fsync the operating system
    /// may have dropped what it could not write and say so once only: nothing is added to such a file again.
    fn take_back(&mut self, mut segment: Segment, step: &'static str) {
        if segment.durable == 0 {
            drop(segment.file);
            // Tried again before the next segment.
            drop(self.discard(segment.path));
            return;
        }
        let cut = segment.file.cut(segment.durable);
        self.work.open = Some(segment);
        if cut.is_err() || step != "write" {
            self.seal();
        }
    }

    fn discard(&mut self, path: PathBuf) -> io::Result<()> {
        match self.disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                self.work.abandoned = Some(path);
                Err(error)
            }
            _ => Ok(()),
        }
    }

    fn seal_if_open(&mut self, number: u64) {
        self.commit();
        let open = self.work.open.as_ref().map(|open| open.identity.number);
        if open == Some(number) {
            self.seal();
        }
    }

    /// Hands the open segment to delivery.
    fn seal(&mut self) {
        let Some(segment) = self.work.open.take() else {
            return;
        };
        let number = segment.identity.number;
        let mut path = self.folder.path.join(name::sealed(number));
        let renamed = self.disk.rename(&segment.path, &path);
        let renamed = renamed.map(|()| self.disk.sync_folder(&self.folder.path));
        match renamed {
            Ok(Ok(())) => {}
            // Under whichever name it comes back after a crash, it comes back.
            Ok(Err(reason)) => tracing::warn!("cannot sync the spool's folder: {reason}"),
            Err(reason) => {
                tracing::warn!(segment = %segment.path.display(), "cannot rename a segment: {reason}");
                path = segment.path;
            }
        }
        self.state.sealed(Sealed {
            number,
            path,
            identity: segment.identity,
            length: segment.durable,
            counted: false,
        });
    }

    fn failed(&self, (step, source): Failed) -> SpoolError {
        self.meters.write_error(step);
        if self.state.set_failing(true) {
            tracing::error!(
                folder = %self.folder.path.display(), step,
                "the spool's disk fails and pushes are refused until it takes them: {source}"
            );
        }
        SpoolError::disk(step, source)
    }
}

fn answer(append: Append, outcome: Result<(), SpoolError>) {
    // Nobody listens any more when the push's task was dropped.
    drop(append.done.send(outcome));
}

fn size(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
