//! A folder and a port offset → a running `sluice up`, ready, with its keys.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use serde::Deserialize;
use tempfile::TempDir;

use crate::ask::Ask;
use crate::keys::Directory;
use crate::ports::Offset;
use crate::process::{Group, until};
use crate::push::Ingest;
use crate::spool::Gateway;

/// Longest wait for `/readyz`: a loaded machine with two cores starts slowly.
const READY: Duration = Duration::from_secs(180);
/// Longest wait for an end after SIGTERM.
const STOP: Duration = Duration::from_secs(60);
/// How much of the log a failed start shows, bytes.
const TAIL: usize = 6_000;

/// `DIR/credentials.json`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// Slug of the demo tenant.
    pub tenant: String,
    /// Pushes.
    pub ingest_key: String,
    /// Asks.
    pub query_key: String,
    /// Administers the tenant.
    pub tenant_admin_key: String,
    /// Administers the installation.
    pub operator_key: String,
    /// Where to.
    pub urls: Urls,
}

/// Bases of URLs, without a path.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Urls {
    /// OTLP over HTTP.
    pub otlp_http: String,
    /// OTLP over gRPC.
    pub otlp_grpc: String,
    /// PromQL.
    pub prometheus: String,
    /// Admin REST.
    pub control: String,
    /// ClickHouse's HTTP interface.
    pub clickhouse: String,
}

/// A running `sluice up` of a test's own, with its own folder and ports.
#[derive(Debug)]
pub struct Stack {
    // Ends first: nothing may write into the folder while it is removed.
    process: Option<Group>,
    offset: Offset,
    folder: Option<TempDir>,
    http: reqwest::Client,
    settings: Vec<(&'static str, &'static str)>,
}

impl Stack {
    /// Starts on an empty folder: tenant `demo` with the keys of `credentials.json`.
    pub async fn start() -> Self {
        let mut stack = Self::prepare();
        stack.run().await;
        stack
    }

    /// Starts with the demo tenant and whatever `fill` adds to the directory; answers what `fill` does.
    pub async fn with<T>(fill: impl FnOnce(&mut Directory) -> T) -> (Self, T) {
        let mut stack = Self::prepare();
        let made = stack.fill(fill);
        stack.run().await;
        (stack, made)
    }

    /// A folder and ports, nothing running.
    ///
    /// # Panics
    /// When there is no room for a folder.
    #[must_use]
    pub fn prepare() -> Self {
        Self {
            process: None,
            offset: Offset::reserve(),
            folder: Some(TempDir::with_prefix("sluice-test-").expect("cannot make a folder")),
            http: reqwest::Client::builder()
                .timeout(Duration::from_secs(60))
                .build()
                .expect("cannot make an HTTP client"),
            // What is pushed should be visible soon: a test asks for it next.
            settings: vec![("SLUICE__GATEWAY__SPOOL__SEAL_AFTER", "20ms")],
        }
    }

    /// Changes a setting (`SLUICE__SECTION__KEY`) of every later start.
    pub fn set(&mut self, name: &'static str, value: &'static str) {
        self.settings.push((name, value));
    }

    /// Writes the directory that `fill` describes, for a folder that nothing runs on yet; answers what
    /// `fill` does.
    pub fn fill<T>(&self, fill: impl FnOnce(&mut Directory) -> T) -> T {
        let mut directory = Directory::create(&self.data());
        let made = fill(&mut directory);
        directory.save();
        made
    }

    /// Starts the program on the folder and waits until it is ready.
    pub async fn run(&mut self) {
        self.spawn();
        let url = format!("{}/readyz", self.admin());
        let http = self.http.clone();
        until(READY, "readiness", async || {
            if let Some(status) = self.process.as_mut().and_then(Group::ended) {
                panic!(
                    "sluice up ended with {status} before it was ready\n{}",
                    self.tail()
                );
            }
            let answer = http.get(&url).send().await.ok()?;
            (answer.status() == 200).then_some(())
        })
        .await;
    }

