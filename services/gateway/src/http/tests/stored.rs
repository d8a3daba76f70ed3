//! What reaches the storage, what is acknowledged, and what happens when the storage fails.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::fixture::{Gateway, JSON, PROTOBUF, json, protobuf, settings};
use super::probe::send;
use super::storage::Storage;

#[tokio::test]
async fn a_push_becomes_one_insert_a_table_and_known_series_are_not_written_again() {
    let storage = Storage::start().await;
    let gateway = Gateway::with(settings(), storage.address).await;
    let push = || {
        gateway
            .push()
            .header("content-type", PROTOBUF)
            .body(protobuf(2, 0))
    };
    assert_eq!(send(push()).await.success(PROTOBUF), None);
    assert_eq!(storage.next_few(3).await, ["metadata", "samples", "series"]);
    assert_eq!(send(push()).await.success(PROTOBUF), None);
    assert_eq!(storage.next_few(1).await, ["samples"]);
}

#[tokio::test]
async fn bad_points_are_counted_to_their_sender_and_good_ones_are_stored() {
    let storage = Storage::start().await;
    let gateway = Gateway::with(settings(), storage.address).await;
    for (encoding, body) in [(PROTOBUF, protobuf(3, 2)), (JSON, json(3, 2))] {
        let push = gateway.push().header("content-type", encoding).body(body);
        let (rejected, message) = send(push).await.success(encoding).unwrap();
        assert_eq!(rejected, 2);
        assert!(message.contains("timestamp_zero"), "{message}");
    }
    gateway
        .counted("sluice_gateway_spool_appended_records_total 2")
        .await;
    let push = gateway.push().header("content-type", JSON).body(json(0, 4));
    assert_eq!(
        send(push).await.success(JSON).unwrap().0,
        4,
        "all rejected is still 200"
    );
    let counters = gateway.counters();
    assert!(
        counters.contains("sluice_gateway_spool_appended_records_total 2\n"),
        "there is nothing to keep: {counters}"
    );
    assert!(
        counters.contains("sluice_gateway_points_rejected_total{reason=\"timestamp_zero\"} 8"),
        "{counters}"
    );
    assert!(
        counters.contains("sluice_gateway_points_accepted_total 6"),
        "{counters}"
    );
}

#[tokio::test]
async fn json_in_which_nothing_is_recognised_is_warned_about() {
    let gateway = Gateway::start().await;
    let push = gateway
        .push()
        .header("content-type", JSON)
        .body("{\"resource_metrics\":[]}");
    let (rejected, message) = send(push).await.success(JSON).unwrap();
    assert_eq!(rejected, 0);
    assert!(message.contains("resourceMetrics"), "{message}");
}

#[tokio::test]
async fn a_storage_that_is_away_costs_no_push() {
    let gateway = Gateway::with(settings(), Storage::absent().await).await;
    for (encoding, body) in [(PROTOBUF, protobuf(1, 0)), (JSON, json(1, 0))] {
        let push = gateway.push().header("content-type", encoding).body(body);
        assert_eq!(send(push).await.success(encoding), None);
    }
    let empty = gateway.push().header("content-type", JSON);
    assert_eq!(send(empty).await.success(JSON), None);
    let counters = gateway.counters();
    for line in [
        "sluice_gateway_points_accepted_total 2",
        "sluice_gateway_spool_appended_records_total 2",
        "sluice_gateway_spool_set_aside_segments_total 0",
    ] {
        assert!(counters.contains(&format!("{line}\n")), "{counters}");
    }
    assert!(!counters.contains("waiting_segments 0.0"), "{counters}");
}

#[tokio::test]
async fn rows_that_the_storage_keeps_refusing_are_set_aside_and_their_series_written_again() {
    let storage = Storage::start().await;
    let mut config = settings();
    config.spool.poison_tries = 2;
    let gateway = Gateway::with(config, storage.address).await;
    let push = || gateway.push().header("content-type", JSON).body(json(1, 0));
    storage.refuse(Some("Code: 27. DB::Exception: Cannot parse input"));
    assert_eq!(send(push()).await.success(JSON), None);
    gateway
        .counted("sluice_gateway_spool_set_aside_segments_total 1")
        .await;
    storage.refuse(None);
    drop(storage.so_far().await);
    assert_eq!(send(push()).await.success(JSON), None);
    assert_eq!(storage.next_few(3).await, ["metadata", "samples", "series"]);
    gateway
        .counted("sluice_gateway_spool_waiting_segments 0.0")
        .await;
    gateway
        .counted("sluice_gateway_spool_aside_segments 1.0")
        .await;
}

#[tokio::test]
async fn an_insert_that_takes_too_long_is_made_again() {
    let storage = Storage::held_back().await;
    let mut config = settings();
    config.insert_timeout = std::time::Duration::from_millis(50);
    let gateway = Gateway::with(config, storage.address).await;
    let push = gateway.push().header("content-type", JSON).body(json(1, 0));
    assert_eq!(send(push).await.success(JSON), None);
    let mut tables = storage.next_few(4).await;
    tables.dedup();
    assert_eq!(
        tables,
        ["metadata", "series"],
        "twice, and nothing before them"
    );
}

/// Scenario: the client hangs up right after its push.
/// Guarantees: the push is stored.
#[tokio::test]
async fn a_push_whose_client_goes_away_is_stored_to_the_end() {
    let storage = Storage::start().await;
    let gateway = Gateway::with(settings(), storage.address).await;
    let body = protobuf(1, 0);
    let mut socket = TcpStream::connect(gateway.running.address).await.unwrap();
    let head = format!(
        "POST /v1/metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: {PROTOBUF}\r\n\
         Content-Length: {}\r\n\r\n",
        gateway.key("ingest"),
        body.len()
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    socket.write_all(&body).await.unwrap();
    drop(socket);
    assert_eq!(storage.next_few(3).await, ["metadata", "samples", "series"]);
}

/// Scenario: the gateway is told to stop while a push waits for the storage.
/// Guarantees: the push is delivered, then the gateway ends.
#[tokio::test]
async fn what_was_acknowledged_is_delivered_before_the_gateway_stops() {
    let storage = Storage::held_back().await;
    let mut config = settings();
    config.spool.seal_after = std::time::Duration::from_secs(3600);
    let gateway = Gateway::with(config, storage.address).await;
    let push = gateway.push().header("content-type", JSON).body(json(1, 0));
    assert_eq!(send(push).await.success(JSON), None);
    gateway.stop.cancel();
    storage.let_finish(3);
    assert_eq!(storage.next_few(3).await, ["metadata", "samples", "series"]);
    let Gateway { running, .. } = gateway;
    running.done.await.unwrap();
}

/// Scenario: the gateway stops and starts while the storage is away.
/// Guarantees: the next one delivers what the last one acknowledged.
#[tokio::test]
async fn what_could_not_be_delivered_is_delivered_after_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = settings();
    config.spool.dir = folder.path().to_owned();
    config.shutdown_grace = std::time::Duration::from_millis(100);
    let gateway = Gateway::with(config.clone(), Storage::absent().await).await;
    let push = gateway.push().header("content-type", JSON).body(json(3, 0));
    assert_eq!(send(push).await.success(JSON), None);
    gateway.stop.cancel();
    let Gateway { running, .. } = gateway;
    running.done.await.unwrap();

    let storage = Storage::start().await;
    let gateway = Gateway::with(config, storage.address).await;
    assert_eq!(storage.next_few(3).await, ["metadata", "samples", "series"]);
    gateway
        .counted("sluice_gateway_spool_waiting_segments 0.0")
        .await;
}
