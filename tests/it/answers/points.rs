//! Pushes that are answered with 200.

use super::{Cast, Ingest, JSON, PROTOBUF, Stack, Value, body, gzip, json, one_point, otlp, this_second};

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
        let answer = gateway.call("/v1/metrics").header(name, value).body("").send().await;
        assert_eq!(answer.status, 200, "{name}: {value}: {}", answer.text());
    }
    let call = gateway.call("/v1/metrics").header("content-type", kind);
    let answer = call.header("content-encoding", "gzip").body(gzip(b"")).send().await;
    assert_eq!(answer.partial(), (0, String::new()));
}

/// Every reason once or more, in one push, beside a point that must be stored.
pub(super) async fn rejects_are_counted_by_reason(stack: &Stack, cast: &Cast) {
    let at = this_second();
    let (old, future) = (at - 8 * 86_400_000, at + 20 * 60_000);
    let point = |ts| otlp::number(&[], ts, 1.0);
    let with = |metric: Value, data: &str, field: &str, value: Value| {
        let mut metric = metric;
        metric[data][field] = value;
        metric
    };
    let valueless = json!({"timeUnixNano": otlp::nanos(at)});
    let timeless = json!({"asDouble": 1.0});
    let buckets = |bounds: &[f64], counts: &[u64]| otlp::observations(&[], at, 1.0, bounds, counts);
    let metrics = [
        otlp::gauge("good", "", &[point(at)]),
        with(otlp::counter("delta", "", &[point(at), point(at)]), "sum", "aggregationTemporality", json!(1)),
        with(otlp::counter("vague", "", &[point(at)]), "sum", "aggregationTemporality", json!(0)),
        otlp::gauge("valueless", "", &[valueless]),
        otlp::gauge("timeless", "", &[timeless]),
        otlp::gauge("old", "", &[point(old), point(at), point(old)]),
        otlp::gauge("early", "", &[point(future)]),
        otlp::gauge("!!!", "", &[point(at)]),
        otlp::gauge("unlabelled", "", &[otlp::number(&[("", "x")], at, 1.0)]),
        otlp::histogram("uneven", "", &[buckets(&[1.0, 2.0], &[1, 2])]),
        otlp::histogram("falling", "", &[buckets(&[2.0, 1.0], &[1, 2, 3])]),
    ];
    let reasons = [
        "2 points rejected: delta_temporality;",
        "1 point rejected: unspecified_temporality;",
        "1 point rejected: no_value;",
        "1 point rejected: timestamp_zero;",
        "2 points rejected: too_old;",
        "1 point rejected: too_far_in_future;",
        "1 point rejected: invalid_metric_name;",
        "1 point rejected: invalid_label_name;",
        "1 point rejected: bucket_mismatch;",
        "1 point rejected: invalid_bounds;",
    ];
    let answer = stack.ingest_with(&cast.good).json(&otlp::request(&[], &metrics)).await;
    let (count, message) = answer.partial();
    assert_eq!(count, 12, "{message}");
    for reason in reasons {
        assert!(message.contains(reason), "{message:?} does not say {reason:?}");
    }
    let found = stack.ask_with("t", &cast.reader).instant("{__name__=~\".+\"}", at).await;
    let names: Vec<&str> = found.keys().map(|set| set["__name__"].as_str()).collect();
    assert_eq!(names, ["good", "old"], "one good point of `old` and `good` itself");

    // All points of a push: still 200, and the same count in protobuf.
    let request = otlp::request(&[], &[otlp::gauge("old", "", &[point(old)])]);
    let answer = stack.ingest_with(&cast.good).protobuf(&request).await;
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
