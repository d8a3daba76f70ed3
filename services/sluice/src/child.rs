//! The embedded ClickHouse as a child process: started, watched, restarted, ended with its parent.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use clickhouse::Client;
use runtime::admin::Readiness;
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

/// The name of this part on `/readyz`.
const PART: &str = "clickhouse";
/// Longest wait for the engine to answer its first query (it may have to recover a large folder).
const START_LIMIT: Duration = Duration::from_secs(120);
/// Longest wait for it to end when told to.
const STOP_LIMIT: Duration = Duration::from_secs(8);
/// Pause before it is started again after it died.
const RESTART_PAUSE: Duration = Duration::from_secs(1);
/// Pause between two attempts to reach it.
const POLL: Duration = Duration::from_millis(50);

/// How to start the engine and reach it.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Arguments after `sluice clickhouse`.
    pub arguments: Vec<String>,
    /// The configuration file to pass on.
    pub config: Option<PathBuf>,
    /// A client of the engine, without a database.
    pub client: Client,
    /// Where its state shows.
    pub readiness: Readiness,
}

impl Engine {
    /// Starts the engine and waits until it answers.
    ///
    /// # Errors
    /// When it cannot be started, ends at once (its own words are on standard error), or does not answer.
    pub async fn start(&self) -> anyhow::Result<Child> {
        self.readiness.waiting(PART, "starting");
        let mut child = self.command()?.spawn().context("cannot start the ClickHouse engine")?;
        let started = tokio::time::timeout(START_LIMIT, self.until_it_answers(&mut child)).await;
        started.context("the ClickHouse engine does not answer")??;
        self.readiness.ready(PART);
        Ok(child)
    }

    /// Watches `child` until `stop`, starting it again whenever it dies; then ends it.
    pub async fn supervise(self, mut child: Child, stop: CancellationToken) {
        while !stop.is_cancelled() {
            tokio::select! {
                () = stop.cancelled() => {}
                ended = child.wait() => {
                    let status = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
                    tracing::error!("the ClickHouse engine died ({status}); starting it again");
                    self.readiness.waiting(PART, "died, starting again");
                    match self.start_again(&stop).await {
                        Some(next) => child = next,
                        None => return,
                    }
                }
            }
        }
        end(child).await;
    }

    async fn start_again(&self, stop: &CancellationToken) -> Option<Child> {
        loop {
            tokio::select! {
                () = stop.cancelled() => return None,
                () = tokio::time::sleep(RESTART_PAUSE) => {}
            }
            match self.start().await {
                Ok(child) => return Some(child),
                Err(error) => tracing::error!("cannot restart the ClickHouse engine: {error:#}"),
            }
        }
    }

    fn command(&self) -> anyhow::Result<Command> {
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        let mut command = Command::new(program);
        command.arg("clickhouse").arg("--stop-with-stdin").args(&self.arguments);
        if let Some(config) = &self.config {
            command.arg("--config").arg(config);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::null()).kill_on_drop(true);
        Ok(command)
    }

    async fn until_it_answers(&self, child: &mut Child) -> anyhow::Result<()> {
        loop {
            if let Some(status) = child.try_wait()? {
                bail!("the ClickHouse engine ended at once ({status}); the lines above say why");
            }
            if schemas::connect::ping(&self.client).await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

/// Ends the engine: closes its standard input, which it takes as the order to stop, and waits.
async fn end(mut child: Child) {
    drop(child.stdin.take());
    if tokio::time::timeout(STOP_LIMIT, child.wait()).await.is_err() {
        tracing::warn!("the ClickHouse engine did not stop in {STOP_LIMIT:?} and was killed; its data is safe on disk");
        if let Err(error) = child.kill().await {
            tracing::error!("cannot kill the ClickHouse engine: {error}");
        }
    }
}
