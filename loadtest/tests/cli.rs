//! The program as it is called: exit codes and help.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

fn loadtest(words: &str) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_loadtest"))
        .args(words.split_whitespace())
        .env_remove("LOADTEST_KEY")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn a_missing_target_is_a_usage_error_that_says_what_to_give() {
    let (code, _, error) = loadtest("run cerebrium");
    assert_eq!(code, Some(2));
    assert!(error.contains("--credentials"), "{error}");
}

#[test]
fn an_unknown_scenario_is_a_usage_error_that_lists_them() {
    let (code, _, error) = loadtest("run heroku");
    assert_eq!(code, Some(2));
    assert!(error.contains("cerebrium, crusoe, sdk"), "{error}");
}

#[test]
fn a_store_that_is_not_there_fails_the_run_and_counts_what_happened() {
    // Port 9 of this machine: nobody listens there.
    let (code, text, _) = loadtest(
        "run cerebrium --apps 2 --rounds 2 --url http://127.0.0.1:9 --key k --no-verify --retry-for 0",
    );
    assert_eq!(code, Some(1));
    assert!(text.contains("connection refused: 2"), "{text}");
}

#[test]
fn help_names_every_subcommand() {
    let (code, text, _) = loadtest("--help");
    assert_eq!(code, Some(0));
    for name in ["run", "verify", "peers", "prepare", "render"] {
        assert!(text.contains(&format!("  {name} ")), "{name}: {text}");
    }
}
