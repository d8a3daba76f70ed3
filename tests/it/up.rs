//! `sluice up`: its files, its start, its end, and what it refuses.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use serde_json::Value;
use tests::clock::this_second;
use tests::otlp;
use tests::process::{Group, run};
use tests::push::JSON;
use tests::stack::{Credentials, Stack, sluice};
use tokio::task::JoinSet;

fn gauge(name: &str, ts: i64, value: f64) -> Value {
    otlp::request(
        &[],
        &[otlp::gauge(name, "", &[otlp::number(&[], ts, value)])],
    )
}

#[tokio::test]
async fn a_first_start_makes_keys_that_nobody_prints_and_a_second_start_keeps_them_and_the_data() {
    let mut stack = Stack::start().await;
    let first = stack.credentials();
    let file = stack.data().join("credentials.json");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    as_promised(&stack, &first);
    let at = this_second();
    stack.ingest().all(&gauge("kept", at, 12.5)).await;

    assert!(stack.stop().await.success());
    stack.run().await;
    let second = stack.credentials();
    assert_eq!(
        [
            second.ingest_key,
            second.query_key,
            second.tenant_admin_key,
            second.operator_key
        ],
        [
            &first.ingest_key,
            &first.query_key,
            &first.tenant_admin_key,
            &first.operator_key
        ]
        .map(Clone::clone)
    );
    let found = stack.ask().instant("kept", at).await;
    assert_eq!(
        found.values().collect::<Vec<_>>(),
        [&(at, "12.5".to_owned())]
    );

    let log = stack.log();
    assert!(log.contains("credentials.json"), "the path is told: {log}");
    for key in [
        &first.ingest_key,
        &first.query_key,
        &first.tenant_admin_key,
        &first.operator_key,
    ] {
        let secret = key.rsplit('_').next().unwrap();
        assert!(!log.contains(secret), "a secret is in the log");
    }
}

/// Keys of the promised shape and bases of the ports in use.
fn as_promised(stack: &Stack, known: &Credentials) {
    assert_eq!(known.tenant, "demo");
    for (key, prefix) in [
        (&known.ingest_key, "slci_"),
        (&known.query_key, "slcq_"),
        (&known.tenant_admin_key, "slca_"),
        (&known.operator_key, "slca_"),
    ] {
        assert!(
            key.starts_with(prefix) && key.len() == 56,
            "a key of another shape"
        );
    }
    for (url, default) in [
        (&known.urls.otlp_http, 4318),
        (&known.urls.otlp_grpc, 4317),
        (&known.urls.prometheus, 9090),
        (&known.urls.control, 8080),
        (&known.urls.clickhouse, 8123),
    ] {
        assert_eq!(*url, stack.url(default), "a base without a path");
    }
}

#[tokio::test]
async fn the_admin_port_tells_whether_it_lives_whether_it_is_ready_and_what_it_counts() {
    let stack = Stack::start().await;
    stack
        .ingest()
        .all(&gauge("counted", this_second(), 1.0))
        .await;
    for path in ["livez", "readyz"] {
        let answer = stack
            .http()
            .get(format!("{}/{path}", stack.admin()))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 200, "{path}");
    }
    let answer = stack
        .http()
        .get(format!("{}/metrics", stack.admin()))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    let text = answer.text().await.unwrap();
    assert!(
        text.lines().any(|line| line.starts_with("sluice_")),
        "{text}"
    );
    assert!(
        !text.contains("slci_") && !text.contains("slcq_"),
        "no key in metrics"
    );
}

#[tokio::test]
async fn sigterm_answers_the_pushes_that_came_before_it_and_then_ends() {
    let mut stack = Stack::start().await;
    let at = this_second();
    let mut pushes = JoinSet::new();
    for number in 0..40 {
        let name = format!("last_{number:02}");
        let body = gauge(&name, at, 1.0).to_string();
        let call = stack
            .ingest()
            .call("/v1/metrics")
            .header("content-type", JSON)
            .body(body);
        pushes.spawn(async move { (name, call.attempt().await) });
    }
    let (name, answer) = pushes.join_next().await.unwrap().unwrap();
    assert_eq!(answer.unwrap().status, 200);
    // The others are on their way now.
    stack.terminate();
    let mut kept = vec![name];
    while let Some(ended) = pushes.join_next().await {
        let (name, answer) = ended.unwrap();
        // One that found the door closed has no answer and expects nothing.
        if answer.is_some_and(|answer| answer.status == 200) {
            kept.push(name);
        }
    }
    assert!(stack.stop().await.success(), "{}", stack.log());
    stack.run().await;
    let found = stack.ask().instant("{__name__=~\"last_.*\"}", at).await;
    let names: Vec<String> = found.keys().map(|set| set["__name__"].clone()).collect();
    for name in kept {
        assert!(names.contains(&name), "{name} was acknowledged and is gone");
    }
}

#[tokio::test]
async fn a_second_start_on_the_same_folder_is_refused_with_the_reason() {
    let stack = Stack::start().await;
    let elsewhere = Stack::prepare();
    let mut command = sluice();
    command.arg("up").arg("--data-dir").arg(stack.data());
    command.args(["--port-offset", &port_offset(&elsewhere)]);
    let refused = finish(command).await;
    assert_eq!(refused.0, Some(5), "{}", refused.1);
    assert!(
        refused.1.contains("in use") || refused.1.contains("another"),
        "{}",
        refused.1
    );
    assert!(
        refused.1.contains(&*stack.data().to_string_lossy()),
        "{}",
        refused.1
    );
    // The first one is none the worse.
    let at = this_second();
    stack.ingest().all(&gauge("unharmed", at, 1.0)).await;
    assert_eq!(stack.ask().instant("unharmed", at).await.len(), 1);
}

#[tokio::test]
async fn a_configuration_is_checked_without_starting_and_a_wrong_key_is_named_with_its_source() {
    let stack = Stack::prepare();
    let mut command = stack.command();
    command.arg("--check-config");
    let checked = run(command, b"").success();
    assert_eq!(checked.stdout, "the configuration is valid\n");
    assert!(!stack.data().exists(), "checking writes nothing");

    let file = stack.root().join("wrong.toml");
    std::fs::write(&file, "[gateway]\nlisten_on = \"127.0.0.1:1\"\n").unwrap();
    let mut command = stack.command();
    command.arg("--check-config").arg("--config").arg(&file);
    let refused = run(command, b"");
    assert_eq!(refused.code, Some(64), "{}", refused.stderr);
    for word in ["listen_on", "wrong.toml"] {
        assert!(refused.stderr.contains(word), "{}", refused.stderr);
    }

    let mut command = stack.command();
    command
        .arg("--check-config")
        .env("SLUICE__GATEWAY__LISTN", "127.0.0.1:1");
    let refused = run(command, b"");
    assert_eq!(refused.code, Some(64), "{}", refused.stderr);
    let text = refused.stderr.to_ascii_lowercase();
    assert!(
        text.contains("listn") && text.contains("environment"),
        "{}",
        refused.stderr
    );
}

/// Runs a service that should end by itself; answers its exit code and everything that it printed.
async fn finish(mut command: std::process::Command) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let log = std::fs::File::create(&path).unwrap();
    command.stdout(log.try_clone().unwrap()).stderr(log);
    let status = Group::spawn(command).wait(Duration::from_secs(120)).await;
    (status.code(), std::fs::read_to_string(&path).unwrap())
}

fn port_offset(stack: &Stack) -> String {
    let port: u16 = stack.url(4318).rsplit(':').next().unwrap().parse().unwrap();
    (port - 4318).to_string()
}
