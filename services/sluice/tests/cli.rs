//! The command line from outside: what scripts rely on.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail their test")]

use std::process::{Command, Output};

fn sluice(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(arguments)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_generated_key_inspects_as_whole_and_of_its_class() {
    let key = stdout(&sluice(&[
        "keys",
        "generate",
        "--offline",
        "--class",
        "query",
    ]));
    let key = key.trim();
    assert!(key.starts_with("slcq_") && key.len() == 56, "{key}");
    let seen = sluice(&["keys", "inspect", key]);
    assert_eq!(seen.status.code(), Some(0));
    assert!(stdout(&seen).contains("query"), "{}", stdout(&seen));
    assert!(
        !stdout(&seen).contains(key.split_at(18).1),
        "the secret was printed"
    );
}

#[test]
fn a_cut_key_is_a_usage_error_that_does_not_repeat_it() {
    let key = stdout(&sluice(&["keys", "generate", "--offline"]));
    let cut = key.split_at(50).0;
    let seen = sluice(&["keys", "inspect", cut]);
    assert_eq!(seen.status.code(), Some(2));
    assert!(
        stderr(&seen).contains("expected 56 characters, got 50"),
        "{}",
        stderr(&seen)
    );
    assert!(!stderr(&seen).contains(cut));
}

#[test]
fn an_unknown_configuration_key_is_named_with_its_source_and_exits_64() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, "[gateway]\nlisten_on = \"127.0.0.1:1\"\n").unwrap();
    let seen = sluice(&["up", "--check-config", "--config", file.to_str().unwrap()]);
    assert_eq!(seen.status.code(), Some(64));
    assert!(
        stderr(&seen).contains("listen_on") && stderr(&seen).contains("mine.toml"),
        "{}",
        stderr(&seen)
    );
}

#[test]
fn the_built_in_configuration_checks_clean() {
    for role in ["up", "gateway", "query", "clickhouse", "migrate"] {
        let seen = sluice(&[role, "--check-config"]);
        assert_eq!(seen.status.code(), Some(0), "{role}: {}", stderr(&seen));
        assert_eq!(stdout(&seen), "the configuration is valid\n", "{role}");
    }
}

/// `sluice push` of a file with `text` to an address where nobody listens.
fn push_to_nobody(text: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("push.json");
    std::fs::write(&file, text).unwrap();
    sluice(&[
        "push",
        file.to_str().unwrap(),
        "--key",
        "k",
        "--url",
        "http://127.0.0.1:1",
    ])
}

#[test]
fn pushing_a_file_that_is_not_otlp_is_a_usage_error() {
    let seen = push_to_nobody("{\"one\": \"two\"}");
    assert_eq!(seen.status.code(), Some(2));
    assert!(
        stderr(&seen).contains("neither resourceMetrics nor resourceLogs"),
        "{}",
        stderr(&seen)
    );
}

#[test]
fn pushing_to_nobody_is_a_server_error_that_names_the_address() {
    let seen = push_to_nobody("{\"resourceMetrics\": []}");
    assert_eq!(seen.status.code(), Some(7));
    assert!(
        stderr(&seen).contains("no answer from http://127.0.0.1:1/v1/metrics"),
        "{}",
        stderr(&seen)
    );
}
