//! Pushes that never end, and pushes that come while there is no room.

use std::time::Duration;

use tests::keys::Keys;
use tests::push::{JSON, PROTOBUF};
use tests::stack::Stack;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{body, one_point, until};

/// Two tenants begin a body and do not go on. A second push of the first tenant meets that tenant's
/// bound, one of a third tenant meets everybody's, and the bodies that do not come are given up.
pub(super) async fn meet(stack: &Stack, tenants: &[Keys; 3]) {
    let [one, two, three] = tenants;
    let mut slow = begin(stack, one).await;
    in_work(stack, 1).await;
    rejected(stack, one, 429).await;
    let mut other = begin(stack, two).await;
    in_work(stack, 2).await;
    rejected(stack, three, 503).await;
    for stream in [&mut slow, &mut other] {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect("a whole answer");
        assert!(head.starts_with("HTTP/1.1 408"), "{head}");
        let status: serde_json::Value = serde_json::from_str(body).unwrap();
        assert!(
            status["message"]
                .as_str()
                .is_some_and(|text| text.len() > 20),
            "{body}"
        );
    }
    // Room again.
    in_work(stack, 0).await;
    stack.ingest_with(&one.ingest).all(&one_point("room")).await;
}

/// Sends the head of a push and the first byte of its body.
async fn begin(stack: &Stack, keys: &Keys) -> TcpStream {
    let address = stack.url(4318).replace("http://", "");
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let head = format!(
        "POST /v1/metrics HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
         content-type: {JSON}\r\ncontent-length: 100\r\nconnection: close\r\n\r\n{{",
        keys.ingest
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// Waits until the gateway says that it works on `count` pushes.
async fn in_work(stack: &Stack, count: u32) {
    let line = format!("sluice_gateway_in_flight_requests {count}");
    until(Duration::from_secs(60), &line, async || {
        let answer = stack
            .http()
            .get(format!("{}/metrics", stack.admin()))
            .send()
            .await
            .ok()?;
        answer
            .text()
            .await
            .ok()?
            .lines()
            .any(|known| known == line)
            .then_some(())
    })
    .await;
}

/// A push that finds no room is told when to come back.
async fn rejected(stack: &Stack, keys: &Keys, status: u16) {
    let request = one_point("refused");
    for kind in [JSON, PROTOBUF] {
        let call = stack.ingest_with(&keys.ingest).call("/v1/metrics");
        let answer = call
            .header("content-type", kind)
            .body(body(kind, &request))
            .send()
            .await;
        assert_eq!(answer.status, status, "{}", answer.text());
        assert_eq!(answer.header("content-type"), kind);
        let wait: u32 = answer.header("retry-after").parse().expect("whole seconds");
        assert!(wait >= 1);
        assert!(answer.error().message.len() > 20, "{}", answer.text());
    }
}
