//! Pushes that are refused whole.

use super::{Call, Cast, Ingest, JSON, Method, PROTOBUF, Stack, body, gzip, one_point};
use tests::push::Answer;

/// The answer must have `status`, a Status in encoding `kind`, and a message with all of `words`.
fn says(answer: &Answer, status: u16, kind: &str, words: &[&str]) {
    let text = answer.text();
    assert_eq!(answer.status, status, "{text}");
    assert_eq!(answer.header("content-type"), kind, "{status}: {text}");
    let message = answer.error().message;
    assert!(
        message.len() > 20,
        "{status}: a message that helps nobody: {message:?}"
    );
    for word in words {
        assert!(
            message.contains(word),
            "{status}: {message:?} does not say {word:?}"
        );
    }
}

fn plain(gateway: &Ingest, kind: &str, path: &str) -> Call {
    gateway
        .call(path)
        .header("content-type", kind)
        .body(body(kind, &one_point("refused")))
}

pub(super) async fn credentials(stack: &Stack, cast: &Cast, kind: &str) {
    let gateway = stack.ingest_with("");
    let with = async |header: Option<(&str, &str)>| {
        let call = gateway
            .bare(Method::POST, "/v1/metrics")
            .header("content-type", kind);
        let call = match header {
            Some((name, value)) => call.header(name, value),
            None => call,
        };
        call.body(body(kind, &one_point("refused"))).send().await
    };
    let bearer = |key: &str| format!("Bearer {key}");
    let cases = [
        (None, vec!["Authorization"]),
        (Some(("authorization", bearer(&cast.unknown))), vec!["key"]),
        (Some(("authorization", bearer("hunter2"))), vec!["key"]),
        (
            Some(("authorization", "Basic !!!".to_owned())),
            vec!["base64"],
        ),
        (
            Some(("authorization", "Digest abc".to_owned())),
            vec!["Basic"],
        ),
        (Some(("x-sluice-instance", "t".to_owned())), vec![]),
    ];
    for (header, words) in cases {
        let header = header.as_ref().map(|(name, value)| (*name, value.as_str()));
        let answer = with(header).await;
        says(&answer, 401, kind, &words);
        assert!(
            answer.header("www-authenticate").starts_with("Basic"),
            "{:?}",
            answer.headers
        );
    }
    // Known keys that are not for this.
    for (key, word) in [
        (&cast.reader, "ingest"),
        (&cast.admin, "ingest"),
        (&cast.logs_only, "metrics:write"),
    ] {
        says(
            &with(Some(("authorization", &bearer(key)))).await,
            403,
            kind,
            &[word],
        );
    }
}

pub(super) async fn bodies(stack: &Stack, cast: &Cast, kind: &str) {
    let gateway = stack.ingest_with(&cast.good);
    let send = async |encoding: &str, bytes: Vec<u8>| {
        let call = gateway.call("/v1/metrics").header("content-type", kind);
        call.header("content-encoding", encoding)
            .body(bytes)
            .send()
            .await
    };
    let whole = body(kind, &one_point("refused"));
    says(
        &send("identity", b"\xff\xff{not OTLP".to_vec()).await,
        400,
        kind,
        &[],
    );
    says(&send("gzip", whole.clone()).await, 400, kind, &["gzip"]);
    says(&send("zstd", whole.clone()).await, 400, kind, &["zstd"]);
    let mut cut = gzip(&whole);
    cut.truncate(cut.len() - 9);
    says(&send("gzip", cut).await, 400, kind, &["gzip"]);
    let unknown = send("br", whole.clone()).await;
    says(&unknown, 415, kind, &["gzip"]);
    assert!(
        unknown.header("accept-encoding").contains("gzip"),
        "{:?}",
        unknown.headers
    );

    // Over the tenant's 2,000 bytes: as sent, and after decompression of a few dozen bytes.
    let small = stack.ingest_with(&cast.small);
    let padded = body(kind, &one_point(&"x".repeat(3_000)));
    let call = small.call("/v1/metrics").header("content-type", kind);
    says(
        &call.body(padded.clone()).send().await,
        413,
        kind,
        &["2000"],
    );
    let call = small.call("/v1/metrics").header("content-type", kind);
    let squeezed = call
        .header("content-encoding", "gzip")
        .body(gzip(&padded))
        .send()
        .await;
    says(&squeezed, 413, kind, &["2000"]);
    let fits = small
        .call("/v1/metrics")
        .header("content-type", kind)
        .body(whole)
        .send()
        .await;
    assert_eq!(fits.partial(), (0, String::new()));
}

