//! Command line arguments → one command.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::plan::{Layout, Provider};
use crate::process::Watched;
use crate::target::Names;

/// Pushes like the platforms do, measures, and proves that every acknowledged point is there once.
///
/// Exit codes: 0 all is well, 1 verification failed or nothing was accepted, 2 it could not be run.
#[derive(Debug, Parser)]
#[command(name = "loadtest", version, about, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Push to a running store, measure, verify.
    Run(RunArgs),
    /// Verify what a run noted in its state file, for example after a crash.
    Verify(VerifyArgs),
    /// Run the same pushes on Sluice and on VictoriaMetrics, both started here, and print ratios.
    Peers(PeersArgs),
    /// Make a data folder's directory.json with many tenants and keys, and a keys file for `--keys`.
    Prepare(PrepareArgs),
    /// Print a JSON report as a table, or write it as SVG.
    Render(RenderArgs),
}

/// How much is pushed.
#[derive(Clone, Debug, Args)]
pub(crate) struct SizeArgs {
    /// Whose pushes.
    pub(crate) scenario: Provider,
    /// Apps (cerebrium), machines of 8 GPUs (crusoe) or processes (sdk).
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub(crate) apps: u32,
    /// How many of them one push holds; the default is 50, for sdk 1.
    #[arg(long, value_name = "K")]
    pub(crate) apps_per_push: Option<u32>,
    /// Minutes of metric time; each app is pushed once a minute. Default 60, or what --rate and --duration need.
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<u32>,
    /// Decides every value: the same seed gives the same values.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Percent of the apps that give way to new ones, an hour of metric time.
    #[arg(long, default_value_t = 0, value_name = "PERCENT")]
    pub(crate) churn: u32,
    /// A resource an app, or one for a whole push.
    #[arg(long, value_enum, default_value_t = Layout::PerApp)]
    pub(crate) layout: Layout,
    /// Send bodies uncompressed.
    #[arg(long)]
    pub(crate) no_gzip: bool,
    /// Stands in a label of every series, so that runs on one store do not meet; default: the time.
    #[arg(long, value_name = "TEXT")]
    pub(crate) run_id: Option<String>,
    /// Time of the first round, milliseconds since the epoch; default: so that the last one is now.
    #[arg(long, value_name = "MS")]
    pub(crate) start_ms: Option<i64>,
    /// Memory for bodies, which are all made before the first is sent.
    #[arg(long, default_value_t = 4096, value_name = "MIB")]
    pub(crate) max_bodies_mib: u64,
}

/// When pushes are sent.
#[derive(Clone, Debug, Args)]
pub(crate) struct PaceArgs {
    /// Open loop: so many pushes a second, whatever the answers. Without it, closed loop: every
    /// connection as fast as it is answered.
    #[arg(long, value_name = "PUSHES_PER_S", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// How long; without it, until all rounds are pushed.
    #[arg(long, value_parser = seconds, value_name = "SECONDS")]
    pub(crate) duration: Option<Duration>,
    /// Connections: pushes at the same time at most. Default 8, with --rate 128.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) connections: Option<u32>,
    /// How long one push is tried again after a refused or broken connection, a timeout, 429 or 5xx; 0: never.
    #[arg(long, value_parser = seconds, default_value = "10", value_name = "SECONDS")]
    pub(crate) retry_for: Duration,
    /// Longest wait for an answer.
    #[arg(long, value_parser = seconds, default_value = "30", value_name = "SECONDS")]
    pub(crate) timeout: Duration,
}

/// Where to push and ask.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TargetArgs {
    /// credentials.json of `sluice up`: addresses and one tenant. Repeat it for more tenants.
    #[arg(long, value_name = "FILE")]
    pub(crate) credentials: Vec<PathBuf>,
    /// File of `loadtest prepare`: addresses and many tenants.
    #[arg(long, value_name = "FILE", conflicts_with = "credentials")]
    pub(crate) keys: Option<PathBuf>,
    /// Base of OTLP/HTTP, `/v1/metrics` is added; instead of the files, or to overrule their address.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Ingest key for --url; repeat it for more keys of the same tenant.
    #[arg(long, value_name = "KEY", env = "LOADTEST_KEY", hide_env_values = true)]
    pub(crate) key: Vec<String>,
    /// Tenant of --query-key.
    #[arg(long, value_name = "NAME", default_value = "demo")]
    pub(crate) tenant: String,
    /// Base of the Prometheus API, `/api/v1/query` is added.
    #[arg(long, value_name = "URL")]
    pub(crate) query_url: Option<String>,
    /// Query key for --query-url.
    #[arg(
        long,
        value_name = "KEY",
        env = "LOADTEST_QUERY_KEY",
        hide_env_values = true
    )]
    pub(crate) query_key: Option<String>,
    /// How the store names metrics; default: as the keys file says, or suffixed.
    #[arg(long, value_enum)]
    pub(crate) names: Option<Names>,
}

