//! Room: what happens to a push for which there is none.

use bytesize::ByteSize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::fixture::{Gateway, JSON, PROTOBUF, json, settings};
use super::probe::send;
use super::storage::Storage;

/// A push that has been admitted and whose body does not come.
async fn half_a_push(gateway: &Gateway) -> TcpStream {
    let mut socket = TcpStream::connect(gateway.running.address).await.unwrap();
    let head = format!(
        "POST /v1/metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 2\r\nExpect: 100-continue\r\n\r\n",
        gateway.key("ingest")
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut start = [0; 25];
    // The body is asked for after admission, so this push holds its place now.
    socket.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 100 Continue\r\n\r\n");
    socket
}

#[tokio::test]
async fn one_push_more_than_a_tenant_may_have_in_work_is_429() {
    let mut config = settings();
    config.in_flight.tenant_requests = 1;
    let gateway = Gateway::with(config, Storage::start().await.address).await;
    let mut first = half_a_push(&gateway).await;
    for encoding in [JSON, PROTOBUF] {
        let told = send(gateway.push().header("content-type", encoding))
            .await
            .failure(429, encoding);
        assert_eq!(
            (told.code, &*told.reason, told.retry_seconds),
            (8, "TENANT_BUSY", Some(1))
        );
    }
    first.write_all(b"{}").await.unwrap();
    let mut answer = [0; 15];
    first.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
    send(gateway.push()).await.success(JSON);
}

#[tokio::test]
async fn one_push_more_than_the_gateway_may_have_in_work_is_503() {
    let mut config = settings();
    config.in_flight.requests = 1;
    let gateway = Gateway::with(config, Storage::start().await.address).await;
    let first = half_a_push(&gateway).await;
    for encoding in [JSON, PROTOBUF] {
        let told = send(gateway.push().header("content-type", encoding))
            .await
            .failure(503, encoding);
        assert_eq!((told.code, &*told.reason), (14, "GATEWAY_BUSY"));
        assert!((5..=15).contains(&told.retry_seconds.unwrap()));
    }
    drop(first);
}

#[tokio::test]
async fn more_bytes_than_the_gateway_has_room_for_are_503_and_the_room_comes_back() {
    let mut config = settings();
    config.in_flight.bytes = ByteSize::b(2000);
    let gateway = Gateway::with(config, Storage::start().await.address).await;
    let push = gateway
        .push()
        .header("content-type", JSON)
        .body(json(100, 0));
    assert_eq!(send(push).await.failure(503, JSON).reason, "GATEWAY_BUSY");
    for _ in 0..5 {
        let push = gateway
            .push()
            .header("content-type", JSON)
            .body(json(10, 0));
        assert_eq!(send(push).await.success(JSON), None);
    }
    assert!(
        gateway
            .counters()
            .contains("sluice_gateway_in_flight_bytes 0")
    );
}
