//! The victoria-metrics program → a fresh store in a folder of its own, to push to and to weigh.

use std::path::Path;

use anyhow::{Context, ensure};
use tempfile::TempDir;
use tokio::process::Command;

use super::child::{Program, is_free};
use crate::stored::{Stored, merge_victoria, of_victoria};
use crate::target::{Names, Target, Tenant};

/// Ports that are tried.
const PORTS: std::ops::Range<u16> = 18_428..19_428;

/// A running VictoriaMetrics.
#[derive(Debug)]
pub(super) struct Victoria {
    program: Program,
    folder: TempDir,
    base: String,
}

/// Starts it on an empty folder.
///
/// # Errors
/// When there is no such program or it does not become ready.
pub(super) async fn start(peers: &Path) -> anyhow::Result<Victoria> {
    let program = peers.join("bin/victoria-metrics");
    ensure!(
        program.is_file(),
        "there is no {}: make the folder with tools/peers.sh {}",
        program.display(),
        peers.display()
    );
    let folder = TempDir::with_prefix("loadtest-victoria-")?;
    let port = PORTS
        .step_by(7)
        .find(|port| is_free(*port))
        .context("no port is free")?;
    let base = format!("http://127.0.0.1:{port}");
    let mut command = Command::new(std::path::absolute(program)?);
    command
        .arg(format!(
            "-storageDataPath={}",
            folder.path().join("data").display()
        ))
        .arg(format!("-httpListenAddr=127.0.0.1:{port}"))
        .args([
            "-retentionPeriod=30d",
            "-opentelemetry.usePrometheusNaming",
            // Otherwise queries hide the last half minute.
            "-search.latencyOffset=0s",
            "-search.maxUniqueTimeseries=10000000",
            "-search.maxQueryDuration=120s",
        ]);
    let ready = format!("{base}/health");
    let log = folder.path().join("log");
    Ok(Victoria {
        program: Program::start(command, (&log, &ready)).await?,
        folder,
        base,
    })
}

impl Victoria {
    /// Its process id.
    pub(super) fn pid(&self) -> u32 {
        self.program.pid()
    }

    /// Where to push and ask.
    pub(super) fn target(&self) -> Target {
        Target {
            push_url: format!("{}/opentelemetry/v1/metrics", self.base),
            query_url: format!("{}/prometheus", self.base),
            clickhouse_url: None,
            tenants: vec![Tenant {
                name: "victoria-metrics".to_owned(),
                ingest: Vec::new(),
                query: None,
            }],
            names: Names::Suffixed,
        }
    }

    /// Merges everything, ends it, says what it has kept and removes its folder.
    ///
    /// # Errors
    /// When it does not answer or end.
    pub(super) async fn stop_and_weigh(self) -> anyhow::Result<Stored> {
        merge_victoria(&self.base).await?;
        // What is in memory goes to disk at the end.
        self.program.stop().await?;
        of_victoria(&self.folder.path().join("data"))
    }
}