/// What is done with the outcome.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArgs {
    /// Write the report as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the report as SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// `loadtest run`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) size: SizeArgs,
    #[command(flatten)]
    pub(crate) pace: PaceArgs,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Measure CPU and memory of this process and its children. Repeat it for more.
    #[arg(long, value_name = "NAME=PID", value_parser = watched)]
    pub(crate) pid: Vec<Watched>,
    /// Note what became of each push here, for `loadtest verify`.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Do not read anything back.
    #[arg(long)]
    pub(crate) no_verify: bool,
    /// How long acknowledged points may stay invisible after the last push.
    #[arg(long, value_parser = seconds, default_value = "10", value_name = "SECONDS")]
    pub(crate) within: Duration,
    /// Also measure stored bytes: ClickHouse merges everything and says how large the whole database is,
    /// so begin with an empty one.
    #[arg(long)]
    pub(crate) stored: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// `loadtest verify`.
#[derive(Clone, Debug, Args)]
pub(crate) struct VerifyArgs {
    /// State file of `loadtest run --state`.
    pub(crate) state: PathBuf,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// How long acknowledged points may stay invisible from now on.
    #[arg(long, value_parser = seconds, default_value = "30", value_name = "SECONDS")]
    pub(crate) within: Duration,
}

/// `loadtest peers`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PeersArgs {
    #[command(flatten)]
    pub(crate) size: SizeArgs,
    #[command(flatten)]
    pub(crate) pace: PaceArgs,
    /// The sluice program.
    #[arg(long, value_name = "FILE", default_value = "target/release/sluice")]
    pub(crate) sluice: PathBuf,
    /// Folder of tools/peers.sh, with bin/victoria-metrics in it.
    #[arg(long, value_name = "DIR")]
    pub(crate) peers: PathBuf,
    /// How often each of them is run, alternating.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(crate) runs: u32,
    /// Do not read anything back.
    #[arg(long)]
    pub(crate) no_verify: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// `loadtest prepare`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PrepareArgs {
    /// The data folder that `sluice up --data-dir` will be started with; it must not have a directory yet.
    pub(crate) folder: PathBuf,
    /// Tenants, on plan `unlimited`.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) tenants: u32,
    /// Ingest keys of each.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) keys: u32,
    /// Whose profile the ingest keys have.
    #[arg(long, value_enum, default_value_t = Provider::Cerebrium)]
    pub(crate) profile: Provider,
    /// What `sluice up --port-offset` will be.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) port_offset: u16,
}

/// `loadtest render`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RenderArgs {
    /// A report of `--json`.
    pub(crate) report: PathBuf,
    /// Write SVG here instead of printing a table.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text
        .parse()
        .map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}

fn rate(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if number > 0.0 && number <= 1_000_000.0 {
        return Ok(number);
    }
    Err("a rate is more than 0 and at most 1000000".to_owned())
}

fn watched(text: &str) -> Result<Watched, String> {
    let (name, pid) = text.split_once('=').ok_or("not NAME=PID")?;
    let pid = pid.parse().map_err(|_| format!("{pid} is no process id"))?;
    Ok(Watched {
        name: name.to_owned(),
        pid,
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_option_says_what_it_does() {
        for command in Cli::command().get_subcommands() {
            for argument in command.get_arguments() {
                assert!(
                    argument.get_help().is_some(),
                    "{} {}",
                    command.get_name(),
                    argument.get_id()
                );
            }
        }
    }

    #[test]
    fn a_watched_process_is_a_name_and_an_id() {
        let it = watched("sluice=42").unwrap();
        assert_eq!((it.name.as_str(), it.pid), ("sluice", 42));
        assert!(watched("sluice").is_err() && watched("sluice=x").is_err());
    }

    #[test]
    fn a_rate_of_nothing_is_refused() {
        assert!(rate("0").is_err() && rate("-1").is_err() && rate("NaN").is_err());
        assert_eq!(rate("2.5"), Ok(2.5));
    }
}
