//! Paths, methods and preflights.

use http::Method;

use super::fixture::{Gateway, JSON, PROTOBUF, json, settings};
use super::probe::send;
use super::storage::Storage;

#[tokio::test]
async fn every_alias_takes_a_push() {
    let gateway = Gateway::start().await;
    for path in [
        "/v1/metrics",
        "/v1/metrics/",
        "//v1//metrics",
        "/otlp/v1/metrics",
        "/api/v1/otlp/v1/metrics",
        "/opentelemetry/v1/metrics",
    ] {
        let push = gateway
            .bare(path)
            .bearer_auth(gateway.key("ingest"))
            .header("content-type", JSON);
        assert_eq!(
            send(push.body(json(1, 0))).await.success(JSON),
            None,
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_wrong_path_is_told_the_right_one_without_credentials_in_the_encoding_of_the_request() {
    let gateway = Gateway::start().await;
    for (path, hint) in [
        (
            "/v1/metrics/v1/metrics",
            "you configured https://HOST/v1/metrics",
        ),
        ("/", "lacks that path"),
        ("/otlp", "lacks that path"),
        ("/v1/logs", "logs are not accepted by this version"),
        ("/v1/traces", "traces are not accepted here"),
        ("/api/v1/write", "remote write is not accepted here"),
    ] {
        for encoding in [JSON, PROTOBUF] {
            let answer = send(
                gateway
                    .bare(path)
                    .header("content-type", encoding)
                    .body("x"),
            )
            .await;
            let told = answer.failure(404, encoding);
            assert_eq!((told.code, &*told.reason), (5, "PATH_UNKNOWN"));
            assert!(told.message.contains(hint), "{path}: {}", told.message);
        }
    }
}

#[tokio::test]
async fn other_methods_than_post_are_refused_with_allow() {
    let gateway = Gateway::start().await;
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH] {
        let answer = send(gateway.request(method, "/v1/metrics")).await;
        assert_eq!(answer.failure(405, JSON).reason, "METHOD_NOT_ALLOWED");
        assert_eq!(answer.header("allow"), "POST, OPTIONS");
    }
    let head = send(gateway.request(Method::HEAD, "/v1/metrics")).await;
    assert_eq!(
        (head.status.as_u16(), head.header("allow"), head.body.len()),
        (405, "POST, OPTIONS", 0)
    );
    assert_eq!(
        send(gateway.request(Method::GET, "/nowhere"))
            .await
            .failure(404, JSON)
            .code,
        5
    );
}

#[tokio::test]
async fn a_preflight_is_answered_without_credentials_and_names_the_credential_headers() {
    let gateway = Gateway::start().await;
    let preflight = gateway
        .request(Method::OPTIONS, "/v1/metrics")
        .header("origin", "https://app.example")
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "authorization,content-type",
        );
    let answer = send(preflight).await;
    assert_eq!((answer.status.as_u16(), answer.body.len()), (204, 0));
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(
        answer.header("access-control-allow-methods"),
        "POST, OPTIONS"
    );
    assert_eq!(answer.header("access-control-allow-credentials"), "");
    let allowed = answer
        .header("access-control-allow-headers")
        .to_ascii_lowercase();
    for name in [
        "content-type",
        "content-encoding",
        "authorization",
        "x-sluice-instance-api-key",
        "api-key",
    ] {
        assert!(
            allowed.split(", ").any(|header| header == name),
            "{name} is not in {allowed}"
        );
    }
    let refused = send(
        gateway
            .bare("/v1/metrics")
            .header("origin", "https://app.example"),
    )
    .await;
    refused.failure(401, JSON);
    assert_eq!(
        refused.header("access-control-allow-origin"),
        "*",
        "the page may read why"
    );
    assert_eq!(
        send(gateway.request(Method::OPTIONS, "/v1/metrics"))
            .await
            .status
            .as_u16(),
        204
    );
}

#[tokio::test]
async fn only_configured_origins_may_push_where_there_is_a_list() {
    let mut config = settings();
    config.cors_origins = vec!["https://app.example".to_owned()];
    let gateway = Gateway::with(config, Storage::start().await.address).await;
    for (origin, allowed) in [
        ("https://app.example", "https://app.example"),
        ("https://evil.example", ""),
    ] {
        let answer = send(
            gateway
                .request(Method::OPTIONS, "/v1/metrics")
                .header("origin", origin),
        )
        .await;
        assert_eq!(answer.header("access-control-allow-origin"), allowed);
        assert_eq!(answer.header("vary"), "Origin");
    }
}

#[tokio::test]
async fn a_fit_request_id_is_repeated_and_an_unfit_one_replaced() {
    let gateway = Gateway::start().await;
    let fit = send(gateway.push().header("x-request-id", "run-7:a/b")).await;
    assert_eq!(fit.header("x-request-id"), "run-7:a/b");
    let long = "x".repeat(129);
    for unfit in ["", "a b", "<script>", &long] {
        let answer = send(gateway.push().header("x-request-id", unfit)).await;
        assert_eq!(
            answer.header("x-request-id").len(),
            36,
            "a new id for {unfit:?}"
        );
    }
}
