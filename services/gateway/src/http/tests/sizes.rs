//! Bodies that are too large or too slow.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::fixture::{Gateway, JSON, PROTOBUF, gzip, settings};
use super::probe::send;
use super::storage::Storage;

#[tokio::test]
async fn a_body_over_a_limit_is_413_with_the_limit_and_what_to_change() {
    let mut config = settings();
    config.max_wire_bytes = bytesize::ByteSize::mib(6);
    let gateway = Gateway::with(config, Storage::start().await.address).await;
    let (plain, wire) = (vec![b' '; (4 << 20) + 1], vec![b' '; (6 << 20) + 1]);
    for (coding, body, limit) in [
        (
            "",
            plain.clone(),
            "larger than 4194304 bytes after decompression",
        ),
        (
            "gzip",
            gzip(&plain),
            "larger than 4194304 bytes after decompression",
        ),
        (
            "zstd",
            zstd::encode_all(&*plain, 3).unwrap(),
            "larger than 4194304 bytes after decompression",
        ),
        ("", wire.clone(), "larger than 6291456 bytes as sent"),
    ] {
        for encoding in [JSON, PROTOBUF] {
            let push = gateway
                .push()
                .header("content-type", encoding)
                .header("content-encoding", coding);
            let told = send(push.body(body.clone())).await.failure(413, encoding);
            assert_eq!((told.code, &*told.reason), (8, "BODY_TOO_LARGE"));
            assert!(told.message.contains(limit), "{}", told.message);
            assert!(
                told.message.contains("send_batch_max_size"),
                "{}",
                told.message
            );
        }
    }
    let push = gateway
        .push()
        .header("content-type", JSON)
        .body(streamed_mebibytes(5));
    assert!(
        send(push)
            .await
            .failure(413, JSON)
            .message
            .contains("after decompression")
    );
    let push = gateway
        .push()
        .header("content-type", JSON)
        .body(vec![b' '; 4 << 20]);
    assert_eq!(send(push).await.success(JSON), None, "exactly the limit");
}

fn streamed_mebibytes(count: usize) -> reqwest::Body {
    let pieces = (0..count).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1 << 20]));
    reqwest::Body::wrap_stream(futures::stream::iter(pieces.collect::<Vec<_>>()))
}

/// The most memory that this process ever had, bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap()
        << 10
}

#[tokio::test]
async fn a_gzip_bomb_is_413_and_takes_no_more_memory_than_its_limit() {
    let gateway = Gateway::start().await;
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..200 {
        bomb.write_all(&[b' '; 1 << 20]).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 300 << 10, "{} bytes", bomb.len());
    let before = peak_memory();
    let push = gateway
        .push()
        .header("content-type", JSON)
        .header("content-encoding", "gzip");
    assert_eq!(
        send(push.body(bomb)).await.failure(413, JSON).reason,
        "BODY_TOO_LARGE"
    );
    assert!(
        peak_memory() - before < 32 << 20,
        "{} bytes more",
        peak_memory() - before
    );
}

#[tokio::test]
async fn a_body_that_does_not_arrive_in_time_is_408() {
    let mut config = settings();
    config.body_timeout = std::time::Duration::from_millis(50);
    let gateway = Gateway::with(config, Storage::start().await.address).await;
    let mut socket = TcpStream::connect(gateway.running.address).await.unwrap();
    let head = format!(
        "POST /v1/metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 50\r\n\r\n{{",
        gateway.key("ingest")
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut line = String::new();
    BufReader::new(socket).read_line(&mut line).await.unwrap();
    assert_eq!(line, "HTTP/1.1 408 Request Timeout\r\n");
}

#[tokio::test]
async fn a_small_body_that_would_be_large_in_memory_is_413_before_it_is() {
    let gateway = Gateway::start().await;
    // The tenant may send 4 MiB and its messages may take 64; these would take 64 bytes each, and a few more.
    let many = (1 << 20) + 1;
    let messages = [0x0a, 0x00].repeat(many);
    let json = format!("{{\"resourceMetrics\":[{}]}}", vec!["{}"; many].join(","));
    for (encoding, body) in [(PROTOBUF, messages), (JSON, json.into_bytes())] {
        let push = gateway
            .push()
            .header("content-type", encoding)
            .header("content-encoding", "gzip");
        let told = send(push.body(gzip(&body))).await.failure(413, encoding);
        assert_eq!((told.code, &*told.reason), (8, "BODY_TOO_LARGE"));
        assert!(
            told.message.contains("more than 67108864 bytes of memory"),
            "{}",
            told.message
        );
    }
}
