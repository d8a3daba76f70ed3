//! A data folder and an address → ClickHouse's HTTP interface, served by ClickHouse itself as a library.
//!
//! A request becomes a call (`http::call`), with its body a task (`http::intake`), the task waits for a session
//! (`pool`), the session asks the library (`ffi`), and what comes back goes out as it comes (`http::reply`).
//! README.md beside this crate says what of ClickHouse's interface is served and what is refused.
//!
//! What was found by trying library 26.7.3 (ClickHouse 26.7.2.1):
//!
//! - A process has one engine and one folder; sessions on it are cheap (0.6 ms) and run in parallel. The engine
//!   ends with its last session and crashed in 1 of 15 such ends, so one session stays open for ever.
//! - **Nothing of the server's settings persists.** Options given at start last as long as the process; SET
//!   lasts as long as the session. Sessions are reused here, so each is set to what a request asks for by one
//!   SET of the difference, and thrown away after statements that leave something behind.
//! - **Background merges run** (two threads), TTLs with them; parts of an insert every few milliseconds are
//!   merged as on a server. There are no `system.*_log` tables.
//! - **Memory**: 230 MB resident when idle, 270–510 MB after inserts of a million rows; the limit for everything
//!   together is 90 % of the machine unless `max_memory` says otherwise.
//! - A `SELECT 1` costs about 2 ms of CPU inside the library and a small SELECT from a MergeTree 4 ms, however it
//!   is asked; a SET 0.4 ms.
//! - The library names statements itself. Ids of clients are carried in a comment at the end of the statement,
//!   which is what KILL QUERY and the cancelling of abandoned statements look for.
//! - SELECT in blocks repeats the head of the format in each block, so only formats without an end come that
//!   way (Native and RowBinary, the fast ones); all others are written by the engine into a pipe.
//! - Data of finished INSERTs survive `kill -9`; nothing is fsynced unless `fsync_after_insert` is set on a table.
//! - **It reads standard input** with every INSERT and makes it non-blocking, so it gets an empty one. Who needs
//!   the process' own keeps a duplicate of it.
//! - Leaving the process in the ordinary way hangs: see [`exit_now`].

mod config;
mod error;
mod folder;
mod library;
mod http;
mod data;
mod sql;
mod pool;
mod exception;
mod ffi;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use runtime::serve::Running;
use runtime::tasks::Tasks;
use tokio_util::sync::CancellationToken;

pub use config::Config;
pub use error::EmbeddedError;
pub use ffi::exit_now;
pub use folder::until_free;
pub use library::{ENGINE_VERSION, library_path};

use ffi::{Engine, Text};
use folder::Folder;
use pool::{Opening, Pool};

/// How long requests in flight may take to end once their statements are killed.
const GRACE: Duration = Duration::from_secs(3);

/// How long sessions may take to close after that.
const CLOSING: Duration = Duration::from_secs(1);

/// Opens the folder, starts the engine and serves until `stop` is cancelled; then kills what runs. `done` ends
/// within five seconds of that, and the caller must then leave the process by [`exit_now`].
///
/// # Errors
/// [`EmbeddedError`]; where the engine had been loaded already the process must be left by [`exit_now`] too.
pub async fn run(config: Config, stop: CancellationToken) -> Result<Running, EmbeddedError> {
    if !config.listen.ip().is_loopback() && !config.allow_remote {
        return Err(EmbeddedError::NotLoopback(config.listen));
    }
    let library = library_path(config.engine.clone())?;
    let folder = Folder::open(&config.data_dir)?;
    ffi::close_stdin().map_err(EmbeddedError::Stdin)?;
    let opened = {
        let (path, memory) = (folder.path().to_owned(), config.max_memory.as_u64());
        tokio::task::spawn_blocking(move || open(&library, &path, memory))
    };
    let (opening, about) = opened.await.map_err(|panic| EmbeddedError::Start {
        path: config.data_dir.clone(),
        reason: panic.to_string(),
    })??;
    let pool = Pool::start(opening, config.connections, config.max_queued)
        .map_err(EmbeddedError::Threads)?;
    let pool = Arc::new(pool);
    tracing::info!(version = about.version, folder = %folder.path().display(), "ClickHouse is open");
    let router = http::router(http::App {
        pool: Arc::clone(&pool),
        about: Arc::new(about),
        max_body: config.max_body.as_u64(),
    });
    let serving =
        runtime::serve::http("clickhouse", config.listen, router, stop.clone(), GRACE).await?;
    let address = serving.address;
    let done = Tasks::new().spawn("clickhouse", async move {
        stop.cancelled().await;
        pool.cancel_all();
        if serving.done.await.is_err() {
            tracing::error!("the HTTP interface of ClickHouse panicked");
        }
        let closed = tokio::task::spawn_blocking(move || pool.close(CLOSING)).await;
        if !matches!(closed, Ok(true)) {
            tracing::warn!("not every ClickHouse session closed within {CLOSING:?}");
        }
        // The engine works in the folder until the process ends, so nobody else may have it before that.
        std::mem::forget(folder);
    });
    Ok(Running { address, done })
}

/// Loads the library, starts the engine on `folder` and asks it what it is.
fn open(
    library: &Path,
    folder: &Path,
    memory: u64,
) -> Result<(Opening, http::About), EmbeddedError> {
    let refused = |reason: String| EmbeddedError::Start {
        path: folder.to_owned(),
        reason,
    };
    // A program on the command line may leave out SELECT and look into the engine; clients of a server may not.
    let mut options = vec![
        "--implicit_select=0".to_owned(),
        "--allow_introspection_functions=0".to_owned(),
    ];
    if memory > 0 {
        options.push(format!("--max_server_memory_usage={memory}"));
    }
    let opening = Opening {
        engine: Engine::load(library)?,
        folder: folder.to_owned(),
        options,
    };
    let mut session = opening.session().ok_or_else(|| {
        refused("it gives no reason; is the folder that of another version?".to_owned())
    })?;
    let facts = session
        .query(Text {
            sql: b"SELECT version(), timezone()",
            format: "TabSeparated",
            params: &[],
        })
        .map_err(refused)?;
    let facts = String::from_utf8_lossy(facts.as_ref()).into_owned();
    let (version, timezone) = facts
        .trim_end()
        .split_once('\t')
        .ok_or_else(|| refused("it does not say its version".to_owned()))?;
    let about = http::About {
        version: version.to_owned(),
        timezone: timezone.to_owned(),
    };
    // The engine would end with its last session, which is not safe (see the head of this file). This one stays.
    std::mem::forget(session);
    Ok((opening, about))
}
