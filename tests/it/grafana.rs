//! What Grafana's Prometheus data source asks, in its order and with its parameters.

use serde_json::json;
use tests::ask::{failure, labels, seconds, success};
use tests::clock::{MINUTE, this_second};
use tests::otlp;
use tests::stack::Stack;

#[tokio::test]
async fn save_and_test_start_up_the_metric_browser_and_a_panel_are_answered() {
    let stack = Stack::start().await;
    let at = this_second();
    let point = |host, value| otlp::number(&[("host", host)], at, value);
    stack
        .ingest()
        .all(&otlp::request(
            &[("service.name", "api")],
            &[
                otlp::counter(
                    "http.requests",
                    "{request}",
                    &[point("a", 5.0), point("b", 7.0)],
                ),
                otlp::gauge("queue.wait", "ms", &[point("a", 1.5)]),
                otlp::histogram(
                    "http.latency",
                    "s",
                    &[otlp::observations(&[], at, 0.5, &[1.0], &[1, 0])],
                ),
            ],
        ))
        .await;
    save_and_test(&stack).await;
    metric_browser(&stack, at).await;
    panel(&stack, at).await;
}

async fn save_and_test(stack: &Stack) {
    let ask = stack.ask();
    for prefix in ["", "/prometheus"] {
        let answer = ask
            .post(
                &format!("{prefix}/api/v1/query"),
                &[("query", "1+1"), ("time", "4")],
            )
            .await;
        assert_eq!(
            answer.value(),
            json!({"status": "success", "data": {"resultType": "scalar", "result": [4, "2"]}})
        );
        let info = ask
            .data(&format!("{prefix}/api/v1/status/buildinfo"), &[])
            .await;
        for field in [
            "version",
            "revision",
            "branch",
            "buildUser",
            "buildDate",
            "goVersion",
        ] {
            assert!(info[field].is_string(), "{field}: {info}");
        }
        assert!(
            info.get("features").is_none(),
            "Grafana would take this for Mimir: {info}"
        );
    }
    assert_eq!(ask.data("/api/v1/rules", &[]).await, json!({"groups": []}));
    assert_eq!(ask.data("/api/v1/alerts", &[]).await, json!({"alerts": []}));
    for path in ["/-/healthy", "/-/ready"] {
        let answer = stack
            .http()
            .get(format!("{}{path}", stack.url(9090)))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 200, "{path}");
    }
}

async fn metric_browser(stack: &Stack, at: i64) {
    let ask = stack.ask();
    assert_eq!(
        ask.data("/api/v1/metadata", &[("limit", "40000")]).await,
        json!({
            "http_requests_total": [{"type": "counter", "help": "", "unit": ""}],
            "queue_wait_milliseconds": [{"type": "gauge", "help": "", "unit": "milliseconds"}],
            "http_latency_seconds": [{"type": "histogram", "help": "", "unit": "seconds"}],
        })
    );
    let (start, end) = (seconds(at - 60 * MINUTE), seconds(at + MINUTE));
    let window = [
        ("start", start.as_str()),
        ("end", end.as_str()),
        ("limit", "40000"),
    ];
    assert_eq!(
        ask.strings("/api/v1/label/__name__/values", &window).await,
        [
            "http_latency_seconds_bucket",
            "http_latency_seconds_count",
            "http_latency_seconds_sum",
            "http_requests_total",
            "queue_wait_milliseconds",
        ]
    );
    assert_eq!(
        ask.strings("/api/v1/labels", &window).await,
        ["__name__", "host", "job", "le"]
    );
    let all = [("match[]", "{__name__!=\"\"}"), ("limit", "0")];
    assert_eq!(ask.strings("/api/v1/label/job/values", &all).await, ["api"]);
    let one = [("match[]", "http_requests_total{host=\"b\"}")];
    assert_eq!(ask.strings("/api/v1/label/host/values", &one).await, ["b"]);
    assert_eq!(
        ask.strings("/api/v1/labels", &one).await,
        ["__name__", "host", "job"]
    );
    let series = success(&ask.post("/api/v1/series", &one).await, "series");
    assert_eq!(
        series,
        json!([{"__name__": "http_requests_total", "host": "b", "job": "api"}])
    );
    let none = ask.get("/api/v1/series", &[]).await;
    assert_eq!(none.status, 400);
    assert_eq!(
        failure(&none),
        (
            "bad_data".to_owned(),
            "no match[] parameter provided".to_owned()
        )
    );
    let post = ask.post("/api/v1/label/job/values", &[]).await;
    assert_eq!(post.status, 405, "{}", post.text());
}

async fn panel(stack: &Stack, at: i64) {
    let ask = stack.ask();
    // Start and end aligned to the step, and a step in whole seconds without a unit, as Grafana sends.
    let end = at / MINUTE * MINUTE + MINUTE;
    let parameters = [
        ("query", "sum(http_requests_total)"),
        ("start", &seconds(end - 5 * MINUTE)),
        ("end", &seconds(end)),
        ("step", "60"),
    ];
    let data = success(&ask.post("/api/v1/query_range", &parameters).await, "panel");
    assert_eq!(
        data,
        json!({"resultType": "matrix", "result": [{"metric": {}, "values": [[end / 1000, "12"]]}]})
    );
    let mistyped = ask.post("/api/v1/query", &[("query", "sum(")]).await;
    assert_eq!(mistyped.status, 400);
    let (kind, text) = failure(&mistyped);
    assert_eq!(kind, "bad_data");
    assert!(
        text.starts_with("invalid parameter \"query\": 1:5: parse error: "),
        "{text}"
    );
    let unknown = ask.get("/api/v1/nothing", &[]).await;
    assert_eq!(
        (unknown.status, unknown.text().as_str()),
        (404, "404 page not found\n")
    );
    let by_name = ask.instant("queue_wait_milliseconds", at).await;
    let set = labels([
        ("__name__", "queue_wait_milliseconds"),
        ("host", "a"),
        ("job", "api"),
    ]);
    assert_eq!(by_name.get(&set), Some(&(at, "1.5".to_owned())));
}
