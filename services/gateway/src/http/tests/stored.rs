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
    assert_eq!(storage.so_far().await, ["metadata", "samples", "series"]);
    assert_eq!(send(push()).await.success(PROTOBUF), None);
    assert_eq!(storage.so_far().await, ["samples"]);
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
        assert!(storage.so_far().await.contains(&"samples".to_owned()));
    }
    let push = gateway.push().header("content-type", JSON).body(json(0, 4));
    assert_eq!(
        send(push).await.success(JSON).unwrap().0,
        4,
        "all rejected is still 200"
    );
    assert_eq!(storage.so_far().await, Vec::<String>::new());
    let counters = gateway.counters();
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
async fn a_storage_that_is_away_is_503_and_an_empty_push_needs_none() {
    let gateway = Gateway::with(settings(), Storage::absent().await).await;
    for (encoding, body) in [(PROTOBUF, protobuf(1, 0)), (JSON, json(1, 0))] {
        let told = send(gateway.push().header("content-type", encoding).body(body))
            .await
            .failure(503, encoding);
        assert_eq!((told.code, &*told.reason), (14, "STORAGE_UNAVAILABLE"));
        assert!((5..=15).contains(&told.retry_seconds.unwrap()));
    }
    assert_eq!(
        send(gateway.push().header("content-type", JSON))
            .await
            .success(JSON),
        None
    );
    assert!(
        gateway
            .counters()
            .contains("sluice_gateway_points_accepted_total 0")
    );
}

#[tokio::test]
async fn what_the_storage_refused_is_not_taken_for_stored() {
    let storage = Storage::start().await;
    let gateway = Gateway::with(settings(), storage.address).await;
    let push = || gateway.push().header("content-type", JSON).body(json(1, 0));
    for (exception, reason) in [
        (
            "Code: 60. DB::Exception: Table sluice.series does not exist",
            "STORAGE_REFUSED",
        ),
        ("Code: 252. DB::Exception: Too many parts", "STORAGE_BUSY"),
    ] {
        storage.refuse(Some(exception));
        let told = send(push()).await.failure(503, JSON);
        assert_eq!(told.reason, reason);
        assert!(
            !told.message.contains("Exception"),
            "internals stay inside: {}",
            told.message
        );
        assert!(storage.so_far().await.contains(&"series".to_owned()));
    }
    storage.refuse(None);
    assert_eq!(send(push()).await.success(JSON), None);
    assert_eq!(
        storage.so_far().await,
        ["metadata", "samples", "series"],
        "written again after the failures"
    );
}

#[tokio::test]
async fn an_insert_that_takes_too_long_is_503() {
    let storage = Storage::held_back().await;
    let mut config = settings();
    config.insert_timeout = std::time::Duration::from_millis(50);
    let gateway = Gateway::with(config, storage.address).await;
    let push = gateway.push().header("content-type", JSON).body(json(1, 0));
    assert_eq!(send(push).await.failure(503, JSON).reason, "STORAGE_SLOW");
}

/// Scenario: the client hangs up while its push is being stored.
/// Guarantees: the remaining inserts are made.
#[tokio::test]
async fn a_push_whose_client_goes_away_is_stored_to_the_end() {
    let storage = Storage::held_back().await;
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
    let mut first = [storage.next().await, storage.next().await];
    first.sort();
    assert_eq!(first, ["metadata", "series"]);
    drop(socket);
    storage.let_finish(3);
    assert_eq!(storage.next().await, "samples");
}

/// Scenario: the gateway is told to stop while a push is being stored.
/// Guarantees: the push is stored and answered, then the gateway ends.
#[tokio::test]
async fn a_push_in_work_is_answered_before_the_gateway_stops() {
    let storage = Storage::held_back().await;
    let gateway = Gateway::with(settings(), storage.address).await;
    let push = gateway.push().header("content-type", JSON).body(json(1, 0));
    let stopping = async {
        storage.next().await;
        gateway.stop.cancel();
        storage.let_finish(3);
    };
    let (answer, ()) = tokio::join!(send(push), stopping);
    assert_eq!(answer.success(JSON), None);
    let Gateway { running, .. } = gateway;
    running.done.await.unwrap();
}

#[tokio::test]
async fn no_more_inserts_run_at_once_than_configured_and_the_others_wait() {
    let storage = Storage::held_back().await;
    let mut config = settings();
    config.max_inserts = 1;
    let gateway = Gateway::with(config, storage.address).await;
    let push = || {
        let push = gateway.push().header("content-type", PROTOBUF);
        send(push.body(protobuf(1, 0)))
    };
    let watch = async {
        // Series and metadata of two pushes, then their samples: one by one, each when the one before is done.
        let mut tables = Vec::new();
        for _ in 0..6 {
            tables.push(storage.next().await);
            assert_eq!(storage.so_far().await, Vec::<String>::new());
            storage.let_finish(1);
        }
        tables.sort();
        tables
    };
    let (first, second, tables) = tokio::join!(push(), push(), watch);
    assert_eq!(first.success(PROTOBUF), None);
    assert_eq!(second.success(PROTOBUF), None);
    let twice = [
        "metadata", "metadata", "samples", "samples", "series", "series",
    ];
    assert_eq!(tables, twice);
}
