//! What a start makes of a folder, whatever is in it.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::segment::{FRAME, HEADER, Identity};
use super::super::*;
use super::fixture::{HOUR, Running, config, records};

/// Leaves a segment with records 0 to 2 behind, as a killed process would; its path and token.
async fn killed(dir: &Path) -> (PathBuf, String) {
    let own = Config {
        segment_bytes: bytesize::ByteSize::mib(1),
        ..config(dir)
    };
    let running = Running::start(&own).await;
    running.append(0..3).await;
    let listed = admin::list(dir).unwrap().remove(0);
    let path = dir.join(format!("{}.open", listed.name));
    let copy = fs::read(&path).unwrap();
    running.drain().await;
    fs::write(&path, copy).unwrap();
    (path, listed.token.unwrap())
}

#[tokio::test]
async fn a_torn_end_is_cut_at_whatever_byte_it_was_torn() {
    let dir = tempfile::tempdir().unwrap();
    let (path, token) = killed(dir.path()).await;
    let whole = fs::read(&path).unwrap();
    let frame = FRAME + 11;
    for cut in (0..=whole.len()).step_by(7).chain([whole.len()]) {
        fs::write(&path, &whole[..cut]).unwrap();
        let running = Running::start(&config(dir.path())).await;
        let lost = running.metric("lost_records_total{reason=\"torn\"}");
        let kept = cut.saturating_sub(HEADER) / frame;
        let taken = running.drain().await;
        let expected = (kept > 0).then(|| (token.clone(), records(0..kept)));
        assert_eq!(taken, Vec::from_iter(expected), "{cut}");
        let torn = cut > HEADER && !(cut - HEADER).is_multiple_of(frame);
        assert_eq!(lost, f64::from(u8::from(torn)), "{cut}");
        assert_eq!(admin::list(dir.path()).unwrap(), [], "{cut}");
    }
}

#[tokio::test]
async fn a_damaged_record_of_a_sealed_segment_is_counted_and_the_others_delivered() {
    let dir = tempfile::tempdir().unwrap();
    let (path, token) = killed(dir.path()).await;
    let mut bytes = fs::read(&path).unwrap();
    bytes[HEADER + FRAME + 3] ^= 0x10;
    fs::remove_file(&path).unwrap();
    fs::write(path.with_extension("seg"), bytes).unwrap();
    let mut running = Running::start(&config(dir.path())).await;
    // Tried twice, counted once.
    let first = running.call().await.fail(FaultKind::Transient);
    assert_eq!(first, (token, records(1..3)));
    assert_eq!(running.call().await.take(), first);
    assert_eq!(
        running.metric("lost_records_total{reason=\"corrupt\"}"),
        1.0
    );
    assert_eq!(running.metric("lost_records_total{reason=\"torn\"}"), 0.0);
}

#[tokio::test]
async fn files_that_are_no_segments_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = killed(dir.path()).await;
    let mut newer = fs::read(&path).unwrap();
    for copy in [0, HEADER / 2] {
        newer[copy + 8] = 9;
    }
    fs::remove_file(&path).unwrap();
    let strangers = [
        ("notes.txt", b"mine".to_vec()),
        ("0000000000000001.seg", newer.clone()),
        ("0000000000000002.open", newer),
        ("0000000000000003.seg", b"something else".to_vec()),
        ("0000000000000004.seg", Vec::new()),
    ];
    for (name, content) in &strangers {
        fs::write(dir.path().join(name), content).unwrap();
    }
    let mut running = Running::start(&config(dir.path())).await;
    running.append(0..2).await;
    assert_eq!(running.call().await.take().1, records(0..2));
    running.drain().await;
    for (name, content) in &strangers {
        assert_eq!(&fs::read(dir.path().join(name)).unwrap(), content, "{name}");
    }
}

#[tokio::test]
async fn no_token_comes_twice_and_names_rise_over_restarts() {
    let dir = tempfile::tempdir().unwrap();
    let mut tokens = BTreeSet::new();
    let far = Identity {
        instance: [1; 16],
        number: 5,
    };
    // From a machine whose clock was ahead.
    let ahead = dir.path().join("7000000000000000.seg");
    fs::write(&ahead, far.header()).unwrap();
    for round in 0..3 {
        let (spool, delivery) = Spool::open(&config(dir.path()), &Metrics::new())
            .await
            .unwrap();
        spool.append(Bytes::from_static(b"x")).await.unwrap();
        drop(delivery);
        let listed = admin::list(dir.path()).unwrap();
        let newest = listed.last().unwrap();
        let expected = format!("{:016x}", 0x7000_0000_0000_0001_u64 + round);
        assert_eq!(newest.name, expected);
        assert!(tokens.insert(newest.token.clone().unwrap()));
        spool.close(HOUR, &CancellationToken::new()).await;
    }
    fs::remove_file(&ahead).unwrap();
    let running = Running::start(&config(dir.path())).await;
    assert_eq!(running.spool.waiting().segments, 3);
    let taken: Vec<_> = running.drain().await;
    assert_eq!(taken.len(), 3);
    assert!(taken.iter().all(|(token, _)| tokens.contains(token)));
}
