//! The sluice program → a fresh `sluice up` in a folder of its own, to push to and to weigh.

use std::path::Path;

use anyhow::{Context, ensure};
use tempfile::TempDir;
use tokio::process::Command;

use super::child::{Program, is_free};
use crate::cli::TargetArgs;
use crate::stored::{Stored, in_clickhouse};
use crate::target::Target;

/// Ports of `sluice up` at offset 0.
const PORTS: [u16; 7] = [4318, 4317, 9090, 8080, 8081, 8123, 9464];
/// The port of `/readyz`.
const ADMIN: u16 = 9464;
/// Offsets that are tried.
const OFFSETS: std::ops::Range<u16> = 24_000..30_000;

/// A running `sluice up`.
#[derive(Debug)]
pub(super) struct Sluice {
    program: Program,
    folder: TempDir,
}

/// Starts it on an empty folder.
///
/// # Errors
/// When there is no such program or it does not become ready.
pub(super) async fn start(program: &Path) -> anyhow::Result<Sluice> {
    ensure!(
        program.is_file(),
        "there is no {}: build it with `cargo build --release -p sluice`, or name it with --sluice",
        program.display()
    );
    let program = std::path::absolute(program)?;
    let folder = TempDir::with_prefix("loadtest-sluice-")?;
    let free = |offset: &u16| PORTS.iter().all(|port| is_free(port + offset));
    let offset = OFFSETS
        .step_by(17)
        .find(free)
        .context("no port offset is free")?;
    let mut command = Command::new(program);
    command
        .arg("up")
        .arg("--data-dir")
        .arg(folder.path().join("data"))
        .arg("--port-offset")
        .arg(offset.to_string());
    let ready = format!("http://127.0.0.1:{}/readyz", ADMIN + offset);
    let log = folder.path().join("log");
    Ok(Sluice {
        program: Program::start(command, (&log, &ready)).await?,
        folder,
    })
}

impl Sluice {
    /// Process id of `sluice up`.
    pub(super) fn pid(&self) -> u32 {
        self.program.pid()
    }

    /// Where to push and ask.
    ///
    /// # Errors
    /// When it wrote no credentials.
    pub(super) fn target(&self) -> anyhow::Result<Target> {
        Target::of(&TargetArgs {
            credentials: vec![self.folder.path().join("data/credentials.json")],
            ..TargetArgs::default()
        })
    }

    /// What it keeps, fully merged.
    ///
    /// # Errors
    /// When ClickHouse does not answer.
    pub(super) async fn stored(&self, target: &Target) -> anyhow::Result<Stored> {
        let url = target.clickhouse_url.as_deref();
        in_clickhouse(url.context("credentials without ClickHouse's address")?).await
    }

    /// Ends it and removes its folder.
    ///
    /// # Errors
    /// When it does not end.
    pub(super) async fn stop(self) -> anyhow::Result<()> {
        self.program.stop().await
    }
}
