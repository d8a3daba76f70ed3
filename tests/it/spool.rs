//! A gateway without ClickHouse: it takes pushes, its spool can be looked at, and what it holds is delivered later.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tests::clock::this_second;
use tests::otlp;
use tests::process::{Group, run, until};
use tests::stack::Stack;

/// Longest wait for a role on a busy machine.
const WAIT: Duration = Duration::from_secs(180);

#[tokio::test]
async fn a_gateway_works_without_clickhouse_and_its_spool_can_be_listed_and_delivered_later() {
    let mut stack = Stack::prepare();
    let keys = stack.fill(|directory| directory.tenant("alone"));
    let mut gateway = start(&stack);
    let at = this_second();
    let points = [otlp::number(&[], at, 3.5)];
    let request = otlp::request(&[], &[otlp::gauge("alone", "", &points)]);
    until(WAIT, "the gateway to take a push", async || {
        let call = stack.ingest_with(&keys.ingest).call("/v1/metrics");
        let call = call.header("content-type", tests::push::JSON);
        let answer = call.body(request.to_string()).attempt().await?;
        assert_eq!((answer.status, answer.text()), (200, "{}".to_owned()));
        Some(())
    })
    .await;

    let listed = run(spool(&stack, &["list", "-o", "json"]), b"").success();
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let [segment] = &listed.as_array().unwrap()[..] else {
        panic!("one segment waits: {listed}");
    };
    let name = segment["name"].as_str().unwrap();
    assert!(
        ["open", "waiting"].contains(&segment["place"].as_str().unwrap()),
        "{segment}"
    );
    assert!(segment["bytes"].as_u64() > Some(50), "{segment}");
    let table = run(spool(&stack, &["list"]), b"").success();
    assert!(table.stdout.contains(name), "{}", table.stdout);

    for verb in ["retry", "drop"] {
        let refused = run(spool(&stack, &[verb, name]), b"");
        assert_eq!(refused.code, Some(4), "{}", refused.stdout);
        assert!(
            refused.stderr.contains("is set aside"),
            "{}",
            refused.stderr
        );
    }

    gateway.signal("TERM");
    let second = until(WAIT, "the first signal to be seen", async || {
        stack.log().contains("SIGTERM").then_some(())
    });
    second.await;
    gateway.signal("TERM");
    assert!(gateway.wait(WAIT).await.success(), "{}", stack.log());

    stack.run().await;
    let found = stack
        .ask_with("alone", &keys.query)
        .instant("alone", at)
        .await;
    assert_eq!(
        found.values().collect::<Vec<_>>(),
        [&(at, "3.5".to_owned())]
    );
    let listed = run(spool(&stack, &["list"]), b"").success();
    assert_eq!(listed.stdout, "nothing waits and nothing is set aside\n");
    stack.stop().await;
}

fn start(stack: &Stack) -> Group {
    let log = std::fs::File::create(stack.root().join("sluice.log")).unwrap();
    let mut command = stack.role("gateway");
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    Group::spawn(command)
}

/// `sluice spool VERB … --data-dir …`.
fn spool(stack: &Stack, words: &[&str]) -> std::process::Command {
    let mut command = tests::stack::sluice();
    command
        .arg("spool")
        .args(words)
        .arg("--data-dir")
        .arg(stack.data());
    command
}
