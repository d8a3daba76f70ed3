//! Media types, encodings, and bodies that are not what they should be.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::fixture::{Gateway, JSON, PROTOBUF, gzip, json, protobuf};
use super::probe::send;

#[tokio::test]
async fn what_test_buttons_send_is_a_success() {
    let gateway = Gateway::start().await;
    for content_type in [Some(JSON), Some(PROTOBUF), Some("text/plain"), None] {
        for coding in [None, Some("gzip"), Some("br")] {
            let mut push = gateway.push();
            for (name, value) in [("content-type", content_type), ("content-encoding", coding)] {
                push = match value {
                    Some(value) => push.header(name, value),
                    None => push,
                };
            }
            let encoding = if content_type == Some(PROTOBUF) {
                PROTOBUF
            } else {
                JSON
            };
            assert_eq!(
                send(push).await.success(encoding),
                None,
                "{content_type:?} {coding:?}"
            );
        }
    }
    let empty = send(gateway.push().header("content-type", PROTOBUF)).await;
    assert_eq!(empty.body, b"");
    let empty = send(gateway.push().header("content-type", JSON)).await;
    assert_eq!(empty.body, b"{}");
}

#[tokio::test]
async fn envelopes_without_points_are_a_success() {
    let gateway = Gateway::start().await;
    for (content_type, body) in [
        (JSON, "{}"),
        (JSON, "{\"resourceMetrics\":[]}"),
        (
            JSON,
            "{\"resourceMetrics\":[{\"scopeMetrics\":[{\"metrics\":[]}]}]}",
        ),
        (PROTOBUF, "\n\0"),
    ] {
        let push = gateway.push().header("content-type", content_type);
        assert_eq!(
            send(push.body(body)).await.success(content_type),
            None,
            "{body:?}"
        );
        let push = gateway
            .push()
            .header("content-type", content_type)
            .header("content-encoding", "gzip");
        assert_eq!(
            send(push.body(gzip(body.as_bytes())))
                .await
                .success(content_type),
            None,
            "{body:?}"
        );
    }
    for content_type in [JSON, PROTOBUF, "text/plain"] {
        let push = gateway
            .push()
            .header("content-type", content_type)
            .header("content-encoding", "gzip");
        let encoding = if content_type == PROTOBUF {
            PROTOBUF
        } else {
            JSON
        };
        assert_eq!(
            send(push.body(gzip(b""))).await.success(encoding),
            None,
            "gzip of nothing"
        );
    }
}

#[tokio::test]
async fn every_encoding_carries_a_push_in_both_media_types() {
    let gateway = Gateway::start().await;
    for (media_type, plain) in [(PROTOBUF, protobuf(3, 0)), (JSON, json(3, 0))] {
        let (one, two) = plain.split_at(plain.len() / 2);
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
        zlib.write_all(&plain).unwrap();
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::best());
        raw.write_all(&plain).unwrap();
        for (coding, body) in [
            ("identity", plain.clone()),
            ("", plain.clone()),
            ("GZIP", gzip(&plain)),
            ("identity, gzip", gzip(&plain)),
            ("gzip", [gzip(one), gzip(two)].concat()),
            ("zstd", zstd::encode_all(&*plain, 3).unwrap()),
            (
                "zstd",
                [
                    zstd::encode_all(one, 3).unwrap(),
                    zstd::encode_all(two, 3).unwrap(),
                ]
                .concat(),
            ),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", raw.finish().unwrap()),
        ] {
            let push = gateway
                .push()
                .header("content-type", format!("{media_type}; charset=utf-8"));
            let answer = send(push.header("content-encoding", coding).body(body)).await;
            assert_eq!(answer.success(media_type), None, "{media_type} {coding}");
        }
    }
    let expected = format!("sluice_gateway_points_accepted_total {}", 2 * 9 * 3);
    assert!(
        gateway.counters().contains(&expected),
        "{}",
        gateway.counters()
    );
}

#[tokio::test]
async fn a_type_or_encoding_that_is_not_read_here_is_415_with_what_is() {
    let gateway = Gateway::start().await;
    for content_type in [Some("text/plain"), Some("application/xml"), None] {
        for chunked in [false, true] {
            let mut push = gateway.push();
            if let Some(content_type) = content_type {
                push = push.header("content-type", content_type);
            }
            let answer = send(if chunked {
                push.body(streamed(&json(1, 0)))
            } else {
                push.body(json(1, 0))
            })
            .await;
            assert_eq!(answer.failure(415, JSON).reason, "MEDIA_TYPE_UNSUPPORTED");
            assert_eq!(
                answer.header("accept"),
                "application/x-protobuf, application/json"
            );
        }
    }
    for coding in ["br", "snappy", "gzip, gzip", "lz4"] {
        for encoding in [JSON, PROTOBUF] {
            let push = gateway
                .push()
                .header("content-type", encoding)
                .header("content-encoding", coding);
            let answer = send(push.body(gzip(b"{}"))).await;
            assert_eq!(answer.failure(415, encoding).reason, "ENCODING_UNSUPPORTED");
            assert_eq!(
                answer.header("accept-encoding"),
                "gzip, zstd, deflate, identity"
            );
        }
    }
}