pub(super) async fn paths_and_methods(stack: &Stack, cast: &Cast, kind: &str) {
    let gateway = stack.ingest_with(&cast.good);
    for path in ["/v1/metrics/v1/metrics", "/v1/logs/v1/metrics"] {
        // The remedy is the base without the path.
        let answer = plain(&gateway, kind, path).send().await;
        says(&answer, 404, kind, &["/v1/metrics"]);
    }
    says(
        &plain(&gateway, kind, "/v1/traces").send().await,
        404,
        kind,
        &["traces"],
    );
    for path in ["/", "/otlp", "/api/v1/write", "/v2/metrics"] {
        says(
            &plain(&gateway, kind, path).send().await,
            404,
            kind,
            &["/v1/metrics"],
        );
    }
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        let answer = gateway
            .bare(method, "/v1/metrics")
            .header("content-type", kind)
            .send()
            .await;
        says(&answer, 405, kind, &["POST"]);
        assert_eq!(answer.header("allow"), "POST, OPTIONS");
    }
    let head = gateway.bare(Method::HEAD, "/v1/metrics").send().await;
    assert_eq!((head.status, head.header("allow")), (405, "POST, OPTIONS"));
}

/// Without a type that is known, errors are JSON.
pub(super) async fn unknown_types(stack: &Stack, cast: &Cast) {
    let gateway = stack.ingest_with(&cast.good);
    let bytes = body(JSON, &one_point("refused"));
    for kind in [
        Some("text/plain"),
        Some("application/grpc"),
        Some("nonsense"),
        None,
    ] {
        let call = gateway.call("/v1/metrics");
        let call = match kind {
            Some(kind) => call.header("content-type", kind),
            None => call,
        };
        let answer = call.body(bytes.clone()).send().await;
        says(&answer, 415, JSON, &[JSON, PROTOBUF]);
        let accept = answer.header("accept");
        assert!(
            accept.contains(JSON) && accept.contains(PROTOBUF),
            "{accept:?}"
        );
    }
    // Case and parameters of a known type do not matter.
    let answer = gateway
        .call("/v1/metrics")
        .header("content-type", "Application/JSON; charset=utf-8")
        .body(bytes)
        .send()
        .await;
    assert_eq!(answer.partial(), (0, String::new()));
    let stranger = Ingest::new(stack.http().clone(), &stack.url(4318), "hunter2");
    says(
        &stranger.call("/v1/metrics").body("x").send().await,
        401,
        JSON,
        &["key"],
    );
}

/// A browser asks before it pushes, without credentials.
pub(super) async fn preflight(stack: &Stack) {
    let answer = stack
        .ingest_with("")
        .bare(Method::OPTIONS, "/v1/metrics")
        .header("origin", "https://shop.example")
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "authorization,content-type,x-sluice-instance",
        )
        .send()
        .await;
    assert_eq!(answer.status, 204, "{}", answer.text());
    let origin = answer.header("access-control-allow-origin");
    assert!(
        origin == "*" || origin == "https://shop.example",
        "{origin:?}"
    );
    assert!(
        answer
            .header("access-control-allow-methods")
            .contains("POST"),
        "{:?}",
        answer.headers
    );
    let headers = answer
        .header("access-control-allow-headers")
        .to_ascii_lowercase();
    for name in ["authorization", "content-type", "x-sluice-instance"] {
        assert!(
            headers == "*" || headers.contains(name),
            "{headers:?} lacks {name}"
        );
    }
}
