//! Gateway and ClickHouse are killed at random moments under load: every acknowledged point is there once.
//!
//! `SLUICE_TEST_CRASHES` is how often the gateway is killed; ClickHouse is killed 2/5 as often, and both
//! together again as often. The load is that of `loadtest`, which notes each acknowledgement and verifies.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tests::keys::Keys;
use tests::process::{Group, kill, run, until};
use tests::spool::Gateway;
use tests::stack::{Stack, beside_the_test};

/// Longest wait for a role on a busy machine.
const START: Duration = Duration::from_secs(180);

/// How long the generator goes on after the last crash at most.
const PATIENCE: Duration = Duration::from_secs(300);

/// The processes of one installation.
struct Parts {
    stack: Stack,
    keys: Keys,
    clickhouse: Option<Group>,
    gateway: Option<Group>,
    _query: Group,
}

#[tokio::test]
async fn no_acknowledged_point_is_lost_or_doubled_when_processes_are_killed() {
    let crashes: u32 = std::env::var("SLUICE_TEST_CRASHES")
        .map_or(5, |count| count.parse().expect("a number of crashes"));
    let mut parts = Parts::start().await;
    let mut load = parts.load(crashes);
    let mut moments = Moments(0x5eed);
    for round in 0..crashes {
        parts.crash_gateway(&mut moments).await;
        if round % 5 < 2 {
            parts.crash_clickhouse(&mut moments).await;
            parts.crash_both(&mut moments).await;
        }
    }
    load.wait(PATIENCE).await;
    parts.judge().await;
}

impl Parts {
    async fn start() -> Self {
        let mut stack = Stack::prepare();
        let keys = stack.fill(|directory| directory.tenant("crash"));
        stack.set("SLUICE__GATEWAY__SPOOL__SEAL_AFTER", "200ms");
        let mut clickhouse = Some(role(&stack, "clickhouse"));
        answers(&stack, &stack.url(8123), "/ping", &mut clickhouse).await;
        let _migrated = run(stack.role("migrate"), b"").success();
        let query = role(&stack, "query");
        let mut parts = Self {
            stack,
            keys,
            clickhouse,
            gateway: None,
            _query: query,
        };
        parts.start_gateway().await;
        parts
    }

    async fn start_gateway(&mut self) {
        self.gateway = Some(role(&self.stack, "gateway"));
        answers(
            &self.stack,
            &self.stack.admin(),
            "/livez",
            &mut self.gateway,
        )
        .await;
    }

    async fn start_clickhouse(&mut self) {
        let ended = self.clickhouse.take();
        drop(ended);
        self.clickhouse = Some(role(&self.stack, "clickhouse"));
        answers(
            &self.stack,
            &self.stack.url(8123),
            "/ping",
            &mut self.clickhouse,
        )
        .await;
    }

    async fn crash_gateway(&mut self, moments: &mut Moments) {
        moments.pass().await;
        crash(&mut self.gateway).await;
        self.start_gateway().await;
    }

    async fn crash_clickhouse(&mut self, moments: &mut Moments) {
        moments.pass().await;
        crash(&mut self.clickhouse).await;
        // Long enough for pushes to come while it is away.
        moments.pass().await;
        self.start_clickhouse().await;
    }

    async fn crash_both(&mut self, moments: &mut Moments) {
        moments.pass().await;
        crash(&mut self.clickhouse).await;
        crash(&mut self.gateway).await;
        // The gateway takes pushes without ClickHouse, from its first moment.
        self.start_gateway().await;
        moments.pass().await;
        self.start_clickhouse().await;
    }

    /// Pushes of 200 apps, 25 a second, about as long as the crashes take.
    fn load(&self, crashes: u32) -> Group {
        let root = self.stack.root();
        let mut command = loadtest();
        command
            .args("run cerebrium --apps 200 --apps-per-push 10 --rate 25 --duration".split(' '))
            .arg((5 * crashes).to_string())
            .args("--retry-for 60 --no-verify --state".split(' '))
            .arg(root.join("state"))
            .arg("--json")
            .arg(root.join("report.json"))
            .args(["--url", &self.stack.url(4318), "--key", &self.keys.ingest])
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        Group::spawn(command)
    }

    /// Reads everything back.
    async fn judge(&self) {
        let gateway = Gateway::new(self.stack.http().clone(), &self.stack.admin());
        gateway.delivered().await;
        let aside = gateway.value("sluice_gateway_spool_aside_segments").await;
        assert_eq!(aside, Some(0.0), "segments were set aside");
        let root = self.stack.root();
        let mut verify = loadtest();
        verify
            .arg("verify")
            .arg(root.join("state"))
            .args([
                "--tenant",
                &self.keys.tenant,
                "--query-key",
                &self.keys.query,
            ])
            .args(["--query-url", &self.stack.url(9090)]);
        let verdict = run(verify, b"");
        assert_eq!(
            verdict.code,
            Some(0),
            "{}{}",
            verdict.stdout,
            verdict.stderr
        );
        let report: Value =
            serde_json::from_slice(&std::fs::read(root.join("report.json")).unwrap()).unwrap();
        let answers = report["answers"].as_object().expect("answers by status");
        let faults: Vec<_> = answers
            .keys()
            .filter(|kind| kind.starts_with('5'))
            .collect();
        assert_eq!(faults, Vec::<&String>::new(), "{answers:?}");
        assert_eq!(report["failed"], 0, "{report}");
        assert!(
            report["retries"].as_u64() > Some(0),
            "no push met a crash: {report}"
        );
    }
}

/// Ends a process as a crash would, and everything that it started.
async fn crash(process: &mut Option<Group>) {
    let mut process = process.take().expect("it runs");
    kill("KILL", &process.id().to_string());
    process.wait(START).await;
}

/// `sluice NAME`; gateway and query have admin ports of their own.
fn role(stack: &Stack, name: &str) -> Group {
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(stack.root().join("sluice.log"))
        .unwrap();
    let mut command = stack.role(name);
    if name != "gateway" {
        command.env("SLUICE__ADMIN__LISTEN", "127.0.0.1:0");
    }
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    Group::spawn(command)
}

async fn answers(stack: &Stack, base: &str, path: &str, process: &mut Option<Group>) {
    until(START, base, async || {
        if let Some(status) = process.as_mut().and_then(Group::ended) {
            panic!(
                "what should answer at {base} ended with {status}\n{}",
                stack.log()
            );
        }
        let answer = stack
            .http()
            .get(format!("{base}{path}"))
            .send()
            .await
            .ok()?;
        (answer.status() == 200).then_some(())
    })
    .await;
}

fn loadtest() -> Command {
    let path = beside_the_test("loadtest");
    assert!(
        path.is_file(),
        "there is no {}: run tests/run, which builds everything",
        path.display()
    );
    Command::new(path)
}

/// Pauses of 50 to 800 ms, the same in every run.
struct Moments(u64);

impl Moments {
    async fn pass(&mut self) {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        tokio::time::sleep(Duration::from_millis(50 + (self.0 >> 33) % 750)).await;
    }
}
