//! A process that ends, or a machine that loses power, after any operation of its disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::*;
use super::fixture::{HOUR, Running, config, record, records};
use super::probe::{Files, Probe};

/// What was stored for good: the records by token.
type Stored = BTreeMap<String, Vec<Bytes>>;

/// A storage that knows tokens.
#[derive(Clone, Default)]
struct Storage(Arc<Mutex<Stored>>);

impl Deliver for Storage {
    async fn deliver(&self, token: &str, records: Vec<Bytes>) -> Result<(), DeliveryFault> {
        let mut stored = self.0.lock().unwrap();
        let known = stored
            .entry(token.to_owned())
            .or_insert_with(|| records.clone());
        assert_eq!(
            *known, records,
            "a token stands for the same records for ever"
        );
        Ok(())
    }
}

/// A moment at which everything stops.
struct Moment {
    files: [Files; 3],
    acknowledged: usize,
    stored: Stored,
}

const RECORDS: usize = 7;

/// All moments of a run that appends, seals and delivers.
async fn moments(dir: &Path) -> Vec<Moment> {
    let storage = Storage::default();
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let moments = Arc::new(Mutex::new(Vec::new()));
    let probe = Probe::watched({
        let (storage, acknowledged) = (storage.clone(), Arc::clone(&acknowledged));
        let moments = Arc::clone(&moments);
        move |model| {
            let moment = Moment {
                files: [model.all(), model.half(), model.least()],
                acknowledged: acknowledged.load(Ordering::SeqCst),
                stored: storage.0.lock().unwrap().clone(),
            };
            moments.lock().unwrap().push(moment);
        }
    });
    let opened = Spool::open_on(&config(dir), &Metrics::new(), Arc::new(probe)).await;
    let (spool, delivery) = opened.unwrap();
    let tasks = runtime::tasks::Tasks::new();
    let task = tasks.spawn("spool", delivery.run(storage));
    for index in 0..RECORDS {
        spool.append(record(index)).await.unwrap();
        acknowledged.fetch_add(1, Ordering::SeqCst);
    }
    let left = spool.close(HOUR, &CancellationToken::new()).await;
    assert_eq!(left.segments, 0);
    task.await.unwrap();
    std::mem::take(&mut *moments.lock().unwrap())
}

/// Scenario: everything stops after any one operation; what was not synced is there, half there or not there.
///
/// Guarantees: after the next start every acknowledged record is stored, each record once, as far as the storage
/// knows tokens.
#[tokio::test]
async fn a_stop_at_any_moment_loses_nothing_acknowledged_and_doubles_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let origin = parent.path().canonicalize().unwrap().join("origin");
    let moments = moments(&origin).await;
    assert!(moments.len() > 40, "the run has {} moments", moments.len());
    for (index, moment) in moments.iter().enumerate() {
        for (variant, files) in moment.files.iter().enumerate() {
            let dir = parent.path().join(format!("{index}-{variant}"));
            fs::create_dir_all(dir.join("aside")).unwrap();
            for (path, content) in files {
                fs::write(dir.join(path.strip_prefix(&origin).unwrap()), content).unwrap();
            }
            let storage = Storage(Arc::new(Mutex::new(moment.stored.clone())));
            let opened = Spool::open(&config(&dir), &Metrics::new()).await;
            let (spool, delivery) = opened.unwrap();
            let tasks = runtime::tasks::Tasks::new();
            let task = tasks.spawn("spool", delivery.run(storage.clone()));
            spool.close(HOUR, &CancellationToken::new()).await;
            task.await.unwrap();

            let stored = storage.0.lock().unwrap();
            let mut all: Vec<_> = stored.values().flatten().cloned().collect();
            all.sort();
            let known = all.len();
            assert!(known >= moment.acknowledged, "{index}-{variant}: {known}");
            assert_eq!(all, records(0..known), "{index}-{variant}");
            drop(stored);
            let mut left = fs::read_dir(&dir)
                .unwrap()
                .map(|file| file.unwrap().file_name());
            assert!(
                left.all(|name| name == "aside" || name == "sluice.lock"),
                "{index}-{variant}: nothing stays"
            );
        }
    }
}

/// Scenario: the spool is started over and over, and stops without delivering.
///
/// Guarantees: segments pile up in order, and are all delivered in that order.
#[tokio::test]
async fn many_starts_without_a_delivery_keep_the_order() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..4 {
        let opened = Spool::open(&config(dir.path()), &Metrics::new()).await;
        let (spool, delivery) = opened.unwrap();
        for index in 3 * round..3 * round + 3 {
            spool.append(record(index)).await.unwrap();
        }
        drop(delivery);
        let left = spool.close(HOUR, &CancellationToken::new()).await;
        assert_eq!(left.segments, 2 * (round + 1));
    }
    let taken = Running::start(&config(dir.path())).await.drain().await;
    let all: Vec<_> = taken.into_iter().flat_map(|(_, records)| records).collect();
    assert_eq!(all, records(0..12));
}
