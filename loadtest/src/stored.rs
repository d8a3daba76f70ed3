//! A store that has taken everything → how many bytes it keeps, fully merged.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

/// Longest that merging everything may take.
const MERGING: Duration = Duration::from_secs(600);
/// Pause between two looks at a merge.
const PAUSE: Duration = Duration::from_millis(200);
/// Lists the tables of the database `sluice`: name, rows, bytes on disk.
const PARTS: &str = include_str!("stored/parts.sql");

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// All of it, bytes on disk.
    pub(crate) bytes: u64,
    /// The same by table or folder.
    pub(crate) parts: Vec<Piece>,
}

/// A table or folder: name, rows where known, bytes.
pub(crate) type Piece = (String, Option<u64>, u64);

impl Stored {
    fn of(parts: Vec<Piece>) -> Self {
        Self {
            bytes: parts.iter().map(|(_, _, bytes)| bytes).sum(),
            parts,
        }
    }
}

#[derive(Deserialize)]
struct Table {
    table: String,
    rows: String,
    bytes: String,
}

/// Merges every table of Sluice's database and asks ClickHouse how large they are.
///
/// # Errors
/// When ClickHouse does not answer at `url`.
pub(crate) async fn in_clickhouse(url: &str) -> anyhow::Result<Stored> {
    let http = reqwest::Client::builder().timeout(MERGING).build()?;
    for table in tables(&http, url).await? {
        let statement = format!("OPTIMIZE TABLE sluice.`{}` FINAL", table.table);
        ask(&http, url, statement).await?;
    }
    let parts = tables(&http, url).await?.into_iter().map(|table| {
        let number = |text: &str| text.parse().context("ClickHouse gave no number");
        Ok((
            table.table.clone(),
            Some(number(&table.rows)?),
            number(&table.bytes)?,
        ))
    });
    Ok(Stored::of(parts.collect::<anyhow::Result<_>>()?))
}

async fn tables(http: &reqwest::Client, url: &str) -> anyhow::Result<Vec<Table>> {
    let answer = ask(http, url, PARTS.to_owned()).await?;
    let lines = answer.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).context("ClickHouse gave no JSON"))
        .collect()
}

async fn ask(http: &reqwest::Client, url: &str, statement: String) -> anyhow::Result<String> {
    let response = http.post(url).body(statement).send().await;
    let response = response.with_context(|| format!("no answer from ClickHouse at {url}"))?;
    let status = response.status();
    let text = response
        .text()
        .await
        .context("ClickHouse's answer broke off")?;
    ensure!(status.is_success(), "ClickHouse answered {status}: {text}");
    Ok(text)
}

/// Makes VictoriaMetrics at `url` merge everything; its folder is measured after it has stopped.
///
/// # Errors
/// When it does not answer, or merges for too long.
pub(crate) async fn merge_victoria(url: &str) -> anyhow::Result<()> {
    let http = reqwest::Client::builder().timeout(MERGING).build()?;
    for path in ["/internal/force_flush", "/internal/force_merge"] {
        let response = http.get(format!("{url}{path}")).send().await?;
        ensure!(
            response.status().is_success(),
            "{path} was answered {}",
            response.status()
        );
    }
    let start = Instant::now();
    loop {
        let metrics = http
            .get(format!("{url}/metrics"))
            .send()
            .await?
            .text()
            .await?;
        let active = metrics
            .lines()
            .find_map(|line| line.strip_prefix("vm_active_force_merges "));
        if active.is_none_or(|active| active.trim() == "0") {
            return Ok(());
        }
        if start.elapsed() > MERGING {
            bail!("VictoriaMetrics is still merging after {MERGING:?}");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Folders of VictoriaMetrics that hold nothing that it needs: they are not counted.
const SPARE: [&str; 3] = ["cache", "tmp", "snapshots"];
/// Its folder of samples and, in newer versions, of their index.
const DATA: &str = "data";

/// Size of the folders of VictoriaMetrics that hold samples and their index, at least.
///
/// # Errors
/// When they cannot be read.
pub(crate) fn of_victoria(folder: &Path) -> anyhow::Result<Stored> {
    let shown = || format!("cannot read {}", folder.display());
    let mut parts = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(shown)? {
        let path = entry.with_context(shown)?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name == DATA {
            // Index and samples stand beside each other there.
            parts.extend(of_victoria(&path)?.parts);
        } else if path.is_dir() && !SPARE.contains(&name.as_str()) {
            parts.push((name, None, size(&path)?));
        }
    }
    parts.sort();
    Ok(Stored::of(parts))
}

/// Bytes of all files below.
fn size(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    let shown = || format!("cannot read {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(shown)? {
        let entry = entry.with_context(shown)?;
        let kind = entry.metadata().with_context(shown)?;
        bytes += if kind.is_dir() {
            size(&entry.path())?
        } else {
            kind.len()
        };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_as_large_as_its_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("data/small")).unwrap();
        std::fs::create_dir_all(folder.path().join("metadata")).unwrap();
        std::fs::create_dir_all(folder.path().join("cache")).unwrap();
        std::fs::write(folder.path().join("data/small/a"), [0; 100]).unwrap();
        std::fs::write(folder.path().join("metadata/b"), [0; 20]).unwrap();
        std::fs::write(folder.path().join("cache/c"), [0; 7]).unwrap();
        let stored = of_victoria(folder.path()).unwrap();
        let parts = [("metadata", 20), ("small", 100)];
        let parts = parts.map(|(name, bytes)| (name.to_owned(), None, bytes));
        assert_eq!((stored.bytes, stored.parts), (120, parts.to_vec()));
    }
}
