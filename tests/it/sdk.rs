//! A real OpenTelemetry SDK, and a request written by hand in Python, against the gateway.

use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tests::ask::{Labels, Vector, labels};
use tests::clock::{now, this_second};
use tests::keys::Keys;
use tests::process::run;
use tests::stack::Stack;

/// Instruments of `sdk/record.py` and the families that they become.
const FAMILIES: [(&str, &str); 4] = [
    ("sdk.requests", "sdk_requests_total"),
    ("sdk.active", "sdk_active"),
    ("sdk.latency", "sdk_latency_seconds"),
    ("sdk.temperature", "sdk_temperature_celsius"),
];

fn python(script: &str) -> Command {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = tests.join(".venv/bin/python");
    assert!(
        program.is_file(),
        "{} is missing: run tests/run, which makes it",
        program.display()
    );
    let mut command = Command::new(program);
    command.arg(script_path(tests, script));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("OTEL_") {
            command.env_remove(name);
        }
    }
    command
}

fn script_path(tests: &Path, script: &str) -> PathBuf {
    tests.join("sdk").join(script)
}

#[tokio::test]
async fn the_python_sdk_records_and_the_same_values_are_read_back() {
    let (stack, tenants) = Stack::with(|directory| {
        ["plain", "gzip", "basic", "percent", "own"].map(|slug| directory.tenant(slug))
    })
    .await;
    for keys in &tenants {
        let mut command = python("record.py");
        command
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", stack.url(4318))
            .env("OTEL_EXPORTER_OTLP_HEADERS", header(keys));
        if keys.tenant == "gzip" {
            command.env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
        }
        let done = run(command, b"").success();
        assert_eq!(done.stderr, "", "the exporter complains");
        let recorded: Value = serde_json::from_str(&done.stdout).unwrap();
        let at = now();
        let ask = stack.ask_with(&keys.tenant, &keys.query);
        let found = ask.instant("{__name__=~\".+\"}", at).await;
        assert_eq!(found, expected(&recorded, at), "{}", keys.tenant);
    }
}

/// One way of writing the key into `OTEL_EXPORTER_OTLP_HEADERS` for each tenant.
fn header(keys: &Keys) -> String {
    let basic = STANDARD.encode(format!("{}:{}", keys.tenant, keys.ingest));
    match keys.tenant.as_str() {
        "basic" => format!("Authorization=Basic {basic}"),
        "percent" => format!("Authorization=Basic%20{basic}"),
        "own" => format!(
            "X-Sluice-Instance={},X-API-Key={}",
            keys.tenant, keys.ingest
        ),
        _ => format!("authorization=Bearer {}", keys.ingest),
    }
}

/// What the script says it recorded → the series that must be there.
fn expected(recorded: &Value, at: i64) -> Vector {
    let mut series = Vector::from([(target_info(&recorded["resource"]), (at, "1".to_owned()))]);
    assert_eq!(recorded.as_object().unwrap().len(), FAMILIES.len() + 1);
    for (instrument, family) in FAMILIES {
        for entry in recorded[instrument].as_array().unwrap() {
            let named = |suffix: &str, more: Option<(&str, &str)>| -> Labels {
                let mut set = labels([("job", "shop/worker"), ("instance", "w-1")]);
                set.insert("__name__".to_owned(), format!("{family}{suffix}"));
                for (key, value) in entry[0].as_object().unwrap() {
                    set.insert(key.replace('.', "_"), value.as_str().unwrap().to_owned());
                }
                set.extend(labels(more));
                set
            };
            let mut add = |set: Labels, value: f64| series.insert(set, (at, value.to_string()));
            if let Some(value) = entry[1].as_f64() {
                add(named("", None), value);
                continue;
            }
            let mut below = 0.0;
            for (bound, count) in numbers(&entry[1]["bounds"]).zip(numbers(&entry[1]["counts"])) {
                below += count;
                add(named("_bucket", Some(("le", &bound.to_string()))), below);
            }
            let all: f64 = numbers(&entry[1]["counts"]).sum();
            add(named("_bucket", Some(("le", "+Inf"))), all);
            add(named("_count", None), all);
            add(named("_sum", None), entry[1]["sum"].as_f64().unwrap());
        }
    }
    series
}

/// What the SDK says about itself goes with the service into a series of its own.
fn target_info(resource: &Value) -> Labels {
    let mut set = labels([
        ("__name__", "target_info"),
        ("job", "shop/worker"),
        ("instance", "w-1"),
    ]);
    for (key, value) in resource.as_object().unwrap() {
        if !key.starts_with("service.") {
            set.insert(key.replace('.', "_"), value.as_str().unwrap().to_owned());
        }
    }
    set
}

fn numbers(list: &Value) -> impl Iterator<Item = f64> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|number| number.as_f64().unwrap())
}

#[tokio::test]
async fn a_request_written_by_hand_is_read_back() {
    let (stack, keys) = Stack::with(|directory| directory.tenant("hand")).await;
    let at = this_second();
    let mut command = python("by_hand.py");
    command.args([
        &stack.url(4318),
        &keys.tenant,
        &keys.ingest,
        &at.to_string(),
    ]);
    let done = run(command, b"").success();
    assert_eq!(done.stdout, "200 {}\n");
    let found = stack
        .ask_with(&keys.tenant, &keys.query)
        .instant("by_hand_bytes", at)
        .await;
    let set = labels([("__name__", "by_hand_bytes"), ("worker_name", "w/1")]);
    // 2^53 + 1 as a float.
    assert_eq!(
        found,
        Vector::from([(set, (at, "9007199254740992".to_owned()))])
    );
}
