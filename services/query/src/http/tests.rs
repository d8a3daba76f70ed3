//! Requests through the whole router: who is let in, what every path answers. The store is away, which
//! is itself one of the cases.

mod service;
mod pages;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use url::form_urlencoded;

use service::service;

#[tokio::test]
async fn grafanas_connection_test_succeeds_by_get_and_post_under_both_prefixes() {
    let service = service();
    let expected = r#"{"status":"success","data":{"resultType":"scalar","result":[4,"2"]}}"#;
    for prefix in ["/api/v1", "/prometheus/api/v1"] {
        let get = service
            .get(&format!("{prefix}/query?query=1%2B1&time=4"))
            .await;
        assert_eq!((get.status, get.body.as_str()), (StatusCode::OK, expected));
        assert_eq!(get.headers["content-type"], "application/json");
        let post = service
            .post(&format!("{prefix}/query"), "query=1%2B1&time=4")
            .await;
        assert_eq!(
            (post.status, post.body.as_str()),
            (StatusCode::OK, expected)
        );
    }
}

#[tokio::test]
async fn a_range_query_over_a_scalar_is_one_series_without_labels() {
    let answer = service()
        .get("/api/v1/query_range?query=2&start=0&end=60.5&step=30")
        .await;
    assert_eq!(
        answer.body,
        r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[0,"2"],[30,"2"],[60,"2"]]}]}}"#
    );
}

#[tokio::test]
async fn times_at_the_ends_of_the_calendar_have_no_samples() {
    let service = service();
    for time in [
        "-292273086-05-16T16:47:06Z",
        "292277025-08-18T07:12:54.999999999Z",
        "-1e300",
        "1e300",
        "-1e10",
    ] {
        for query in [
            "up",
            "rate(up[5m])",
            "sum_over_time(up[1y:1d] offset -1y)",
            "up @ end()",
            "timestamp(up)",
        ] {
            let form = form_urlencoded::Serializer::new(String::new())
                .extend_pairs([
                    ("query", query),
                    ("time", time),
                    ("start", time),
                    ("end", time),
                    ("step", "15"),
                ])
                .finish();
            for path in ["query", "query_range"] {
                let answer = service.post(&format!("/api/v1/{path}"), &form).await;
                assert_eq!(
                    answer.status,
                    StatusCode::OK,
                    "{path} {query} {time}: {}",
                    answer.body
                );
                assert!(answer.body.contains("\"result\":[]"), "{}", answer.body);
            }
        }
    }
}

#[tokio::test]
async fn a_label_name_that_is_no_text_is_refused() {
    let answer = service().get("/api/v1/label/%FF/values").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(
        answer.body,
        r#"{"status":"error","errorType":"bad_data","error":"invalid label name: \"\\xff\""}"#
    );
}

