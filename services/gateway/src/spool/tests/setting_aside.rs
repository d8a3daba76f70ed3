//! Segments that are refused again and again, and what an operator does with them.

use std::fs;

use bytesize::ByteSize;

use super::super::*;
use super::fixture::{Running, config, record, records, segment_of, until};
use admin::{AdminError, Place};

/// Refuses the first segment until it is set aside; answers its token.
async fn poison(running: &mut Running, tries: u32) -> String {
    let (token, _) = running.call().await.fail(FaultKind::Refused);
    for _ in 1..tries {
        assert_eq!(running.call().await.fail(FaultKind::Refused).0, token);
    }
    token
}

#[tokio::test]
async fn a_refused_segment_is_set_aside_and_those_behind_it_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = Running::start(&config(dir.path())).await;
    running.append(0..4).await;
    let token = poison(&mut running, 5).await;
    assert_eq!(running.call().await.take().1, records(2..4));
    until(|| running.spool.waiting().segments == 0).await;
    until(|| running.spool.waiting().bytes == segment_of(2)).await;

    let listed = admin::list(dir.path()).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].place, Place::Aside);
    assert_eq!(listed[0].token.as_ref(), Some(&token));
    let note = listed[0].note.clone().unwrap();
    assert_eq!((note.token, note.why.as_str()), (token, "not today"));
    assert_eq!(note.refusals, 5);
    assert_eq!(running.spool.waiting().aside_segments, 1);
    assert_eq!(running.metric("aside_segments"), 1.0);
    assert_eq!(running.metric("set_aside_segments_total"), 1.0);
}

#[tokio::test]
async fn a_segment_that_is_put_back_is_delivered_under_its_old_token_while_the_spool_runs() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = Running::start(&config(dir.path())).await;
    running.append(0..2).await;
    let token = poison(&mut running, 5).await;
    until(|| running.spool.waiting().aside_segments == 1).await;
    let name = admin::list(dir.path()).unwrap().remove(0).name;
    admin::retry(dir.path(), &name).unwrap();
    assert_eq!(running.call().await.take(), (token, records(0..2)));
    until(|| running.spool.waiting().bytes == 0).await;
    assert_eq!(running.spool.waiting().aside_segments, 0);
    assert_eq!(fs::read_dir(dir.path().join("aside")).unwrap().count(), 0);
    let again = admin::retry(dir.path(), &name).unwrap_err();
    assert!(matches!(again, AdminError::NotAside { .. }), "{again}");
}

#[tokio::test]
async fn a_dropped_segment_makes_room() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config {
        max_bytes: ByteSize::b(segment_of(2)),
        max_record_bytes: ByteSize::b(11),
        poison_tries: 1,
        ..config(dir.path())
    };
    let mut running = Running::start(&config).await;
    running.append(0..2).await;
    poison(&mut running, 1).await;
    until(|| running.spool.waiting().aside_segments == 1).await;
    let refused = running.spool.append(record(2)).await.unwrap_err();
    assert!(matches!(refused, SpoolError::Full { .. }), "{refused}");

    let name = admin::list(dir.path()).unwrap().remove(0).name;
    admin::discard(dir.path(), &name).unwrap();
    until(|| running.spool.waiting().bytes == 0).await;
    running.append(2..4).await;
    assert_eq!(running.call().await.take().1, records(2..4));
}

#[tokio::test]
async fn only_segments_that_are_set_aside_can_be_dropped_or_put_back() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(&config(dir.path())).await;
    running.append(0..1).await;
    let name = admin::list(dir.path()).unwrap().remove(0).name;
    for name in [name.as_str(), "../sluice.lock", "", "0000000000000001"] {
        for refused in [
            admin::discard(dir.path(), name),
            admin::retry(dir.path(), name),
        ] {
            let refused = refused.unwrap_err();
            assert!(matches!(refused, AdminError::NotAside { .. }), "{refused}");
        }
    }
    assert_eq!(running.drain().await[0].1, records(0..1));
    let missing = admin::list(&dir.path().join("none")).unwrap_err();
    assert!(matches!(missing, AdminError::Folder { .. }), "{missing}");
}

/// Scenario: a passing fault comes between the refusals.
///
/// Guarantees: refusals are counted, not tries in a row.
#[tokio::test]
async fn faults_that_pass_do_not_count_as_refusals() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config {
        poison_tries: 2,
        ..config(dir.path())
    };
    let mut running = Running::start(&config).await;
    running.append(0..4).await;
    for kind in [
        FaultKind::Transient,
        FaultKind::Refused,
        FaultKind::Transient,
        FaultKind::Transient,
        FaultKind::Refused,
    ] {
        assert_eq!(running.call().await.fail(kind).1, records(0..2));
    }
    assert_eq!(running.call().await.take().1, records(2..4));
}
