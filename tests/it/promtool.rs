//! Prometheus' own command line client against the query API.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tests::ask::seconds;
use tests::clock::{MINUTE, this_second};
use tests::otlp;
use tests::process::run;
use tests::stack::Stack;

#[tokio::test]
async fn promtool_reads_instants_ranges_labels_and_series() {
    let stack = Stack::start().await;
    let at = this_second();
    for (ts, value) in [(at - MINUTE, 41.0), (at, 42.5)] {
        let points = [
            otlp::number(&[("host", "a")], ts, value),
            otlp::number(&[("host", "b")], ts, 1.0),
        ];
        stack
            .ingest()
            .all(&otlp::request(
                &[],
                &[otlp::gauge("room.temperature", "Cel", &points)],
            ))
            .await;
    }
    stack.gateway().delivered().await;
    let url = stack.ask().url_with_credentials();

    let time = seconds(at);
    let text = promtool(&[
        "instant",
        "--time",
        &time,
        &url,
        "room_temperature_celsius{host=\"a\"}",
    ]);
    let whole = at / 1000;
    assert_eq!(
        text,
        format!("room_temperature_celsius{{host=\"a\"}} => 42.5 @[{whole}]\n")
    );

    let value = json_of(&[
        "instant",
        "--time",
        &time,
        &url,
        "sum(room_temperature_celsius)",
    ]);
    assert_eq!(value, json!([{"metric": {}, "value": [whole, "43.5"]}]));

    let start = seconds(at - MINUTE);
    let range = [
        "range", "--start", &start, "--end", &time, "--step", "60s", &url,
    ];
    let value = json_of(&[&range[..], &["room_temperature_celsius{host=\"a\"} * 2"]].concat());
    let values = json!([[whole - 60, "82"], [whole, "85"]]);
    assert_eq!(value, json!([{"metric": {"host": "a"}, "values": values}]));

    assert_eq!(promtool(&["labels", &url, "host"]), "a\nb\n");
    assert_eq!(
        promtool(&["series", "--match", "{host=~\"a|b\"}", &url]),
        "{__name__=\"room_temperature_celsius\", host=\"a\"}\n\
         {__name__=\"room_temperature_celsius\", host=\"b\"}\n"
    );
}

fn json_of(arguments: &[&str]) -> Value {
    let text = promtool(&[&["-o", "json"], arguments].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn promtool(arguments: &[&str]) -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/promtool");
    let program = if own.is_file() {
        own
    } else {
        "promtool".into()
    };
    let mut command = Command::new(program);
    command.arg("query").args(arguments);
    run(command, b"").success().stdout
}
