//! A folder → a ClickHouse of the test's own: this test program once more, as a child process.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use clickhouse::Client;
use schemas::connect::{self, Config};
use tokio_util::sync::CancellationToken;

use crate::deliver::Tables;

/// Says to the child where its data are.
const FOLDER: &str = "SLUICE_TEST_ENGINE_FOLDER";
/// What the child prints before its address.
const LISTENING: &str = "listening on ";

/// A running engine with all tables.
pub(super) struct Engine {
    child: Child,
    /// Kept open: the child dies of a pipe that nobody reads.
    _output: Lines<BufReader<ChildStdout>>,
    config: Config,
}

impl Engine {
    /// Starts an engine on `folder` and makes the tables where they are missing.
    pub(super) async fn start(folder: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg("deliver::tests::engine::serves_until_it_is_killed")
            .args(["--exact", "--ignored", "--nocapture"])
            .env(FOLDER, folder)
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
        }
    }

    pub(super) fn client(&self) -> Client {
        connect::client(&self.config).with_validation(false)
    }

    pub(super) fn tables(&self) -> Tables {
        Tables::new(self.client(), Duration::from_secs(120))
    }

    /// Process id, for who kills it while somebody else has the engine.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// One number.
    pub(super) async fn number(&self, statement: &str) -> u64 {
        self.client().query(statement).fetch_one().await.unwrap()
    }

    /// Some texts.
    pub(super) async fn texts(&self, statement: &str) -> Vec<String> {
        self.client().query(statement).fetch_all().await.unwrap()
    }
}

impl Drop for Engine {
    /// As a crash would end it.
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
