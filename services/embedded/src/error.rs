//! What keeps the embedded server from starting → a sentence that says what to do.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Why the embedded server could not start.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// The address is reachable from other machines and that was not asked for.
    #[error(
        "{0} can be reached from other machines and credentials are not checked here; \
         listen on 127.0.0.1, or set allow_remote where the network itself is closed"
    )]
    NotLoopback(SocketAddr),
    /// The data folder cannot be made or opened.
    #[error("cannot use {} as data folder", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Another process works on the data folder.
    #[error(
        "data folder {} is in use by process {owner}; stop that process or choose another folder",
        path.display()
    )]
    InUse {
        /// The folder.
        path: PathBuf,
        /// Its process id, or a question mark when it has not written it yet.
        owner: String,
    },
    /// The engine's standard input cannot be emptied.
    #[error("cannot replace standard input by /dev/null")]
    Stdin(#[source] std::io::Error),
    /// The engine library is not installed.
    #[error("the ClickHouse library is not at {}; run deploy/engine to install it", .0.display())]
    NoLibrary(PathBuf),
    /// The engine library is there and cannot be used.
    #[error("cannot load the ClickHouse library {}; run deploy/engine again", path.display())]
    Library {
        /// The file.
        path: PathBuf,
        /// What the loader said.
        source: libloading::Error,
    },
    /// The engine refused to open the folder.
    #[error("ClickHouse cannot open data folder {}: {reason}", path.display())]
    Start {
        /// The folder.
        path: PathBuf,
        /// What the engine said.
        reason: String,
    },
    /// No thread for a session.
    #[error("cannot start the threads of the ClickHouse sessions")]
    Threads(#[source] std::io::Error),
    /// The address is taken.
    #[error(transparent)]
    Listen(#[from] runtime::serve::BindError),
}
