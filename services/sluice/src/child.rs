//! The embedded ClickHouse as a child process: started, watched, restarted, ended with its parent.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use clickhouse::Client;
use runtime::admin::Readiness;
use tokio::process::{Child, ChildStdin, Command};
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
pub(crate) struct Engine {
    /// Arguments after `sluice clickhouse`.
    pub(crate) arguments: Vec<String>,
    /// The configuration file to pass on.
    pub(crate) config: Option<PathBuf>,
    /// A client of the engine, without a database.
    pub(crate) client: Client,
    /// Where its state shows.
    pub(crate) readiness: Readiness,
}

/// The engine's process, and the end of the pipe that keeps it alive. The pipe is held apart from the
/// process because waiting for a process closes the pipe to it.
#[derive(Debug)]
pub(crate) struct Running {
    process: Child,
    leash: Option<ChildStdin>,
}

impl Engine {
    /// Starts the engine and waits until it answers.
    ///
    /// # Errors
    /// When it cannot be started, ends at once (its own words are on standard error), or does not answer.
    pub(crate) async fn start(&self) -> anyhow::Result<Running> {
        self.readiness.waiting(PART, "starting");
        let mut process = self
            .command()?
            .spawn()
            .context("cannot start the ClickHouse engine")?;
        let leash = process.stdin.take();
        let started = tokio::time::timeout(START_LIMIT, self.until_it_answers(&mut process)).await;
        started.context("the ClickHouse engine does not answer")??;
        self.readiness.ready(PART);
        Ok(Running { process, leash })
    }

    /// Watches `engine` until `stop`, starting it again whenever it dies; then ends it.
    pub(crate) async fn supervise(self, mut engine: Running, stop: CancellationToken) {
        while !stop.is_cancelled() {
            tokio::select! {
                () = stop.cancelled() => {}
                ended = engine.process.wait() => {
                    let status = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
                    tracing::error!("the ClickHouse engine died ({status}); starting it again");
                    self.readiness.waiting(PART, "died, starting again");
                    match self.start_again(&stop).await {
                        Some(next) => engine = next,
                        None => return,
                    }
                }
            }
        }
        end(engine).await;
    }

    async fn start_again(&self, stop: &CancellationToken) -> Option<Running> {
        loop {
            tokio::select! {
                () = stop.cancelled() => return None,
                () = tokio::time::sleep(RESTART_PAUSE) => {}
            }
            match self.start().await {
                Ok(engine) => return Some(engine),
                Err(error) => tracing::error!("cannot restart the ClickHouse engine: {error:#}"),
            }
        }
    }

    fn command(&self) -> anyhow::Result<Command> {
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        let mut command = Command::new(program);
        command
            .arg("clickhouse")
            .arg("--stop-with-stdin")
            .args(&self.arguments);
        if let Some(config) = &self.config {
            command.arg("--config").arg(config);
        }
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .kill_on_drop(true);
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
async fn end(Running { mut process, leash }: Running) {
    drop(leash);
    if tokio::time::timeout(STOP_LIMIT, process.wait())
        .await
        .is_err()
    {
        tracing::warn!(
            "the ClickHouse engine did not stop in {STOP_LIMIT:?} and was killed; its data is safe on disk"
        );
        if let Err(error) = process.kill().await {
            tracing::error!("cannot kill the ClickHouse engine: {error}");
        }
    }
}
