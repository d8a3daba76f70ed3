//! A command → a running program that ends with this one, and is ready when its address says so.

use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use tokio::process::{Child, Command};

/// Longest wait for readiness.
const READY: Duration = Duration::from_secs(120);
/// Longest wait for an end after SIGTERM.
const STOP: Duration = Duration::from_secs(60);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// A running program. Dropped without [`Program::stop`], it is killed.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
    pid: u32,
    name: String,
}

impl Program {
    /// Starts a program whose output goes to `log`, and waits until `url` answers 200.
    ///
    /// # Errors
    /// When it cannot be started, ends, or does not become ready.
    pub(super) async fn start(
        mut command: Command,
        (log, url): (&Path, &str),
    ) -> anyhow::Result<Self> {
        let name = command
            .as_std()
            .get_program()
            .to_string_lossy()
            .into_owned();
        let output =
            File::create(log).with_context(|| format!("cannot create {}", log.display()))?;
        command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .kill_on_drop(true);
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let pid = child.id().context("it ended at once")?;
        let mut program = Self { child, pid, name };
        let ready = program.until_ready(url).await;
        ready.with_context(|| format!("{}:\n{}", program.name, tail(log)))?;
        Ok(program)
    }

    /// Its process id.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    async fn until_ready(&mut self, url: &str) -> anyhow::Result<()> {
        let http = reqwest::Client::builder()
            .timeout(Duration::from_secs(5))
            .build()?;
        let start = Instant::now();
        while start.elapsed() < READY {
            if let Some(status) = self.child.try_wait()? {
                bail!("it ended with {status} before it was ready");
            }
            let answer = http.get(url).send().await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
        bail!("it was not ready after {READY:?}")
    }

    /// Sends SIGTERM and waits for the end.
    ///
    /// # Errors
    /// When it does not end.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        let sent = Command::new("kill")
            .arg(self.pid.to_string())
            .status()
            .await?;
        ensure!(sent.success(), "cannot send SIGTERM to {}", self.name);
        let ended = tokio::time::timeout(STOP, self.child.wait()).await;
        ended.with_context(|| format!("{} did not end after {STOP:?}", self.name))??;
        Ok(())
    }
}

fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(10);
    lines.get(from..).unwrap_or_default().join("\n")
}

/// Whether nobody listens on a port of this machine.
pub(super) fn is_free(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_ok()
}
