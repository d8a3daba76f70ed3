//! The label APIs, metadata, and label values that try to leave their quotes.

use serde_json::json;

use crate::rows::NOON;
use crate::service::Service;

#[tokio::test]
async fn lists_are_sorted_filtered_and_cut() {
    let service = Service::start(|rows| {
        rows.number(
            ("a", "gpu_temp", 1),
            &[("gpu", "0"), ("host", "h1")],
            &[(0, 1.0)],
        )
        .number(
            ("a", "gpu_temp", 2),
            &[("gpu", "1"), ("host", "h2")],
            &[(0, 1.0)],
        )
        .number(("a", "other", 1), &[("zone", "z")], &[(0, 1.0)]);
    })
    .await;
    let names = service.data("labels", &[("match[]", "gpu_temp")]).await;
    assert_eq!(names, json!(["__name__", "gpu", "host"]));
    let all = service.data("labels", &[]).await;
    assert_eq!(all, json!(["__name__", "gpu", "host", "zone"]));
    assert_eq!(
        service
            .data("labels", &[("match[]", r#"{__name__!=""}"#)])
            .await,
        all
    );
    assert_eq!(
        service
            .data("label/gpu/values", &[("match[]", "gpu_temp")])
            .await,
        json!(["0", "1"])
    );
    assert_eq!(
        service
            .data("label/gpu/values", &[("match[]", r#"gpu_temp{host="h2"}"#)])
            .await,
        json!(["1"])
    );
    assert_eq!(
        service
            .data("label/gpu/values", &[("match[]", "other")])
            .await,
        json!([])
    );
    let union = [("match[]", r#"gpu_temp{gpu=~"0|7"}"#), ("match[]", "other")];
    assert_eq!(
        service.data("series", &union).await,
        json!([{"__name__": "gpu_temp", "gpu": "0", "host": "h1"}, {"__name__": "other", "zone": "z"}])
    );
    let (_, cut) = service.answer("label/gpu/values", &[("limit", "1")]).await;
    assert_eq!(cut["data"], json!(["0"]));
    assert_eq!(cut["warnings"], json!(["results truncated due to limit"]));
    assert_eq!(
        service.data("label/gpu/values", &[("limit", "0")]).await,
        json!(["0", "1"])
    );
    let before = [("end", "1700000000"), ("match[]", "gpu_temp")];
    assert_eq!(service.data("label/gpu/values", &before).await, json!([]));
    assert_eq!(service.data("series", &before).await, json!([]));
}

#[tokio::test]
async fn metadata_is_listed_by_family() {
    let service = Service::start(|rows| {
        rows.about("a", "run_ms", ["histogram", "milliseconds", "old"])
            .about("a", "run_ms", ["histogram", "milliseconds", "new"])
            .about("a", "up", ["gauge", "", ""])
            .about("b", "of_b", ["gauge", "", ""]);
    })
    .await;
    let run = [
        json!({"type": "histogram", "help": "new", "unit": "milliseconds"}),
        json!({"type": "histogram", "help": "old", "unit": "milliseconds"}),
    ];
    let up = json!([{"type": "gauge", "help": "", "unit": ""}]);
    assert_eq!(
        service.data("metadata", &[]).await,
        json!({"run_ms": run, "up": up})
    );
    assert_eq!(
        service.data("metadata", &[("metric", "up")]).await,
        json!({"up": up})
    );
    let first = [("limit", "1"), ("limit_per_metric", "1")];
    assert_eq!(
        service.data("metadata", &first).await,
        json!({"run_ms": [run[0]]})
    );
    assert_eq!(
        service.data("metadata", &[("metric", "of_b")]).await,
        json!({})
    );
}

/// Texts that have broken quoting somewhere.
const NASTY: [&str; 20] = [
    "'",
    "''",
    "\\",
    "\\'",
    "\\\\'",
    "a\nb",
    "a\tb",
    "\r",
    "\u{0}",
    "\u{8}\u{c}",
    "`",
    "\"",
    "?",
    "??",
    "?fields",
    "{x:String}",
    "%'; DROP TABLE samples; --",
    "ü漢🎈",
    "\\x41\\n",
    "$1 ${x}",
];

#[tokio::test]
async fn any_label_value_survives_the_round_trip() {
    let service = Service::start(|rows| {
        for (id, value) in (1..).zip(NASTY) {
            rows.number(("a", "nasty", id), &[("value", value)], &[(0, 1.0)]);
        }
    })
    .await;
    let time = (NOON / 1000).to_string();
    for value in NASTY {
        let quoted = serde_json::to_string(value)
            .unwrap()
            .replace("\\u0000", "\\x00")
            .replace("\\b", "\\x08")
            .replace("\\f", "\\x0c");
        let query = format!("nasty{{value={quoted}}}");
        let data = service
            .data("query", &[("query", &query), ("time", &time)])
            .await;
        assert_eq!(data["result"].as_array().unwrap().len(), 1, "{query}");
        assert_eq!(data["result"][0]["metric"]["value"], value, "{query}");
    }
    let listed = service.data("label/value/values", &[]).await;
    assert_eq!(listed.as_array().unwrap().len(), NASTY.len());
}
