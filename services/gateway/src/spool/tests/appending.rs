//! Records on their way to disk: durable when answered, in groups, within their bounds.

use std::fs;
use std::sync::mpsc;

use bytesize::ByteSize;
use futures::{FutureExt, future};

use super::super::*;
use super::fixture::{Running, config, record, records, segment_of};
use super::probe::{Op, Probe};

#[tokio::test]
async fn an_appended_record_is_in_the_folder_when_it_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(&config(dir.path())).await;
    running.append(0..1).await;
    let listed = admin::list(dir.path()).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].place, admin::Place::Open);
    assert_eq!(listed[0].bytes, segment_of(1));
    let file = dir.path().join(format!("{}.open", listed[0].name));
    let bytes = Bytes::from(fs::read(file).unwrap());
    let identity = segment::Identity::read(&bytes).unwrap();
    assert_eq!(Some(identity.token()), listed[0].token);
    assert_eq!(identity.contents(&bytes).records, records(0..1));

    let waiting = running.spool.waiting();
    assert_eq!((waiting.segments, waiting.bytes), (1, segment_of(1)));
    assert!(!waiting.nearly_full());
    assert_eq!(running.metric("appended_records_total"), 1.0);
    assert_eq!(running.metric("used_bytes"), 107.0);
    assert_eq!(running.metric("waiting_segments"), 1.0);
    assert!(running.metric("lag_seconds") > 0.0);
}

/// Scenario: while one record is being made durable, twenty more come.
///
/// Guarantees: they share one fsync.
#[tokio::test]
async fn records_that_wait_together_share_an_fsync() {
    let dir = tempfile::tempdir().unwrap();
    let (entered, inside) = mpsc::channel();
    let (leave, left) = mpsc::channel::<()>();
    let probe = Probe::new(move |_, op| {
        if op == Op::Sync {
            entered.send(()).unwrap();
            left.recv().unwrap();
        }
        None
    });
    let config = Config {
        segment_bytes: ByteSize::mib(1),
        ..config(dir.path())
    };
    let running = Running::start_on(&config, Arc::new(probe)).await;
    let mut first = Box::pin(running.spool.append(record(0)));
    assert!(first.as_mut().now_or_never().is_none());
    inside.recv().unwrap();
    let mut more: Vec<_> = (1..21)
        .map(|index| Box::pin(running.spool.append(record(index))))
        .collect();
    for append in &mut more {
        assert!(append.as_mut().now_or_never().is_none());
    }
    leave.send(()).unwrap();
    first.await.unwrap();
    leave.send(()).unwrap();
    for done in future::join_all(more).await {
        done.unwrap();
    }
    assert_eq!(running.metric("group_records_count"), 2.0);
    assert_eq!(running.metric("group_records_sum"), 21.0);
    assert_eq!(running.metric("fsync_duration_seconds_count"), 2.0);
}

#[tokio::test]
async fn segments_are_sealed_when_they_are_large_and_a_large_record_has_one_to_itself() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = Running::start(&config(dir.path())).await;
    let large = Bytes::from(vec![7; 4000]);
    running.append(0..3).await;
    running.spool.append(large.clone()).await.unwrap();
    running.append(3..4).await;
    let (first, taken) = running.call().await.take();
    assert_eq!(taken, records(0..2));
    let (second, taken) = running.call().await.take();
    assert_eq!(taken, records(2..3));
    let (third, taken) = running.call().await.take();
    assert_eq!(taken, [large]);
    let (instance, _) = first.split_once('-').unwrap();
    assert_eq!((instance.len(), first.len()), (32, 49));
    for token in [&second, &third] {
        assert!(token.starts_with(instance), "{token}");
    }
    assert!(first < second && second < third);
    assert_eq!(running.drain().await[0].1, records(3..4));
    let files: Vec<_> = admin::list(dir.path()).unwrap();
    assert_eq!(files, []);
}

#[tokio::test]
async fn a_full_spool_refuses_before_it_writes_until_a_segment_is_delivered() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config {
        max_bytes: ByteSize::b(segment_of(2) + segment_of(1)),
        max_record_bytes: ByteSize::b(100),
        ..config(dir.path())
    };
    let mut running = Running::start(&config).await;
    running.append(0..3).await;
    let on_disk = |listed: Vec<admin::Listed>| -> u64 { listed.iter().map(|one| one.bytes).sum() };
    for _ in 0..2 {
        let refused = running.spool.append(record(3)).await.unwrap_err();
        assert!(
            matches!(refused, SpoolError::Full { bytes, max_bytes }
                if bytes == max_bytes && max_bytes == config.max_bytes.as_u64()),
            "{refused}"
        );
        assert_eq!(
            on_disk(admin::list(dir.path()).unwrap()),
            config.max_bytes.as_u64()
        );
    }
    assert!(running.spool.waiting().nearly_full());
    assert_eq!(
        running.metric("refused_records_total{reason=\"full\"}"),
        2.0
    );

    assert_eq!(running.call().await.take().1, records(0..2));
    super::fixture::until(|| running.spool.waiting().segments == 1).await;
    super::fixture::until(|| running.spool.waiting().bytes == segment_of(1)).await;
    running.append(3..4).await;
    assert!(!running.spool.waiting().refusing);
    assert_eq!(running.drain().await[0].1, records(2..4));
}

#[tokio::test]
async fn a_record_that_is_too_large_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config {
        max_record_bytes: ByteSize::b(11),
        ..config(dir.path())
    };
    let running = Running::start(&config).await;
    running.append(0..1).await;
    let refused = running.spool.append(Bytes::from_static(&[0; 12])).await;
    assert!(
        matches!(
            refused,
            Err(SpoolError::TooLarge {
                bytes: 12,
                limit: 11
            })
        ),
        "{refused:?}"
    );
    assert_eq!(
        running.metric("refused_records_total{reason=\"too_large\"}"),
        1.0
    );
    assert_eq!(running.drain().await[0].1, records(0..1));
}

#[tokio::test]
async fn a_reserve_of_the_disk_stays_free() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config {
        min_free_bytes: ByteSize::b(1 << 40),
        ..config(dir.path())
    };
    let running = Running::start_on(&config, Arc::new(Probe::new(|_, _| None))).await;
    let refused = running.spool.append(record(0)).await.unwrap_err();
    assert!(matches!(refused, SpoolError::DiskLow { .. }), "{refused}");
    assert!(running.spool.waiting().refusing);
    assert_eq!(admin::list(dir.path()).unwrap(), []);
    assert_eq!(
        running.metric("refused_records_total{reason=\"disk_low\"}"),
        1.0
    );
}