fn streamed(body: &[u8]) -> reqwest::Body {
    let pieces: Vec<Result<Vec<u8>, std::io::Error>> =
        body.chunks(7).map(|piece| Ok(piece.to_vec())).collect();
    reqwest::Body::wrap_stream(futures::stream::iter(pieces))
}

#[tokio::test]
async fn a_chunked_push_is_read_like_any_other() {
    let gateway = Gateway::start().await;
    let push = gateway
        .push()
        .header("content-type", JSON)
        .header("content-encoding", "gzip");
    assert_eq!(
        send(push.body(streamed(&gzip(&json(2, 0)))))
            .await
            .success(JSON),
        None
    );
}

#[tokio::test]
async fn a_body_that_is_not_what_it_is_said_to_be_is_400_with_the_place() {
    let gateway = Gateway::start().await;
    let whole = gzip(&json(50, 0));
    for (media_type, coding, body, reason) in [
        (
            PROTOBUF,
            "",
            b"\xff\xff\xff\xff not protobuf".to_vec(),
            "BODY_UNDECODABLE",
        ),
        (
            JSON,
            "",
            b"{\"resourceMetrics\": 5}".to_vec(),
            "BODY_UNDECODABLE",
        ),
        (JSON, "", b"{".to_vec(), "BODY_UNDECODABLE"),
        (JSON, "", protobuf(1, 0), "BODY_UNDECODABLE"),
        (JSON, "gzip", json(1, 0), "BODY_NOT_DECOMPRESSIBLE"),
        (
            PROTOBUF,
            "gzip",
            whole[..whole.len() - 9].to_vec(),
            "BODY_NOT_DECOMPRESSIBLE",
        ),
        (
            JSON,
            "gzip",
            [whole.clone(), b"junk".to_vec()].concat(),
            "BODY_NOT_DECOMPRESSIBLE",
        ),
        (PROTOBUF, "zstd", whole.clone(), "BODY_NOT_DECOMPRESSIBLE"),
        (
            PROTOBUF,
            "deflate",
            b"\x78\x9cgarbage".to_vec(),
            "BODY_NOT_DECOMPRESSIBLE",
        ),
    ] {
        let push = gateway
            .push()
            .header("content-type", media_type)
            .header("content-encoding", coding);
        let told = send(push.body(body)).await.failure(400, media_type);
        assert_eq!((told.code, &*told.reason), (3, reason), "{}", told.message);
        assert!(!told.message.is_empty());
    }
}

#[tokio::test]
async fn a_held_back_body_is_asked_for_once_its_sender_is_known() {
    let gateway = Gateway::start().await;
    let body = protobuf(1, 0);
    for (key, expected) in [
        ("ingest", "HTTP/1.1 100 Continue"),
        ("stranger", "HTTP/1.1 401 Unauthorized"),
    ] {
        let mut socket = TcpStream::connect(gateway.running.address).await.unwrap();
        let head = format!(
            "POST /v1/metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Type: application/x-protobuf\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
            gateway.key(key),
            body.len()
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut start = vec![0; expected.len()];
        socket.read_exact(&mut start).await.unwrap();
        assert_eq!(String::from_utf8(start).unwrap(), expected);
        if key == "ingest" {
            socket.write_all(&body).await.unwrap();
            let mut rest = String::new();
            socket.read_to_string(&mut rest).await.unwrap();
            assert!(rest.contains("HTTP/1.1 200 OK"), "{rest}");
        }
    }
}

#[tokio::test]
async fn an_answer_is_compressed_when_that_is_asked_for() {
    let gateway = Gateway::start().await;
    let push = gateway
        .push()
        .header("content-type", JSON)
        .header("accept-encoding", "gzip");
    let answer = send(push.body("{")).await;
    assert_eq!(answer.header("content-encoding"), "gzip");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&*answer.body), &mut text)
        .unwrap();
    assert!(text.contains("BODY_UNDECODABLE"), "{text}");
}
