//! Disks that fail: nothing acknowledged is lost, nothing refused is delivered, and it passes by itself.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command as Process;

use super::super::*;
use super::fixture::{Running, config, record, records, until};
use super::probe::{Op, Probe};

/// Appends `indices` one by one; those that were acknowledged, in order.
async fn acknowledged(running: &Running, indices: std::ops::Range<usize>) -> Vec<Bytes> {
    let mut taken = Vec::new();
    for index in indices {
        if running.spool.append(record(index)).await.is_ok() {
            taken.push(record(index));
        }
    }
    taken
}

fn flat(segments: Vec<(String, Vec<Bytes>)>) -> Vec<Bytes> {
    let mut tokens = BTreeSet::new();
    let mut all = Vec::new();
    for (token, records) in segments {
        assert!(tokens.insert(token), "a token comes once");
        all.extend(records);
    }
    all
}

/// Scenario: each single operation of a run fails once, with each kind of error.
///
/// Guarantees: exactly the acknowledged records are delivered, once and in order; all later records are taken; no
/// damage is found.
#[tokio::test]
async fn any_operation_may_fail_once() {
    let mut reached = 0;
    let mut index = 0;
    while index <= reached {
        for kind in [ErrorKind::StorageFull, ErrorKind::ReadOnlyFilesystem] {
            let dir = tempfile::tempdir().unwrap();
            let probe = Probe::new(|_, _| None);
            let running = Running::start_on(&config(dir.path()), Arc::new(probe.clone())).await;
            let begun = probe.count();
            probe.plan(move |at, _| (at == begun + index).then_some(kind));
            let expected = acknowledged(&running, 0..7).await;
            assert!(expected.len() >= 6, "{index}: one fault refuses one record");
            for loss in ["torn", "corrupt", "missing"] {
                let name = format!("lost_records_total{{reason=\"{loss}\"}}");
                assert_eq!(running.metric(&name), 0.0, "{index} {kind}");
            }
            let taken = running.drain().await;
            assert_eq!(flat(taken), expected, "{index} {kind}");
            reached = reached.max(probe.count() - begun);
        }
        index += 1;
    }
    assert!(reached > 20, "the run has {reached} operations");
}

/// Scenario: all operations of one kind fail from some time on, until the disk is repaired.
///
/// Guarantees: as above, also after a restart on the repaired disk.
#[tokio::test]
async fn any_kind_of_operation_may_fail_for_a_while() {
    for op in Op::ALL {
        for first in 0..3 {
            let dir = tempfile::tempdir().unwrap();
            let probe = Probe::new(|_, _| None);
            let running = Running::start_on(&config(dir.path()), Arc::new(probe.clone())).await;
            let mut expected = acknowledged(&running, 0..first).await;
            probe.plan(move |_, now| (now == op).then_some(ErrorKind::QuotaExceeded));
            expected.extend(acknowledged(&running, first..first + 6).await);
            probe.plan(|_, _| None);
            let after = acknowledged(&running, 20..23).await;
            assert_eq!(after, records(20..23), "{op:?}: the spool works again");
            expected.extend(after);
            assert!(!running.spool.waiting().refusing, "{op:?}");
            let mut taken = flat(running.drain().await);

            // What could not be read when its turn came may be late.
            let next = Running::start(&config(dir.path())).await;
            let again = flat(next.drain().await);
            if op == Op::Read {
                taken.extend(again);
                taken.sort();
            } else if op != Op::Remove {
                let of_before = |record: &Bytes| taken.contains(record);
                assert!(!again.iter().any(of_before), "{op:?}: {again:?}");
            }
            assert_eq!(taken, expected, "{op:?}");
        }
    }
}

