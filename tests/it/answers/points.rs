//! Pushes that are answered with 200.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{
    Cast, Ingest, JSON, Method, PROTOBUF, Stack, Value, body, gzip, json, one_point, otlp,
    this_second,
};

/// What a "Test connection" button may send.
pub(super) async fn empty_requests_succeed(gateway: &Ingest, kind: &str) {
    let nothing = json!({});
    let envelopes = json!({"resourceMetrics": [{"scopeMetrics": [{"metrics": []}]}]});
    for request in [nothing, json!({"resourceMetrics": []}), envelopes] {
        let call = gateway.call("/v1/metrics").header("content-type", kind);
        let answer = call.body(body(kind, &request)).send().await;
        assert_eq!(answer.partial(), (0, String::new()));
        assert_eq!(answer.header("content-type"), kind);
        assert_eq!(answer.text(), if kind == JSON { "{}" } else { "" });
    }
    // No byte at all: any type, any encoding, or none.
    for (name, value) in [
        ("content-type", kind),
        ("content-type", "text/plain"),
        ("content-encoding", "gzip"),
        ("x-nothing", "said"),
    ] {
        let answer = gateway
            .call("/v1/metrics")
            .header(name, value)
            .body("")
            .send()
            .await;
        assert_eq!(answer.status, 200, "{name}: {value}: {}", answer.text());
    }
    let call = gateway.call("/v1/metrics").header("content-type", kind);
    let answer = call
        .header("content-encoding", "gzip")
        .body(gzip(b""))
        .send()
        .await;
    assert_eq!(answer.partial(), (0, String::new()));
}