    /// Starts the program on the folder without waiting for anything.
    ///
    /// # Panics
    /// When it is running already.
    pub fn spawn(&mut self) {
        assert!(self.process.is_none(), "already running");
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log_file())
            .expect("cannot open the log file");
        let mut command = self.command();
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("cannot share the log file"))
            .stderr(log);
        self.process = Some(Group::spawn(command));
    }

    /// The command line that [`Stack::spawn`] runs.
    #[must_use]
    pub fn command(&self) -> Command {
        self.role("up")
    }

    /// `sluice NAME` with the folder, the ports and the settings of this stack.
    #[must_use]
    pub fn role(&self, name: &str) -> Command {
        let mut command = sluice();
        command
            .arg(name)
            .arg("--data-dir")
            .arg(self.data())
            .arg("--port-offset")
            .arg(self.offset.number().to_string())
            .envs(self.settings.iter().copied());
        command
    }

    /// Sends SIGTERM and waits for the end.
    ///
    /// # Panics
    /// When it is not running or does not end.
    pub async fn stop(&mut self) -> ExitStatus {
        let mut process = self.process.take().expect("not running");
        process.signal("TERM");
        process.wait(STOP).await
    }

    /// Sends SIGTERM and waits for nothing; [`Stack::stop`] does the rest.
    ///
    /// # Panics
    /// When it is not running.
    pub fn terminate(&self) {
        self.process.as_ref().expect("not running").signal("TERM");
    }

    /// Process id of `sluice up`.
    ///
    /// # Panics
    /// When it is not running.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.as_ref().expect("not running").id()
    }

    /// Reads `credentials.json`.
    ///
    /// # Panics
    /// When the file is missing or has other fields than promised.
    #[must_use]
    pub fn credentials(&self) -> Credentials {
        let path = self.data().join("credentials.json");
        let text =
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_slice(&text).expect("credentials.json has the promised fields")
    }

    /// Pushes with the demo tenant's key.
    #[must_use]
    pub fn ingest(&self) -> Ingest {
        self.ingest_with(&self.credentials().ingest_key)
    }

    /// Pushes with `key`.
    #[must_use]
    pub fn ingest_with(&self, key: &str) -> Ingest {
        Ingest::new(self.http.clone(), &self.url(4318), key)
    }

    /// Asks with the demo tenant's key.
    #[must_use]
    pub fn ask(&self) -> Ask {
        let credentials = self.credentials();
        self.ask_with(&credentials.tenant, &credentials.query_key)
    }

    /// Asks as `tenant` with `key`, once what the gateway has acknowledged is stored.
    #[must_use]
    pub fn ask_with(&self, tenant: &str, key: &str) -> Ask {
        Ask::new(self.http.clone(), &self.url(9090), tenant, key).after(self.gateway())
    }

    /// The gateway's own account of itself.
    #[must_use]
    pub fn gateway(&self) -> Gateway {
        Gateway::new(self.http.clone(), &self.admin())
    }

    /// `http://127.0.0.1:PORT` for the port that is `default` at offset 0.
    #[must_use]
    pub fn url(&self, default: u16) -> String {
        format!("http://127.0.0.1:{}", self.offset.port(default))
    }

    /// Base URL of `/metrics`, `/livez` and `/readyz`.
    #[must_use]
    pub fn admin(&self) -> String {
        self.url(9464)
    }

    /// The plain HTTP client that everything here shares.
    #[must_use]
    pub fn http(&self) -> &reqwest::Client {
        &self.http
    }

    /// `--data-dir`.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.root().join("data")
    }

    /// Everything that the program has printed so far, all runs on this folder.
    #[must_use]
    pub fn log(&self) -> String {
        let bytes = std::fs::read(self.log_file()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// A folder that lives as long as the stack, for a test's own files.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.folder.as_ref().expect("kept until drop").path()
    }

    fn log_file(&self) -> PathBuf {
        self.root().join("sluice.log")
    }

    fn tail(&self) -> String {
        let log = self.log();
        let start = log.ceil_char_boundary(log.len().saturating_sub(TAIL));
        log.get(start..).unwrap_or_default().to_owned()
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        drop(self.process.take());
        if std::thread::panicking()
            && let Some(folder) = self.folder.take()
        {
            let kept = folder.keep();
            report(&format!(
                "kept for a look: {} (log: sluice.log); its end:\n{}",
                kept.display(),
                tail_of(&kept.join("sluice.log"))
            ));
        }
    }
}

fn tail_of(file: &Path) -> String {
    let bytes = std::fs::read(file).unwrap_or_default();
    let start = bytes.len().saturating_sub(TAIL);
    String::from_utf8_lossy(bytes.get(start..).unwrap_or_default()).into_owned()
}

#[expect(
    clippy::print_stderr,
    reason = "the test runner shows it with the failure"
)]
fn report(text: &str) {
    eprintln!("{text}");
}

/// The program under test: `SLUICE_BIN`, or the one that the same build made.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn sluice() -> Command {
    let path =
        std::env::var_os("SLUICE_BIN").map_or_else(|| beside_the_test("sluice"), PathBuf::from);
    assert!(
        path.is_file(),
        "there is no sluice at {}: run tests/run, which builds everything, or set SLUICE_BIN",
        path.display()
    );
    let mut command = Command::new(path);
    // A caller's own settings must not reach the program under test.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SLUICE_") && name != "SLUICE_ENGINE_DIR" {
            command.env_remove(name);
        }
    }
    command
}

/// `target/PROFILE/NAME`, two folders above `target/PROFILE/deps/TEST`.
///
/// # Panics
/// When the test's own file cannot be found.
#[must_use]
pub fn beside_the_test(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("cannot find the test's own file");
    test.ancestors()
        .nth(2)
        .expect("a test lies in target/PROFILE/deps")
        .join(name)
}
