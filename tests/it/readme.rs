//! The README's marked examples, run as a reader would run them, on this test's ports and keys.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tests::process::run;
use tests::stack::{Stack, sluice};

const README: &str = include_str!("../../README.md");

/// Each marked example and the result of the query that it ends with.
fn examples() -> BTreeMap<&'static str, Value> {
    let series = |labels: Value, value: &str| json!([{"metric": labels, "value": value}]);
    let app = |name: &str, value: &str| json!({"metric": {"app_name": name}, "value": value});
    BTreeMap::from([
        (
            "quick",
            json!([
                app("llm-chat", "73.5"),
                app("sdxl-image", "91.25"),
                app("whisper-stt", "38")
            ]),
        ),
        // 95 % of 10 is 2.5 of the 3 between 100 and 250 ms.
        ("cerebrium", series(json!({"app_name": "my-model"}), "225")),
        ("crusoe", series(json!({"gpu": "0"}), "87")),
        (
            "collector",
            series(
                json!({"__name__": "system_network_io_bytes_total", "job": "node", "instance": "vm-1:9100"}),
                "1024",
            ),
        ),
        (
            "sdk",
            series(json!({"__name__": "model_token_count_total"}), "42"),
        ),
    ])
}

#[tokio::test]
async fn every_marked_example_of_the_readme_does_what_it_says() {
    let stack = Stack::start().await;
    let blocks = marked();
    let expected = examples();
    assert_eq!(
        blocks.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>(),
        "the README and this test know different examples"
    );
    for (name, block) in blocks {
        let done = run(shell(&stack, &block), b"").success();
        let (_, answer) = done.stdout.rsplit_once("{\"status\"").unwrap_or_else(|| {
            panic!(
                "{name}: no answer of a query: {}{}",
                done.stdout, done.stderr
            )
        });
        let answer: Value = serde_json::from_str(&format!("{{\"status\"{answer}")).unwrap();
        assert_eq!(
            without_times(&answer),
            expected[name],
            "{name}: {}",
            done.stdout
        );
    }
}

/// The fenced block after each `<!-- example: NAME -->`.
fn marked() -> BTreeMap<&'static str, String> {
    README
        .split("<!-- example: ")
        .skip(1)
        .map(|rest| {
            let (name, rest) = rest.split_once(" -->").unwrap();
            let block = rest.split("```").nth(1).unwrap();
            (name, block.split_once('\n').unwrap().1.to_owned())
        })
        .collect()
}

/// A block as a script: this test's ports, the built program, no packages from outside, and instead of a pause
/// a look whether what was pushed is stored.
fn shell(stack: &Stack, block: &str) -> Command {
    let credentials = stack.credentials();
    let program = sluice().get_program().to_string_lossy().into_owned();
    let mut script = block.replace("target/release/sluice", &program);
    for port in [4318, 9090] {
        script = script.replace(&format!("http://127.0.0.1:{port}"), &stack.url(port));
    }
    let stored = format!(
        "until curl -s {}/metrics | grep -q '^sluice_gateway_spool_waiting_segments 0'; do sleep 0.1; done",
        stack.admin()
    );
    let lines: Vec<&str> = script
        .lines()
        .filter(|line| !line.starts_with("pip install"))
        .map(|line| {
            if line.starts_with("sleep ") {
                &stored
            } else {
                line
            }
        })
        .collect();
    assert!(
        lines.contains(&stored.as_str()),
        "it asks without waiting: {block}"
    );
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new("bash");
    command
        .args(["-euc", &lines.join("\n")])
        .current_dir(tests.parent().unwrap())
        .env(
            "PATH",
            format!("{}:{path}", tests.join(".venv/bin").display()),
        )
        .env("SLUICE_URL", stack.url(4318))
        .env("INGEST", credentials.ingest_key)
        .env("QUERY", credentials.query_key);
    command
}

/// The result with values in place of `[time, value]`, and without what an SDK that is not told who it
/// is makes up.
fn without_times(answer: &Value) -> Value {
    let mut result = answer["data"]["result"].clone();
    for entry in result.as_array_mut().expect("a vector") {
        entry["value"] = entry["value"][1].take();
        let labels = entry["metric"].as_object_mut().expect("labels");
        let job = labels
            .get("job")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if job.starts_with("unknown_service") {
            labels.retain(|name, _| name != "job" && name != "instance");
        }
    }
    result
}
