//! A test → a ClickHouse of its own: this test program once more, as a child process that serves the
//! engine.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use schemas::connect::Config;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Says to the child where its data are.
const FOLDER: &str = "SLUICE_TEST_ENGINE_FOLDER";
/// What the child prints before its address.
const LISTENING: &str = "listening on ";

/// A running engine with all tables, gone with the test.
pub(crate) struct Engine {
    child: Child,
    /// Kept open: the child dies of a pipe that nobody reads, once its test program says that it is slow.
    _output: Lines<BufReader<ChildStdout>>,
    pub(crate) config: Config,
    _folder: TempDir,
}

impl Engine {
    /// Starts an engine on an empty folder and makes the tables.
    pub(crate) async fn start() -> Self {
        let folder = TempDir::with_prefix("sluice-query-").unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "engine::serves_until_it_is_killed",
                "--exact",
                "--ignored",
                "--nocapture",
            ])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
            line.split_once(LISTENING)
                .map(|(_, address)| address.to_owned())
        });
        let address = address.expect("the engine did not start; its standard error says why");
        let config = Config {
            url: format!("http://{address}").parse().unwrap(),
            database: "sluice".to_owned(),
            user: String::new(),
            password: String::new().into(),
        };
        schemas::migrate::migrate(&config).await.unwrap();
        Self {
            child,
            _output: lines,
            config,
            _folder: folder,
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Not a test: what [`Engine::start`] runs as a process of its own.
#[test]
#[ignore = "serves other tests"]
fn serves_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let config = embedded::Config {
            data_dir: folder.into(),
            listen: ([127, 0, 0, 1], 0).into(),
            ..embedded::Config::default()
        };
        let running = embedded::run(config, CancellationToken::new())
            .await
            .unwrap();
        writeln!(std::io::stdout(), "{LISTENING}{}", running.address).unwrap();
        running.done.await.unwrap();
    });
    embedded::exit_now(0);
}
