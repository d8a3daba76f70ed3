//! Each role as a process of its own, as in a larger installation.

use std::process::Stdio;
use std::time::Duration;

use tests::clock::this_second;
use tests::otlp;
use tests::process::{Group, run, until};
use tests::stack::Stack;

/// Longest wait for a role on a busy machine.
const START: Duration = Duration::from_secs(180);
const STOP: Duration = Duration::from_secs(60);

#[tokio::test]
async fn clickhouse_gateway_and_query_run_apart_and_end_on_sigterm() {
    let mut stack = Stack::prepare();
    let keys = stack.fill(|directory| directory.tenant("apart"));
    // Two services on one machine share no admin port.
    stack.set("SLUICE__ADMIN__LISTEN", "127.0.0.1:0");
    let mut clickhouse = start(&stack, "clickhouse");
    answers(&stack, &stack.url(8123), "/ping").await;
    let _migrated = run(stack.role("migrate"), b"").success();
    let mut gateway = start(&stack, "gateway");
    let mut query = start(&stack, "query");
    answers(&stack, &stack.url(9090), "/-/ready").await;
    let at = this_second();
    let request = otlp::request(
        &[],
        &[otlp::gauge("apart", "", &[otlp::number(&[], at, 3.5)])],
    );
    until(START, "the gateway to take a push", async || {
        let call = stack.ingest_with(&keys.ingest).call("/v1/metrics");
        let answer = call
            .header("content-type", tests::push::JSON)
            .body(request.to_string())
            .attempt()
            .await?;
        (answer.status == 200).then_some(())
    })
    .await;
    let ask = stack.ask_with("apart", &keys.query).at_once();
    let found = until(START, "the push to be stored", async || {
        let found = ask.instant("apart", at).await;
        (!found.is_empty()).then_some(found)
    })
    .await;
    assert_eq!(
        found.values().collect::<Vec<_>>(),
        [&(at, "3.5".to_owned())]
    );
    for (name, role) in [
        ("gateway", &mut gateway),
        ("query", &mut query),
        ("clickhouse", &mut clickhouse),
    ] {
        role.signal("TERM");
        let ended = role.wait(STOP).await;
        let log = std::fs::read_to_string(log_file(&stack, name)).unwrap();
        assert!(ended.success(), "{name} ended with {ended}: {log}");
    }
}

fn start(stack: &Stack, name: &str) -> Group {
    let mut command = stack.role(name);
    let log = std::fs::File::create(log_file(stack, name)).unwrap();
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    Group::spawn(command)
}

fn log_file(stack: &Stack, name: &str) -> std::path::PathBuf {
    stack.root().join(format!("{name}.log"))
}

async fn answers(stack: &Stack, base: &str, path: &str) {
    until(START, base, async || {
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
