//! The end of a spool: everything out, or as much as there is time for.

use std::fs;

use super::super::*;
use super::fixture::{HOUR, Running, config, record, records};

#[tokio::test]
async fn a_closed_spool_delivers_what_is_left_and_takes_nothing_more() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(&config(dir.path())).await;
    running.append(0..3).await;
    let spool = running.spool.clone();
    let taken: Vec<_> = running.drain().await;
    let taken: Vec<_> = taken.into_iter().map(|(_, records)| records).collect();
    assert_eq!(taken, [records(0..2), records(2..3)]);
    let late = spool.append(record(3)).await.unwrap_err();
    assert!(matches!(late, SpoolError::Closed), "{late}");
    assert_eq!(admin::list(dir.path()).unwrap(), []);
}

#[tokio::test]
async fn what_is_not_delivered_in_time_is_there_at_the_next_start_under_the_same_token() {
    let dir = tempfile::tempdir().unwrap();
    for signalled_twice in [false, true] {
        let mut running = Running::start(&config(dir.path())).await;
        running.append(0..3).await;
        let unanswered = running.call().await;
        let cut = CancellationToken::new();
        let limit = if signalled_twice {
            cut.cancel();
            HOUR
        } else {
            Duration::ZERO
        };
        let left = running.spool.close(limit, &cut).await;
        assert!(left.segments > 0 && left.bytes > 0);
        running.task.await.unwrap();

        let next = Running::start(&config(dir.path())).await;
        let taken = next.drain().await;
        assert_eq!(taken[0], (unanswered.token, records(0..2)));
        assert_eq!(taken[1].1, records(2..3));
        assert_eq!(taken.len(), 2);
    }
}

#[tokio::test]
async fn the_last_user_of_a_spool_leaves_a_sealed_segment() {
    let dir = tempfile::tempdir().unwrap();
    let own = config(dir.path());
    let (spool, delivery) = Spool::open(&own, &Metrics::new()).await.unwrap();
    spool.append(record(0)).await.unwrap();
    drop((spool, delivery));
    let sealed = || {
        let files = fs::read_dir(dir.path()).unwrap();
        let mut names = files.map(|file| file.unwrap().file_name());
        names.any(|name| name.to_str().unwrap().ends_with(".seg"))
    };
    super::fixture::until(sealed).await;
}