/// Metrics that are lost, how many points of each, and why.
fn lost(at: i64) -> [(Value, i64, &'static str); 10] {
    let (old, future) = (at - 8 * 86_400_000, at + 20 * 60_000);
    let point = |ts| otlp::number(&[], ts, 1.0);
    let with_temporality = |name: &str, points: &[Value], number: u8| {
        let mut metric = otlp::counter(name, "", points);
        metric["sum"]["aggregationTemporality"] = json!(number);
        metric
    };
    let buckets = |bounds: &[f64], counts: &[u64]| otlp::observations(&[], at, 1.0, bounds, counts);
    let gauge = |name: &str, points: &[Value]| otlp::gauge(name, "", points);
    let histogram = |name: &str, point: Value| otlp::histogram(name, "", &[point]);
    [
        (
            with_temporality("delta", &[point(at), point(at)], 1),
            2,
            "delta_temporality",
        ),
        (
            with_temporality("vague", &[point(at)], 0),
            1,
            "unspecified_temporality",
        ),
        (
            gauge("valueless", &[json!({"timeUnixNano": otlp::nanos(at)})]),
            1,
            "no_value",
        ),
        (
            gauge("timeless", &[json!({"asDouble": 1.0})]),
            1,
            "timestamp_zero",
        ),
        (
            gauge("old", &[point(old), point(at), point(old)]),
            2,
            "too_old",
        ),
        (gauge("early", &[point(future)]), 1, "too_far_in_future"),
        (gauge("!!!", &[point(at)]), 1, "invalid_metric_name"),
        (
            gauge("unlabelled", &[otlp::number(&[("", "x")], at, 1.0)]),
            1,
            "invalid_label_name",
        ),
        (
            histogram("uneven", buckets(&[1.0, 2.0], &[1, 2])),
            1,
            "bucket_mismatch",
        ),
        (
            histogram("falling", buckets(&[2.0, 1.0], &[1, 2, 3])),
            1,
            "invalid_bounds",
        ),
    ]
}

/// Each reason alone, and all of them in one JSON push beside a point that must be stored.
pub(super) async fn rejects_are_counted_by_reason(stack: &Stack, cast: &Cast) {
    let at = this_second();
    let gateway = stack.ingest_with(&cast.good);
    let mut metrics = vec![otlp::gauge("good", "", &[otlp::number(&[], at, 1.0)])];
    let mut total = 0;
    for (metric, points, reason) in lost(at) {
        total += points;
        metrics.push(metric.clone());
        let answer = gateway.json(&otlp::request(&[], &[metric])).await;
        let (count, message) = answer.partial();
        assert_eq!(count, points, "{reason}: {message}");
        let noun = if points == 1 { "point" } else { "points" };
        let sentence = format!("{points} {noun} rejected: {reason};");
        assert!(
            message.contains(&sentence) && message.contains("to do: "),
            "{message}"
        );
    }
    let (count, message) = gateway.json(&otlp::request(&[], &metrics)).await.partial();
    assert_eq!(count, total, "{message}");
    let found = stack
        .ask_with("t", &cast.reader)
        .instant("{__name__=~\".+\"}", at)
        .await;
    let names: Vec<&str> = found.keys().map(|set| set["__name__"].as_str()).collect();
    assert_eq!(
        names,
        ["good", "old"],
        "the good point, and the good one of three"
    );

    // All points of a push: still 200, and the same count in protobuf.
    let old = otlp::number(&[], at - 8 * 86_400_000, 1.0);
    let request = otlp::request(&[], &[otlp::gauge("old", "", &[old])]);
    let answer = gateway.protobuf(&request).await;
    assert_eq!(answer.header("content-type"), PROTOBUF);
    assert_eq!(answer.partial().0, 1);
}

/// Bases that people configure, with what exporters append, and a slash too many.
pub(super) async fn aliases_of_the_path_are_the_path(gateway: &Ingest) {
    for path in [
        "/v1/metrics",
        "/v1/metrics/",
        "//v1/metrics",
        "/otlp/v1/metrics",
        "/otlp//v1/metrics",
        "/api/v1/otlp/v1/metrics",
        "/opentelemetry/v1/metrics",
    ] {
        let call = gateway.call(path).header("content-type", JSON);
        let answer = call.body(one_point("alias").to_string()).send().await;
        assert_eq!(answer.partial(), (0, String::new()), "{path}");
    }
}

/// The forms that providers, SDKs and people use for tenant `t` and a key of it.
fn credential_forms(key: &str) -> [(&'static str, String); 15] {
    let basic = |text: &str| STANDARD.encode(text);
    let (pair, with_id) = (format!("t:{key}"), format!("ten_t:{key}"));
    let mut wrapped = format!("Basic {}", basic(&pair));
    wrapped.insert(40, ' ');
    [
        ("authorization", format!("Bearer {key}")),
        ("authorization", format!("bearer   {key} ")),
        ("authorization", format!("Basic {}", basic(&pair))),
        ("authorization", format!("BASIC {}", basic(&with_id))),
        (
            "authorization",
            format!("Basic {}", basic(&format!("{pair}\n"))),
        ),
        (
            "authorization",
            format!("Basic {}", basic(&format!(":{key}"))),
        ),
        (
            "authorization",
            format!("Basic {}", basic(&format!("{key}:"))),
        ),
        (
            "authorization",
            format!("Basic {}", basic(&pair).trim_end_matches('=')),
        ),
        ("authorization", format!("Basic%20{}", basic(&pair))),
        ("authorization", wrapped),
        ("x-sluice-instance-api-key", format!("t/{key}")),
        ("X-OODLE-INSTANCE-API-KEY", format!("t/{key}")),
        ("api-key", key.to_owned()),
        ("x-otlp-api-key", key.to_owned()),
        (
            "authorization",
            format!("Authorization: Basic {}", basic(&pair)),
        ),
    ]
}

/// All forms mean the same, and two at once mean nothing.
pub(super) async fn every_form_of_credentials_pushes(stack: &Stack, key: &str) {
    let gateway = stack.ingest_with("");
    for (name, value) in credential_forms(key) {
        let call = gateway
            .bare(Method::POST, "/v1/metrics")
            .header(name, &value);
        let answer = call.body("").send().await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
    }
    for (instance, name) in [
        ("x-sluice-instance", "x-api-key"),
        ("X-OODLE-INSTANCE", "X-API-KEY"),
    ] {
        let call = gateway.bare(Method::POST, "/v1/metrics");
        let answer = call
            .header(instance, "t")
            .header(name, key)
            .body("")
            .send()
            .await;
        assert_eq!(answer.status, 200, "{instance}: {}", answer.text());
    }
    // Two keys in one request are one too many.
    let call = gateway.call("/v1/metrics").header("api-key", key);
    let both = call.header("content-type", JSON).body("{}").send().await;
    assert_eq!(both.status, 401, "{}", both.text());
}
