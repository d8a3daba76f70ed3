//! Command line arguments → one command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Multi-tenant gateway: OTLP in, PromQL out, ClickHouse underneath.
#[derive(Debug, Parser)]
#[command(name = "sluice", version, about, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run every role in one place, with ClickHouse inside, on this machine.
    Up(ServiceArgs),
    /// Run the gateway: takes OTLP, writes to ClickHouse.
    Gateway(ServiceArgs),
    /// Run the query service: answers PromQL from ClickHouse.
    Query(ServiceArgs),
    /// Run ClickHouse as a library behind its HTTP interface.
    Clickhouse(ClickhouseArgs),
    /// Bring the database at clickhouse.url to this version's schema.
    Migrate(ServiceArgs),
    /// Send an OTLP/JSON file to a gateway.
    Push(PushArgs),
    /// Look at keys and make them.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Look at what a gateway has accepted and ClickHouse has not taken yet.
    #[command(subcommand)]
    Spool(SpoolCommand),
}

/// What every service understands.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServiceArgs {
    /// Configuration file (TOML); the built-in reference is deploy/config/sluice.toml.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Folder for everything durable on this machine.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Added to every port, so that several instances fit on one machine.
    #[arg(long, value_name = "N")]
    pub(crate) port_offset: Option<u16>,
    /// Check the configuration, say what is wrong with it, and stop.
    #[arg(long)]
    pub(crate) check_config: bool,
}

/// Arguments of `sluice clickhouse`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ClickhouseArgs {
    /// What every service understands.
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
    /// Ignore signals and stop when standard input ends: how `sluice up` ties the engine to itself.
    #[arg(long, hide = true)]
    pub(crate) stop_with_stdin: bool,
}

/// Arguments of `sluice push`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PushArgs {
    /// File with one OTLP/JSON export request; `-` reads standard input.
    pub(crate) file: PathBuf,
    /// Ingest key.
    #[arg(long, env = "SLUICE_KEY", hide_env_values = true)]
    pub(crate) key: String,
    /// Gateway's base URL; `/v1/metrics` or `/v1/logs` is added.
    #[arg(long, env = "SLUICE_URL", default_value = "http://127.0.0.1:4318")]
    pub(crate) url: String,
    /// Move every timestamp by one offset so that the latest becomes now.
    #[arg(long)]
    pub(crate) shift_to_now: bool,
}

/// `sluice keys …`.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Say what a key is and whether it was copied whole. Works offline and sends nothing.
    Inspect {
        /// The key.
        key: String,
    },
    /// Make a key.
    Generate {
        /// Make it here without asking anybody; it works nowhere until it is installed, for example as
        /// the first operator's key.
        #[arg(long, required = true)]
        offline: bool,
        /// What the key is for.
        #[arg(long, value_enum, default_value_t = ClassArg::Ingest)]
        class: ClassArg,
    },
}

/// `sluice spool …`; a gateway may run on the same folder meanwhile.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum SpoolCommand {
    /// List the segments that wait for ClickHouse and those that were set aside.
    List {
        /// Which spool.
        #[command(flatten)]
        service: ServiceArgs,
        /// How to print the list.
        #[arg(short, long, value_enum, default_value_t = OutputArg::Table)]
        output: OutputArg,
    },
    /// Put a segment that was set aside back into the queue.
    Retry(SegmentArgs),
    /// Delete a segment that was set aside; its points are lost.
    Drop(SegmentArgs),
}

/// A segment of a spool.
#[derive(Clone, Debug, Args)]
pub(crate) struct SegmentArgs {
    /// Which spool.
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
    /// Name of the segment, as `sluice spool list` shows it.
    pub(crate) segment: String,
}

/// Forms of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputArg {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// Key classes by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClassArg {
    /// Pushes telemetry.
    Ingest,
    /// Reads it back.
    Query,
    /// Administers a tenant or the installation.
    Admin,
}
