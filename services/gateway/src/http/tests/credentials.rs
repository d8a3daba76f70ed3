//! Who gets in, and what the others are told.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::RequestBuilder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::fixture::{Gateway, JSON, PROTOBUF, json, protobuf};
use super::probe::send;

fn with(mut request: RequestBuilder, lines: &[(&str, &str)]) -> RequestBuilder {
    for (name, value) in lines {
        request = request.header(*name, *value);
    }
    request
}

#[tokio::test]
async fn every_form_of_a_credential_gets_in() {
    let gateway = Gateway::start().await;
    let key = gateway.key("ingest");
    let (basic, by_id) = (
        STANDARD.encode(format!("acme:{key}")),
        STANDARD.encode(format!("ten_acme:{key}")),
    );
    let (front, back) = basic.split_at(76);
    let combined = format!("acme/{key}");
    for lines in [
        vec![("Authorization", format!("Basic {basic}"))],
        vec![("Authorization", format!("basic   {by_id} "))],
        vec![(
            "Authorization",
            format!("Basic {}", basic.trim_end_matches('=')),
        )],
        vec![("Authorization", format!("Basic {front} {back}"))],
        vec![("Authorization", format!("Basic%20{basic}"))],
        vec![(
            "Authorization",
            format!("Basic {}", STANDARD.encode(format!("acme:{key}\n"))),
        )],
        vec![("Authorization", format!("Bearer {key}"))],
        vec![
            ("X-Sluice-Instance", "acme".to_owned()),
            ("X-API-Key", key.to_owned()),
        ],
        vec![
            ("X-OODLE-INSTANCE", "ten_acme".to_owned()),
            ("X-API-KEY", key.to_owned()),
        ],
        vec![("X-Sluice-Instance-Api-Key", combined.clone())],
        vec![("X-OODLE-INSTANCE-API-KEY", combined.clone())],
        vec![("api-key", key.to_owned())],
        vec![("x-otlp-api-key", key.to_owned())],
        vec![
            ("api-key", key.to_owned()),
            ("Authorization", format!("Bearer {key}")),
        ],
    ] {
        let lines: Vec<(&str, &str)> = lines
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let push = with(
            gateway
                .bare("/v1/metrics")
                .header("content-type", JSON)
                .body(json(1, 0)),
            &lines,
        );
        assert_eq!(send(push).await.success(JSON), None, "{lines:?}");
    }
}

#[tokio::test]
async fn a_sender_that_is_not_known_is_told_401_and_why() {
    let gateway = Gateway::start().await;
    let (key, stranger) = (gateway.key("ingest"), gateway.key("stranger"));
    let (combined, other) = (format!("closed/{key}"), format!("Bearer {stranger}"));
    let cut = &format!("Bearer {}", key.trim_end_matches(char::is_alphanumeric));
    let revoked = format!("Bearer {}", gateway.key("revoked"));
    for (lines, reason) in [
        (vec![], "CREDENTIALS_MISSING"),
        (vec![("authorization", "Digest x")], "CREDENTIALS_MALFORMED"),
        (vec![("authorization", cut.as_str())], "KEY_MALFORMED"),
        (vec![("authorization", &other)], "KEY_UNKNOWN"),
        (vec![("authorization", &revoked)], "KEY_REVOKED"),
        (
            vec![("x-oodle-instance-api-key", &combined)],
            "TENANT_MISMATCH",
        ),
        (vec![("x-oodle-instance", "acme")], "CREDENTIALS_INCOMPLETE"),
        (vec![("x-api-key", key)], "CREDENTIALS_INCOMPLETE"),
        (
            vec![("authorization", &other), ("api-key", key)],
            "AMBIGUOUS_CREDENTIALS",
        ),
        (
            vec![("api-key", key), ("api-key", key)],
            "AMBIGUOUS_CREDENTIALS",
        ),
    ] {
        for encoding in [JSON, PROTOBUF] {
            let push = gateway
                .bare("/v1/metrics")
                .header("content-type", encoding)
                .body(protobuf(1, 0));
            let answer = send(with(push, &lines)).await;
            let told = answer.failure(401, encoding);
            assert_eq!((told.code, &*told.reason), (16, reason));
            assert_eq!(
                answer.header("www-authenticate"),
                "Basic realm=\"otlp\", Bearer"
            );
            let shown = format!("{answer:?}{}", String::from_utf8_lossy(&answer.body));
            for secret in [key, stranger, gateway.key("revoked")] {
                assert!(
                    !shown.contains(secret.split_at(18).1),
                    "a secret in {shown}"
                );
            }
        }
    }
    assert!(
        gateway
            .counters()
            .contains("sluice_gateway_auth_refusals_total{reason=\"KEY_REVOKED\"} 2")
    );
}

#[tokio::test]
async fn a_known_sender_that_may_not_push_is_told_403_and_what_is_missing() {
    let gateway = Gateway::start().await;
    for (key, reason, hint) in [
        ("logs", "SCOPE_MISSING", "lacks the scope metrics:write"),
        ("query", "WRONG_KEY_CLASS", "use a key of class ingest"),
        ("elsewhere", "ADDRESS_NOT_ALLOWED", "127.0.0.1"),
        ("closed", "TENANT_SUSPENDED", "tenant closed is suspended"),
    ] {
        for encoding in [JSON, PROTOBUF] {
            let push = gateway.bare("/v1/metrics").bearer_auth(gateway.key(key));
            let told = send(push.header("content-type", encoding).body("x"))
                .await
                .failure(403, encoding);
            assert_eq!((told.code, &*told.reason), (7, reason));
            assert!(told.message.contains(hint), "{}", told.message);
        }
    }
}

#[tokio::test]
async fn a_wrong_key_with_an_odd_content_type_is_401_in_json() {
    let gateway = Gateway::start().await;
    for content_type in ["text/plain", "", ";;;", "application/x-www-form-urlencoded"] {
        let push = gateway
            .bare("/v1/metrics")
            .bearer_auth(gateway.key("stranger"));
        let push = push
            .header("content-type", content_type)
            .header("content-encoding", "br")
            .body("x");
        assert_eq!(send(push).await.failure(401, JSON).reason, "KEY_UNKNOWN");
    }
    let none = gateway
        .bare("/v1/metrics")
        .bearer_auth(gateway.key("stranger"));
    assert_eq!(send(none).await.failure(401, JSON).reason, "KEY_UNKNOWN");
}

#[tokio::test]
async fn a_401_is_decided_on_the_head_before_any_body_is_sent() {
    let gateway = Gateway::start().await;
    let mut socket = TcpStream::connect(gateway.running.address).await.unwrap();
    let head = "POST /v1/metrics HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n";
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    socket.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 401");
}
