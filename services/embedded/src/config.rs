//! The `[clickhouse]` section of the configuration → where the embedded server keeps its data and how much it may use.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use bytesize::ByteSize;
use serde::{Deserialize, Serialize};

/// How the embedded ClickHouse runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Folder of all tables; created with mode 0700. One process at a time may use it.
    pub data_dir: PathBuf,
    /// Address of the HTTP interface. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Path of `libchdb.so`. Without it: where `deploy/engine` puts the pinned version.
    pub engine: Option<PathBuf>,
    /// Statements that run at the same time, each in a session and a thread of its own.
    pub connections: usize,
    /// Statements that may wait for a session. One more is answered 503.
    pub max_queued: usize,
    /// Largest request body. One byte more is answered 413.
    pub max_body: ByteSize,
    /// Memory of the engine, all statements and merges together; 0 is the engine's own 90 % of the machine.
    pub max_memory: ByteSize,
    /// Listen on an address that other machines can reach. Credentials are not checked, so whoever
    /// reaches the port may read and change everything.
    pub allow_remote: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("data/clickhouse"),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8123)),
            engine: None,
            connections: 8,
            max_queued: 128,
            max_body: ByteSize::mib(256),
            max_memory: ByteSize::b(0),
            allow_remote: false,
        }
    }
}
