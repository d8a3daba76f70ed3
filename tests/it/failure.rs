//! ClickHouse dies under a running system: pushes are taken, readers are told, and everything is there after.

use std::time::Duration;

use tests::ask::failure;
use tests::clock::this_second;
use tests::otlp;
use tests::process::{kill, until};
use tests::stack::Stack;

/// Longest wait for an engine to come back on a busy machine.
const RESTART: Duration = Duration::from_secs(180);

#[tokio::test]
async fn without_clickhouse_pushes_are_taken_queries_fail_and_nothing_acknowledged_is_lost() {
    let stack = Stack::start().await;
    let at = this_second();
    let push =
        |name: &str| otlp::request(&[], &[otlp::gauge(name, "", &[otlp::number(&[], at, 1.0)])]);
    stack.ingest().all(&push("before")).await;

    kill("KILL", &engine_of(stack.id()).await.to_string());
    // It is not started again before a second has passed, so what follows meets its absence.
    until(RESTART, "the loss to be noticed", async || {
        (ready(&stack).await == 503).then_some(())
    })
    .await;
    everybody_says_so(&stack, at).await;
    until(RESTART, "the engine to come back", async || {
        (ready(&stack).await == 200).then_some(())
    })
    .await;

    stack.ingest().all(&push("after")).await;
    let found = stack
        .ask()
        .instant("{__name__=~\"before|during|after\"}", at)
        .await;
    let names: Vec<&str> = found.keys().map(|set| set["__name__"].as_str()).collect();
    assert_eq!(names, ["after", "before", "during"]);
}

/// What senders and readers are told meanwhile.
async fn everybody_says_so(stack: &Stack, at: i64) {
    let points = [otlp::number(&[], at, 1.0)];
    let request = otlp::request(&[], &[otlp::gauge("during", "", &points)]);
    let (ingest, ask) = (stack.ingest(), stack.ask().at_once());
    let (json, protobuf, query) = tokio::join!(
        ingest.json(&request),
        ingest.protobuf(&request),
        ask.get("/api/v1/query", &[("query", "before")]),
    );
    for answer in [json, protobuf] {
        assert_eq!((answer.status, answer.partial()), (200, (0, String::new())));
    }
    assert!(
        (500..=503).contains(&query.status),
        "{}: {}",
        query.status,
        query.text()
    );
    let (kind, text) = failure(&query);
    assert!(
        ["internal", "unavailable", "timeout"].contains(&kind.as_str()),
        "{kind}: {text}"
    );
    assert!(!text.is_empty() && !text.contains("SELECT"), "{text}");
}

async fn ready(stack: &Stack) -> u16 {
    let answer = stack
        .http()
        .get(format!("{}/readyz", stack.admin()))
        .send()
        .await;
    answer.expect("the admin port answers").status().as_u16()
}

/// Process id of the child of `parent` that runs `sluice clickhouse`.
async fn engine_of(parent: u32) -> u32 {
    until(RESTART, "a child that runs ClickHouse", async || {
        std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
            .find(|pid| {
                let read = |file| std::fs::read_to_string(format!("/proc/{pid}/{file}"));
                let child = read("status").unwrap_or_default();
                child.contains(&format!("\nPPid:\t{parent}\n"))
                    && read("cmdline")
                        .unwrap_or_default()
                        .contains("\0clickhouse\0")
            })
    })
    .await
}
