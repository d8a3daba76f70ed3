//! Tasks from any number of requests → a fixed number of sessions, each with a thread of its own.
//!
//! A request first takes a place (without one it is refused at once), then waits for a session in order of
//! arrival, and holds both until its statement has ended. A client that goes away while it waits costs
//! nothing; one that goes away later has its statement killed.

mod ticket;
mod desk;
mod canceller;

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, mpsc};

use crate::exception::Exception;
use crate::ffi::{Engine, Session, Totals};
use canceller::Canceller;
use desk::{Desk, Order};
use ticket::{Registered, Ticket};

pub(crate) use desk::{Context, Output, Task};

/// Blocks of output that may wait for a slow client before the engine waits.
const PARTS_AHEAD: usize = 2;

/// Bytes read from a pipe at once.
const PIPE_READ: usize = 64 * 1024;

/// How sessions are opened.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub(crate) engine: Arc<Engine>,
    pub(crate) folder: PathBuf,
    pub(crate) options: Vec<String>,
}

impl Opening {
    /// A new session with ClickHouse's defaults.
    pub(crate) fn session(&self) -> Option<Session> {
        self.engine.connect(&self.folder, &self.options)
    }
}

/// What the threads share.
#[derive(Debug)]
struct Shared {
    opening: Opening,
    idle: Mutex<Vec<desk::Idle>>,
    running: ticket::Running,
    stopping: AtomicBool,
}

/// All sessions.
#[derive(Debug)]
pub(crate) struct Pool {
    shared: Arc<Shared>,
    places: Arc<Semaphore>,
    sessions: Arc<Semaphore>,
    canceller: Canceller,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// The right to be served, held from the first byte of a request to the last of its answer.
#[derive(Debug)]
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
}

impl Pool {
    /// Starts `connections` threads and allows `queued` requests more than those to wait.
    pub(crate) fn start(
        opening: Opening,
        connections: usize,
        queued: usize,
    ) -> std::io::Result<Self> {
        let connections = connections.max(1);
        let canceller = Canceller::start(opening.clone())?;
        let shared = Arc::new(Shared {
            opening,
            idle: Mutex::default(),
            running: Arc::new(Mutex::new(HashMap::new())),
            stopping: AtomicBool::new(false),
        });
        let threads = (0..connections)
            .map(|number| Desk::start(number, Arc::clone(&shared)))
            .collect::<std::io::Result<Vec<_>>>()?;
        Ok(Self {
            shared,
            places: Arc::new(Semaphore::new(connections.saturating_add(queued))),
            sessions: Arc::new(Semaphore::new(connections)),
            canceller,
            threads: Mutex::new(threads),
        })
    }

    /// Takes a place.
    ///
    /// # Errors
    /// 202 when all are taken or the server is stopping.
    pub(crate) fn place(&self) -> Result<Place, Exception> {
        if self.shared.stopping.load(Ordering::Acquire) {
            return Err(stopping());
        }
        match Arc::clone(&self.places).try_acquire_owned() {
            Ok(permit) => Ok(Place { _permit: permit }),
            Err(TryAcquireError::NoPermits) => Err(Exception::overloaded(
                "Too many simultaneous queries: every session is busy and the queue is full; try again later",
            )),
            Err(TryAcquireError::Closed) => Err(stopping()),
        }
    }

    /// Waits for a session and gives it the task.
    ///
    /// # Errors
    /// 216 when a statement with this id is running, 202 when the server is stopping.
    pub(crate) async fn run(&self, place: Place, mut task: Task) -> Result<Answer, Exception> {
        let ticket = Ticket::new(&task.query_id);
        let registered = Registered::new(&self.shared.running, &ticket)?;
        let session = Arc::clone(&self.sessions)
            .acquire_owned()
            .await
            .map_err(|_| stopping())?;
        let pipe = match &mut task.output {
            Output::Pipe(sink) => {
                let (ours, theirs) = open_pipe().map_err(|error| no_pipe(&error))?;
                *sink = Some(theirs);
                Some(ours)
            }
            Output::Blocks | Output::Whole => None,
        };
        let (sender, parts) = mpsc::channel(PARTS_AHEAD);
        let answer = Answer {
            parts,
            pipe,
            ticket: Arc::clone(&ticket),
            canceller: self.canceller.clone(),
            _place: place,
        };
        let order = Order::Run(Box::new(desk::Assignment {
            task,
            ticket,
            parts: sender,
            _registered: registered,
            session,
        }));
        desk::give(&self.shared, order).map_err(|_| stopping())?;
        Ok(answer)
    }

    /// Refuses new requests and kills every statement.
    pub(crate) fn cancel_all(&self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.places.close();
        self.sessions.close();
        for ticket in lock(&self.shared.running).values() {
            ticket.cancel(&self.canceller);
        }
    }

    /// Closes the sessions; waits for at most `limit`. Whether all are closed.
    pub(crate) fn close(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        self.cancel_all();
        let mut threads = std::mem::take(&mut *lock(&self.threads));
        loop {
            // A busy one sees the flag when it is done.
            for idle in lock(&self.shared.idle).drain(..) {
                idle.stop();
            }
            threads.retain(|thread| !thread.is_finished());
            if threads.is_empty() {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }
}

fn stopping() -> Exception {
    Exception::overloaded("The server is stopping")
}

fn no_pipe(error: &std::io::Error) -> Exception {
    Exception::new(
        74,
        "CANNOT_READ_FROM_FILE_DESCRIPTOR",
        &format!("cannot open a pipe to the engine: {error}"),
    )
}

fn open_pipe() -> std::io::Result<(pipe::Receiver, OwnedFd)> {
    let (theirs, ours) = pipe::pipe()?;
    Ok((ours, theirs.into_blocking_fd()?))
}

/// A lock whose holder panicked guards data that are still whole: each change here is one insertion or removal.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A piece of an answer.
#[derive(Debug)]
pub(crate) enum Part {
    /// Output.
    Data(Bytes),
    /// The end: all output was given.
    Done(Totals),
    /// The end: the statement failed.
    Failed(Exception),
}

/// The output of a statement, as it comes. Dropped before its end it kills the statement.
#[derive(Debug)]
pub(crate) struct Answer {
    parts: mpsc::Receiver<Part>,
    pipe: Option<pipe::Receiver>,
    ticket: Arc<Ticket>,
    canceller: Canceller,
    _place: Place,
}

impl Answer {
    /// The next part; after `Done` or `Failed` there is none to wait for.
    pub(crate) async fn next(&mut self) -> Part {
        if let Some(pipe) = &mut self.pipe {
            let mut read = BytesMut::with_capacity(PIPE_READ);
            match pipe.read_buf(&mut read).await {
                Ok(length) if length > 0 => return Part::Data(read.freeze()),
                Ok(_) | Err(_) => self.pipe = None,
            }
        }
        let lost = || {
            Part::Failed(Exception::from_engine(
                "the session ended before its statement",
            ))
        };
        self.parts.recv().await.unwrap_or_else(lost)
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.ticket.cancel(&self.canceller);
    }
}
