//! Debian's `prometheus` → a running Prometheus with the samples of a test, to compare answers with.
//!
//! Where the program cannot be had, the test that wants it says so loudly and passes.

mod track;
mod wire;

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

pub use self::track::Track;
pub use self::wire::otlp_bodies;
use crate::ask::Ask;
use crate::process::{Group, run, until};

/// Longest wait for `/-/ready`.
const READY: Duration = Duration::from_secs(120);
/// How many samples one remote write request carries at most, by time: a head takes no sample that lies
/// more than an hour behind its newest one.
const SLICE: i64 = 30 * 60 * 1000;
/// Times that a port is looked for: it may be taken between the look and the start.
const STARTS: u32 = 5;

/// A running Prometheus of a test's own, with its own folder and port.
#[derive(Debug)]
pub struct Oracle {
    // Ends first: nothing may write into the folder while it is removed.
    _process: Group,
    _folder: TempDir,
    base: String,
    http: reqwest::Client,
}

impl Oracle {
    /// Starts Prometheus, empty, ready for remote write; `None` where there is no program to start.
    ///
    /// # Panics
    /// When the program is there and does not become ready.
    pub async fn start(http: &reqwest::Client) -> Option<Self> {
        let program = match program() {
            Ok(program) => program,
            Err(why) => {
                say(&format!("SKIPPED: no Prometheus to compare with: {why}"));
                return None;
            }
        };
        for _ in 0..STARTS {
            if let Some(oracle) = Self::try_start(&program, http).await {
                return Some(oracle);
            }
        }
        panic!("{} does not start", program.display());
    }

    async fn try_start(program: &Path, http: &reqwest::Client) -> Option<Self> {
        let folder = TempDir::with_prefix("prometheus-test-").expect("cannot make a folder");
        let config = folder.path().join("prometheus.yml");
        std::fs::write(&config, "global: {}\n").expect("cannot write the configuration");
        let port = free_port();
        let log = File::create(folder.path().join("prometheus.log")).expect("cannot make a log");
        let mut command = Command::new(program);
        command
            .arg(format!("--config.file={}", config.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.path().join("data").display()
            ))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .args([
                "--storage.tsdb.retention.time=100y",
                "--web.enable-remote-write-receiver",
                "--enable-feature=promql-experimental-functions",
            ])
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("cannot share the log"))
            .stderr(log);
        let mut process = Group::spawn(command);
        let base = format!("http://127.0.0.1:{port}");
        let ready = format!("{base}/-/ready");
        let started = until(READY, "Prometheus", async || {
            if process.ended().is_some() {
                return Some(false);
            }
            let answer = http.get(&ready).send().await.ok()?;
            (answer.status() == 200).then_some(true)
        })
        .await;
        started.then(|| Self {
            _process: process,
            _folder: folder,
            base,
            http: http.clone(),
        })
    }

    /// Writes all samples. Series are made in the order of their labels, which is then the order in which
    /// Prometheus adds values up, as it does when it reads blocks.
    ///
    /// # Panics
    /// When a sample is refused.
    pub async fn write(&self, tracks: &[Track]) {
        let mut sorted: Vec<&Track> = tracks.iter().collect();
        sorted.sort_by(|left, right| left.labels.cmp(&right.labels));
        let times = || {
            tracks
                .iter()
                .flat_map(|track| track.samples.iter().map(|(ts, _)| *ts))
        };
        let (Some(first), Some(last)) = (times().min(), times().max()) else {
            return;
        };
        for start in (first..=last).step_by(usize::try_from(SLICE).unwrap()) {
            let body = wire::remote_write(&sorted, start, start + SLICE);
            let request = self
                .http
                .post(format!("{}/api/v1/write", self.base))
                .header("content-encoding", "snappy")
                .header("content-type", "application/x-protobuf")
                .header("x-prometheus-remote-write-version", "0.1.0")
                .body(body);
            let answer = request.send().await.expect("Prometheus answers");
            let status = answer.status().as_u16();
            assert_eq!(status, 204, "{}", answer.text().await.unwrap_or_default());
        }
    }

    /// Asks it.
    #[must_use]
    pub fn ask(&self) -> Ask {
        Ask::new(self.http.clone(), &self.base, "nobody", "none")
    }
}

/// Prints what a reader of the test run must not miss.
#[expect(
    clippy::print_stderr,
    reason = "the test runner shows it beside the test"
)]
pub fn say(text: &str) {
    eprintln!("\n==== {text} ====\n");
}

/// A folder beside the repository that holds data of others, if it is there.
#[must_use]
pub fn shared(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared")
        .join(name);
    let found = folder.canonicalize().ok();
    if found.is_none() {
        say(&format!("SKIPPED: {name} is not beside the repository"));
    }
    found
}

/// `tests/.tools/peers/bin/prometheus`, fetched by the script beside the repository when it is missing.
fn program() -> Result<PathBuf, String> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools");
    let program = tools.join("peers/bin/prometheus");
    std::fs::create_dir_all(&tools).map_err(|error| error.to_string())?;
    // Tests run in processes of their own: one fetches, the others wait for it.
    let lock = File::create(tools.join("peers.lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if program.is_file() {
        return Ok(program);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/tools/peers.sh");
    if !script.is_file() {
        return Err(
            "it is neither in tests/.tools/peers/bin nor is there a script to fetch it".into(),
        );
    }
    let mut command = Command::new("bash");
    command.arg(script).arg(tools.join("peers"));
    let done = run(command, b"");
    if done.code == Some(0) && program.is_file() {
        return Ok(program);
    }
    Err(format!("fetching it failed: {}", done.stderr))
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("an address").port()
}
