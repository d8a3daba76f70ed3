//! ClickHouse dies under a running system: what senders and readers are told, and what is there after.

use std::time::Duration;

use tests::ask::failure;
use tests::clock::this_second;
use tests::otlp;
use tests::process::{kill, until};
use tests::push::{JSON, PROTOBUF};
use tests::stack::Stack;

/// How often a test tries to catch the system without ClickHouse: a restart takes a second or more, but
/// nothing promises that.
const TRIES: u32 = 20;

#[tokio::test]
async fn without_clickhouse_pushes_wait_queries_fail_and_nothing_acknowledged_is_lost() {
    let stack = Stack::start().await;
    let at = this_second();
    let push =
        |name: &str| otlp::request(&[], &[otlp::gauge(name, "", &[otlp::number(&[], at, 1.0)])]);
    stack.ingest().all(&push("before")).await;

    let mut caught = false;
    for _ in 0..TRIES {
        let engine = engine_of(stack.id());
        kill("KILL", &engine.to_string());
        caught = answers_say_so(&stack, at).await;
        until(
            Duration::from_secs(180),
            "the engine to come back",
            async || (ready(&stack).await == 200).then_some(()),
        )
        .await;
        if caught {
            break;
        }
    }
    assert!(caught, "the engine was always back at once");

    stack.ingest().all(&push("after")).await;
    let found = stack
        .ask()
        .instant("{__name__=~\"before|after\"}", at)
        .await;
    let names: Vec<&str> = found.keys().map(|set| set["__name__"].as_str()).collect();
    assert_eq!(names, ["after", "before"]);
}

/// Whether everybody noticed; once they do, what they say must be right.
async fn answers_say_so(stack: &Stack, at: i64) -> bool {
    let request = otlp::request(
        &[],
        &[otlp::gauge("during", "", &[otlp::number(&[], at, 1.0)])],
    );
    let (ingest, ask) = (stack.ingest(), stack.ask());
    let (json, protobuf, query, ready) = tokio::join!(
        ingest.json(&request),
        ingest.protobuf(&request),
        ask.get("/api/v1/query", &[("query", "before")]),
        ready(stack),
    );
    if json.status == 200 || protobuf.status == 200 || query.status == 200 || ready == 200 {
        return false;
    }
    for (answer, kind) in [(json, JSON), (protobuf, PROTOBUF)] {
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (503, kind),
            "{}",
            answer.text()
        );
        let wait: u32 = answer
            .header("retry-after")
            .parse()
            .expect("Retry-After in seconds");
        assert!(wait >= 1);
        let message = answer.error().message;
        assert!(
            message.len() > 20 && !message.contains("127.0.0.1"),
            "{message:?}"
        );
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
    assert_eq!(ready, 503);
    true
}

async fn ready(stack: &Stack) -> u16 {
    let answer = stack
        .http()
        .get(format!("{}/readyz", stack.admin()))
        .send()
        .await;
    answer.expect("the admin port answers").status().as_u16()
}

/// Process id of the child that runs `sluice clickhouse`.
fn engine_of(parent: u32) -> u32 {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .find(|pid| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            status.contains(&format!("\nPPid:\t{parent}\n"))
                && line
                    .split(|byte| *byte == 0)
                    .any(|word| word == b"clickhouse")
        })
        .expect("sluice up has a child that runs ClickHouse")
}