/// Scenario: the file of a segment cannot be read for longer than a delivery waits.
///
/// Guarantees: those behind it are delivered, and it is as soon as it can be read.
#[tokio::test]
async fn a_segment_that_cannot_be_read_is_passed_over_until_it_can() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(&config(dir.path())).await;
    running.append(0..4).await;
    let never = CancellationToken::new();
    let left = running.spool.close(Duration::ZERO, &never).await;
    assert_eq!(left.segments, 2);
    running.task.await.unwrap();

    let first = admin::list(dir.path()).unwrap().remove(0).name;
    let path = dir.path().canonicalize().unwrap();
    let probe = Probe::new(|_, _| None);
    probe.hide(Some(path.join(format!("{first}.seg"))));
    let mut running = Running::start_on(&config(dir.path()), Arc::new(probe.clone())).await;
    assert_eq!(running.call().await.take().1, records(2..4));
    let name = "deliveries_total{outcome=\"unreadable\"}";
    assert_eq!(running.metric(name), 5.0);
    probe.hide(None);
    assert_eq!(running.call().await.take().1, records(0..2));
    until(|| running.spool.waiting().bytes == 0).await;
}

/// Scenario: an fsync fails after the segment has records.
///
/// Guarantees: the whole group is refused; nothing is added to that file again.
#[tokio::test]
async fn a_segment_whose_fsync_failed_is_closed_for_good() {
    let dir = tempfile::tempdir().unwrap();
    let probe = Probe::new(|_, _| None);
    let own = Config {
        segment_bytes: bytesize::ByteSize::mib(1),
        ..config(dir.path())
    };
    let mut running = Running::start_on(&own, Arc::new(probe.clone())).await;
    running.append(0..2).await;
    probe.plan(|_, op| (op == Op::Sync).then_some(ErrorKind::Other));
    let refused = running.spool.append(record(2)).await.unwrap_err();
    assert!(
        matches!(refused, SpoolError::Disk { step: "fsync", .. }),
        "{refused}"
    );
    assert!(running.spool.waiting().refusing);
    assert_eq!(running.metric("failing"), 1.0);
    assert_eq!(running.metric("write_errors_total{step=\"fsync\"}"), 1.0);
    probe.plan(|_, _| None);
    running.append(3..4).await;
    assert_eq!(running.metric("failing"), 0.0);
    assert_eq!(running.call().await.take().1, records(0..2));
    assert_eq!(running.drain().await[0].1, records(3..4));
}

/// A file system of one megabyte, as long as it lives.
struct Small(tempfile::TempDir);

impl Small {
    fn mount() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mut mount = Process::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]);
        let mounted = mount.arg(dir.path()).output();
        mounted
            .is_ok_and(|done| done.status.success())
            .then_some(Self(dir))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        drop(Process::new("umount").arg("-l").arg(self.path()).status());
    }
}

/// Scenario: a file system without room, once as the reserve sees it coming and once as the write finds out.
///
/// Guarantees: what was acknowledged is delivered, and that makes room.
#[tokio::test]
async fn a_disk_that_is_really_full_refuses_until_a_delivery_makes_room() {
    for foreseen in [true, false] {
        let Some(small) = Small::mount() else {
            eprintln!("SKIPPED: this process may not mount a tmpfs; the full disk was not tried");
            return;
        };
        let own = Config {
            segment_bytes: bytesize::ByteSize::kib(100),
            ..config(&small.path().join("spool"))
        };
        let payload = |index: u8| Bytes::from(vec![index; 30_000]);
        // The probe tells of more room than there is.
        let disk: Arc<dyn Disk> = if foreseen {
            Arc::new(Local)
        } else {
            Arc::new(Probe::new(|_, _| None))
        };
        let mut running = Running::start_on(&own, disk).await;
        let mut taken = Vec::new();
        let refused = loop {
            let next = payload(u8::try_from(taken.len()).unwrap());
            match running.spool.append(next.clone()).await {
                Ok(()) => taken.push(next),
                Err(refused) => break refused,
            }
        };
        match refused {
            SpoolError::DiskLow { .. } => assert!(foreseen),
            SpoolError::Disk { source, .. } => {
                assert!(!foreseen);
                assert_eq!(source.kind(), ErrorKind::StorageFull);
            }
            other => panic!("{other}"),
        }
        assert!((30..=35).contains(&taken.len()), "{}", taken.len());

        let before = running.spool.waiting().bytes;
        assert_eq!(running.call().await.take().1, taken[..3]);
        until(|| running.spool.waiting().bytes < before).await;
        let second = running.call().await;
        running.spool.append(payload(200)).await.unwrap();
        let mut left = second.take().1;
        left.extend(flat(running.drain().await));
        taken.push(payload(200));
        assert_eq!(left, taken[3..]);
    }
}