#[tokio::test]
async fn strangers_and_wrong_keys_get_prometheus_errors() {
    let service = service();
    let stranger = Request::builder()
        .uri("/api/v1/query?query=1")
        .header("x-scope-orgid", "demo");
    let answer = service.send(stranger.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.headers.contains_key("www-authenticate"));
    let json: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(
        (&json["status"], &json["errorType"]),
        (&"error".into(), &"unauthorized".into())
    );
    assert!(json["error"].as_str().unwrap().len() > 10, "{json}");

    let ingest = Request::builder()
        .uri("/api/v1/labels")
        .header("authorization", format!("Bearer {}", service.ingest_key));
    let answer = service.send(ingest.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(
        answer
            .body
            .starts_with(r#"{"status":"error","errorType":"forbidden","error":""#),
        "{}",
        answer.body
    );
    assert!(!answer.body.contains(&service.ingest_key));
}

#[tokio::test]
async fn every_api_path_needs_a_key_and_health_does_not() {
    let service = service();
    for path in [
        "query",
        "series",
        "labels",
        "label/a/values",
        "metadata",
        "rules",
        "status/buildinfo",
        "status/config",
    ] {
        let request = Request::builder()
            .uri(format!("/api/v1/{path}"))
            .body(Body::empty())
            .unwrap();
        assert_eq!(
            service.send(request).await.status,
            StatusCode::UNAUTHORIZED,
            "{path}"
        );
    }
    for path in ["/-/healthy", "/-/ready"] {
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        assert_eq!(service.send(request).await.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn faulty_questions_are_refused_in_prometheus_words() {
    let service = service();
    for (path, text) in [
        (
            "query?query=sum(",
            r#"invalid parameter "query": 1:5: parse error: unclosed left parenthesis"#,
        ),
        (
            "query",
            r#"invalid parameter "query": unknown position: parse error: no expression found in input"#,
        ),
        (
            "query?query=1&time=x",
            r#"invalid parameter "time": invalid time value for 'time': cannot parse "x" to a valid timestamp"#,
        ),
        (
            "query_range?query=1&start=1&end=0&step=1",
            r#"invalid parameter "end": end timestamp must not be before start time"#,
        ),
        ("series", "no match[] parameter provided"),
        (
            "labels?limit=-1",
            r#"invalid parameter "limit": limit must be non-negative"#,
        ),
        ("label/U__/values", r#"invalid label name: """#),
        ("metadata?limit=x", "limit must be a number"),
        (
            "query_exemplars?query=up&start=2&end=1",
            "end timestamp must not be before start timestamp",
        ),
        (
            "series?match[]=%zz",
            r#"error parsing form values: invalid URL escape "%zz""#,
        ),
    ] {
        let answer = service.get(&format!("/api/v1/{path}")).await;
        let json: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path}");
        assert_eq!(
            (json["errorType"].as_str(), json["error"].as_str()),
            (Some("bad_data"), Some(text)),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_store_that_is_away_is_said_to_be_so() {
    let service = service();
    for path in [
        "query?query=up",
        "labels",
        "label/app/values",
        "series?match[]=up",
        "metadata",
    ] {
        let answer = service.get(&format!("/api/v1/{path}")).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert_eq!(answer.headers["retry-after"], "1");
        assert_eq!(
            answer.body,
            r#"{"status":"error","errorType":"unavailable","error":"storage is unavailable, try again in a few seconds"}"#
        );
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_answered_in_plain_text() {
    let service = service();
    for path in ["/api/v1/nothing", "/nothing", "/api/v2/query"] {
        let answer = service.get(path).await;
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (StatusCode::NOT_FOUND, "404 page not found\n")
        );
        assert_eq!(answer.headers["content-type"], "text/plain; charset=utf-8");
    }
    let answer = service.post("/api/v1/label/app/values", "").await;
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed\n")
    );
}

#[tokio::test]
async fn browsers_may_ask_from_any_origin() {
    let service = service();
    let preflight = Request::builder()
        .method("OPTIONS")
        .uri("/api/v1/query_range")
        .body(Body::empty())
        .unwrap();
    let answer = service.send(preflight).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    assert_eq!(answer.headers["access-control-allow-origin"], "*");
    assert_eq!(
        answer.headers["access-control-allow-methods"],
        "GET, POST, OPTIONS"
    );
    let names = answer.headers["access-control-allow-headers"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(
        names.contains("Authorization") && names.contains("X-Sluice-Instance"),
        "{names}"
    );
    let request = service
        .request("GET", "/api/v1/query?query=1")
        .header("origin", "https://grafana.example");
    let answer = service.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.headers["access-control-allow-origin"], "*");
    assert!(
        answer
            .headers
            .get_all("vary")
            .iter()
            .any(|value| value == "Origin")
    );
}

#[tokio::test]
async fn answers_are_compressed_on_request() {
    let service = service();
    let path = "/api/v1/query_range?query=time()&start=0&end=6000&step=1";
    let plain = service.get(path).await;
    assert!(!plain.headers.contains_key("content-encoding"));
    let request = service
        .request("GET", path)
        .header("accept-encoding", "gzip");
    let packed = service.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(packed.headers["content-encoding"], "gzip");
    assert!(packed.length * 2 < plain.length);
}

#[tokio::test]
async fn requests_are_counted_by_endpoint_and_outcome() {
    let service = service();
    service.get("/api/v1/query?query=1").await;
    service.get("/api/v1/query?query=(").await;
    let text = service.metrics.render().unwrap();
    for line in [
        r#"sluice_query_requests_total{endpoint="query",outcome="success"} 1"#,
        r#"sluice_query_requests_total{endpoint="query",outcome="bad_data"} 1"#,
    ] {
        assert!(text.contains(line), "{text}");
    }
}
