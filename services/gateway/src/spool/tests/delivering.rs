//! Segments on their way out: in order, under one token, until they are taken.

use std::fs;
use std::sync::Mutex;

use bytesize::ByteSize;

use super::super::*;
use super::fixture::{HOUR, Running, config, records, until};

#[tokio::test]
async fn a_segment_that_is_old_enough_is_delivered_without_being_full() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config {
        seal_after: Duration::from_millis(1),
        ..config(dir.path())
    };
    let mut running = Running::start(&config).await;
    running.append(0..1).await;
    assert_eq!(running.call().await.take().1, records(0..1));
    running.append(1..2).await;
    assert_eq!(running.call().await.take().1, records(1..2));
    assert_eq!(running.drain().await, []);
}

#[tokio::test]
async fn age_seals_nothing_while_an_older_segment_waits() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config {
        segment_bytes: ByteSize::mib(1),
        seal_after: Duration::from_nanos(1),
        ..config(dir.path())
    };
    let mut running = Running::start(&config).await;
    running.append(0..1).await;
    let first = running.call().await;
    running.append(1..50).await;
    assert_eq!(running.spool.waiting().segments, 2);
    assert_eq!(first.take().1, records(0..1));
    assert_eq!(running.call().await.take().1, records(1..50));
}

#[tokio::test]
async fn a_fault_that_passes_is_waited_for_in_order_under_the_same_token() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = Running::start(&config(dir.path())).await;
    running.append(0..4).await;
    let (token, taken) = running.call().await.fail(FaultKind::Transient);
    assert_eq!(taken, records(0..2));
    for _ in 0..20 {
        let again = running.call().await.fail(FaultKind::Transient);
        assert_eq!(again, (token.clone(), records(0..2)));
    }
    assert_eq!(running.call().await.take(), (token.clone(), records(0..2)));
    let (next, taken) = running.call().await.take();
    assert_eq!(taken, records(2..4));
    assert!(next > token);
    assert_eq!(
        running.metric("deliveries_total{outcome=\"transient\"}"),
        21.0
    );
    assert_eq!(running.drain().await, []);
}

#[tokio::test]
async fn a_segment_that_somebody_removed_holds_up_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = Running::start(&config(dir.path())).await;
    running.append(0..4).await;
    let first = running.call().await;
    let names = || admin::list(dir.path()).unwrap().into_iter();
    let second = names().nth(1).unwrap().name;
    let file = dir.path().join(format!("{second}.seg"));
    until(|| file.exists()).await;
    fs::remove_file(file).unwrap();
    assert_eq!(first.take().1, records(0..2));
    until(|| running.spool.waiting().segments == 0).await;
    assert_eq!(
        running.metric("lost_records_total{reason=\"missing\"}"),
        1.0
    );
    assert_eq!(running.spool.waiting().bytes, 0);
    running.append(4..6).await;
    assert_eq!(running.call().await.take().1, records(4..6));
}

/// Delivers nothing and stays.
struct Stuck;

impl Deliver for Stuck {
    async fn deliver(&self, _: &str, _: Vec<Bytes>) -> Result<(), DeliveryFault> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn the_folder_belongs_to_one_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/spool");
    let own = config(&path);
    let (spool, delivery) = Spool::open(&own, &Metrics::new()).await.unwrap();
    let second = Spool::open(&own, &Metrics::new()).await.unwrap_err();
    let text = second.to_string();
    assert!(matches!(second, OpenError::InUse { .. }), "{text}");
    let owner = format!("process {};", std::process::id());
    assert!(text.contains(&owner), "{text}");

    let tasks = runtime::tasks::Tasks::new();
    drop(tasks.spawn("spool", delivery.run(Stuck)));
    spool.close(HOUR, &CancellationToken::new()).await;
    Spool::open(&own, &Metrics::new()).await.unwrap();
}

/// Panics at the first delivery of each segment of a list.
struct Panicking(Mutex<Vec<String>>);

impl Deliver for Panicking {
    async fn deliver(&self, token: &str, _: Vec<Bytes>) -> Result<(), DeliveryFault> {
        let mut seen = self.0.lock().unwrap();
        let known = seen.iter().any(|one| one == token);
        seen.push(token.to_owned());
        drop(seen);
        assert!(known, "as the test wants");
        Ok(())
    }
}

#[tokio::test]
async fn a_delivery_that_panics_is_tried_again_as_one_that_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let metrics = Metrics::new();
    let own = config(dir.path());
    let (spool, delivery) = Spool::open(&own, &metrics).await.unwrap();
    let tasks = runtime::tasks::Tasks::new();
    let to = Panicking(Mutex::default());
    drop(tasks.spawn("spool", delivery.run(to)));
    spool.append(Bytes::from_static(b"x")).await.unwrap();
    let left = spool.close(HOUR, &CancellationToken::new()).await;
    assert_eq!((left.segments, left.bytes), (0, 0));
    let text = metrics.render().unwrap();
    for line in [
        "sluice_gateway_spool_deliveries_total{outcome=\"refused\"} 1",
        "sluice_gateway_spool_deliveries_total{outcome=\"delivered\"} 1",
    ] {
        assert!(text.contains(line), "{text}");
    }
}
