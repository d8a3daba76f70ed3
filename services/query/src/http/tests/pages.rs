//! What Prometheus says about itself, and what does not answer with its JSON.

use axum::body::Body;
use axum::http::{Request, StatusCode};

use super::service::service;

#[tokio::test]
async fn status_pages_have_prometheus_shapes() {
    let service = service();
    for (path, expected) in [
        ("rules", r#"{"status":"success","data":{"groups":[]}}"#),
        ("alerts", r#"{"status":"success","data":{"alerts":[]}}"#),
        ("targets/metadata", r#"{"status":"success","data":[]}"#),
        (
            "query_exemplars?query=test&start=1700000000000&end=1700000600000",
            r#"{"status":"success","data":[]}"#,
        ),
        (
            "query_exemplars?query=1",
            r#"{"status":"success","data":null}"#,
        ),
        (
            "format_query?query=sum(up)by(app)",
            r#"{"status":"success","data":"sum by (app) (up)"}"#,
        ),
        (
            "status/config",
            r#"{"status":"success","data":{"yaml":""}}"#,
        ),
        (
            "status/walreplay",
            r#"{"status":"success","data":{"min":0,"max":0,"current":0}}"#,
        ),
        (
            "status/flags",
            r#"{"status":"success","data":{"query.lookback-delta":"5m","query.max-concurrency":"64","query.max-samples":"50000000","query.timeout":"2m"}}"#,
        ),
        (
            "targets",
            r#"{"status":"success","data":{"activeTargets":[],"droppedTargetCounts":{},"droppedTargets":[]}}"#,
        ),
        (
            "targets?state=active",
            r#"{"status":"success","data":{"activeTargets":[],"droppedTargetCounts":null,"droppedTargets":[]}}"#,
        ),
    ] {
        let answer = service.get(&format!("/api/v1/{path}")).await.body;
        let [answer, expected] = [&answer, expected]
            .map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap());
        assert_eq!(answer, expected, "{path}");
    }
    let build = service.get("/api/v1/status/buildinfo").await.body;
    let build: serde_json::Value = serde_json::from_str(&build).unwrap();
    assert!(build["data"]["version"].is_string());
    assert!(build["data"].get("features").is_none());
}

#[tokio::test]
async fn faulty_questions_to_status_pages_are_refused_in_prometheus_words() {
    let service = service();
    for (path, text) in [
        (
            "rules?type=x",
            r#"invalid parameter "type": not supported value "x""#,
        ),
        (
            "rules?exclude_alerts=X",
            r#"invalid parameter "exclude_alerts": error converting exclude_alerts: strconv.ParseBool: parsing "x": invalid syntax"#,
        ),
        (
            "rules?group_limit=x",
            r#"invalid parameter "group_limit": group_limit needs to be a valid number: strconv.ParseInt: parsing "x": invalid syntax"#,
        ),
        (
            "rules?group_limit=3000000000",
            r#"invalid parameter "group_limit": group_limit needs to be a valid number: strconv.ParseInt: parsing "3000000000": value out of range"#,
        ),
        (
            "rules?group_limit=0",
            r#"invalid parameter "group_limit": group_limit needs to be greater than 0"#,
        ),
        (
            "rules?group_next_token=a",
            r#"invalid parameter "group_next_token": group_limit needs to be present in order to paginate over the groups"#,
        ),
        (
            "rules?group_limit=1&group_next_token=a",
            r#"invalid parameter "group_next_token": invalid group_next_token 'a'. were rule groups changed?"#,
        ),
        (
            "rules?match[]=%7B%7D",
            "match[] must contain at least one non-empty matcher",
        ),
        ("targets/metadata?limit=x", "limit must be a number"),
        (
            "targets/metadata?match_target=%7B",
            r#"invalid parameter "match_target": 1:2: parse error: unexpected end of input inside braces"#,
        ),
        ("status/tsdb?limit=0", "limit must be a positive number"),
    ] {
        let answer = service.get(&format!("/api/v1/{path}")).await;
        let json: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(
            (answer.status.as_u16(), json["error"].as_str()),
            (400, Some(text)),
            "{path}"
        );
    }
}

#[tokio::test]
async fn every_path_of_the_api_answers_a_preflight_and_varies_by_origin() {
    let service = service();
    for path in ["/api/v1/read", "/prometheus/api/v1/nothing"] {
        let preflight = Request::builder().method("OPTIONS").uri(path);
        let answer = service.send(preflight.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::NO_CONTENT, "{path}");
    }
    for path in ["/api/v1/query?query=1", "/api/v1/query?query=("] {
        let answer = service.get(path).await;
        let mut vary = answer.headers.get_all("vary").iter();
        assert!(vary.any(|value| value == "Origin"), "{path}");
        assert!(!answer.headers.contains_key("access-control-allow-origin"));
    }
}

#[tokio::test]
async fn federation_and_remote_read_say_what_is_wrong_in_plain_text() {
    let service = service();
    for (answer, status, text) in [
        (
            service.get("/federate?match[]=%7B").await,
            400,
            "1:2: parse error: unexpected end of input inside braces\n",
        ),
        (
            service.get("/federate?match[]=up").await,
            503,
            "storage is unavailable, try again in a few seconds\n",
        ),
        (service.get("/federate?match[]=%7B%7D").await, 200, ""),
        (service.get("/federate").await, 200, ""),
        (
            service.post("/api/v1/read", "").await,
            400,
            "the request is not compressed with snappy (block format): snappy: corrupt input (empty)\n",
        ),
    ] {
        assert_eq!(
            (answer.status.as_u16(), answer.body.as_str()),
            (status, text)
        );
        let kind = answer.headers["content-type"].to_str().unwrap();
        assert!(kind.starts_with("text/plain; "), "{kind}");
    }
}
