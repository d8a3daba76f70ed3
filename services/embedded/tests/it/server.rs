//! A test → a server process of its own, gone with the test.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, Once};

use embedded::Config;

/// A running server.
pub(crate) struct Server {
    child: Mutex<Child>,
    id: u32,
    pub(crate) url: String,
    pub(crate) http: reqwest::Client,
}

impl Server {
    /// Starts a server on `folder` and waits until it listens.
    pub(crate) fn start(folder: &Path) -> Self {
        Self::with(folder, |_| {})
    }

    /// Starts a server with changes to its configuration.
    pub(crate) fn with(folder: &Path, change: impl FnOnce(&mut Config)) -> Self {
        let mut child = command(folder, change)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert!(
            !line.is_empty(),
            "the server did not start; its standard error says why"
        );
        Self {
            id: child.id(),
            child: Mutex::new(child),
            url: format!("http://{}", line.trim()),
            http: reqwest::Client::new(),
        }
    }

    /// Runs a server that is expected to end by itself.
    pub(crate) fn refused(folder: &Path, change: impl FnOnce(&mut Config)) -> Output {
        command(folder, change).output().unwrap()
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// A client of the official crate.
    pub(crate) fn client(&self) -> clickhouse::Client {
        clickhouse::Client::default().with_url(&self.url)
    }

    /// Sends a statement as the body of a POST, with parameters in the URL.
    pub(crate) fn post(
        &self,
        parameters: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> reqwest::RequestBuilder {
        self.http.post(&self.url).query(parameters).body(body)
    }

    /// The answer to a statement that must succeed, without the last line end.
    pub(crate) async fn ask(&self, statement: &str) -> String {
        let response = self.post(&[], statement.to_owned()).send().await.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        assert_eq!(status, 200, "{statement}: {text}");
        text.trim_end_matches('\n').to_owned()
    }

    /// Status, exception code and body of an answer.
    pub(crate) async fn outcome(&self, request: reqwest::RequestBuilder) -> (u16, String, String) {
        let response = request.send().await.unwrap();
        let code = response.headers().get("x-clickhouse-exception-code");
        let code = code.map_or(String::new(), |value| value.to_str().unwrap().to_owned());
        (
            response.status().as_u16(),
            code,
            response.text().await.unwrap(),
        )
    }

    /// Asks until the answer is `wanted`.
    pub(crate) async fn wait_for(&self, statement: &str, wanted: &str) {
        let patience = std::time::Duration::from_secs(60);
        let wait = async {
            while self.ask(statement).await != wanted {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(patience, wait).await.unwrap();
    }

    /// Asks until there is room for the statement.
    pub(crate) async fn wait_until_served(&self, statement: &'static str) {
        let patience = std::time::Duration::from_secs(60);
        let wait = async {
            while self.outcome(self.post(&[], statement)).await.0 == 503 {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(patience, wait).await.unwrap();
    }

    /// Asks the process to stop.
    pub(crate) fn tell_to_stop(&self) {
        let told = Command::new("kill")
            .arg(self.id.to_string())
            .status()
            .unwrap();
        assert!(told.success());
    }

    /// Asks the process to stop and waits for it; whether it ended well.
    pub(crate) async fn terminate(&self) -> bool {
        self.tell_to_stop();
        loop {
            if let Some(status) = self.child.lock().unwrap().try_wait().unwrap() {
                return status.success();
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// Ends the process as a crash of the machine's memory would.
    pub(crate) fn kill(self) {
        drop(self);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap();
        child.kill().ok();
        child.wait().ok();
    }
}

fn command(folder: &Path, change: impl FnOnce(&mut Config)) -> Command {
    install();
    let mut config = Config {
        data_dir: folder.to_owned(),
        listen: "127.0.0.1:0".parse().unwrap(),
        ..Config::default()
    };
    change(&mut config);
    let mut command = Command::new(env!("CARGO_BIN_EXE_embedded-server"));
    command.arg(serde_json::to_string(&config).unwrap());
    command
}

/// The test runner has installed the library; a test that is run alone may be the first to need it.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if embedded::library_path(None).is_err() {
            let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../deploy/engine");
            let output = Command::new(script).output().unwrap();
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    });
}

/// Resident memory of this process, in bytes.
pub(crate) fn resident() -> u64 {
    let mut status = String::new();
    std::fs::File::open("/proc/self/status")
        .unwrap()
        .read_to_string(&mut status)
        .unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap()
        * 1024
}
