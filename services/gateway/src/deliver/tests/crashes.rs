//! A ClickHouse that is killed while it stores a segment → each row once, when the segment has come again.

use std::time::{Duration, Instant};

use super::engine::Engine;
use super::segment::{self, POINTS};

/// Longest wait for the rest of a delivery that its ClickHouse has left.
const PATIENCE: Duration = Duration::from_secs(60);

/// Every point of the segments 0 to `segments` is there once, and every label of their series.
async fn assert_once(engine: &Engine, segments: u64, when: &str) {
    for table in ["samples", "histograms"] {
        let rows = engine.number(&format!("SELECT count() FROM {table}")).await;
        let distinct = format!("SELECT uniqExact(tenant, metric, id, ts) FROM {table}");
        let distinct = engine.number(&distinct).await;
        let points = segments * POINTS;
        assert_eq!((rows, distinct), (points, points), "{table}, {when}");
    }
    let series = "SELECT uniqExact(tenant, metric, id, day) FROM series";
    let values = "SELECT uniqExact(tenant, metric, val, day) FROM label_values";
    let distinct = (engine.number(series).await, engine.number(values).await);
    let wanted = segments * 2 * 2 * 1500 * 2;
    assert_eq!(
        distinct,
        (wanted, wanted),
        "series and label values, {when}"
    );
    assert_eq!(
        engine
            .number("SELECT uniqExact(tenant, family) FROM metadata")
            .await,
        2
    );
}

#[tokio::test]
async fn a_segment_that_comes_twice_is_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::start(folder.path()).await;
    for (doubt, when) in [(false, "once"), (false, "again"), (true, "in doubt")] {
        let tables = engine.tables();
        tables.store(segment::of(0), "g-0", doubt).await.unwrap();
        assert_once(&engine, 1, when).await;
    }
}

/// Scenario: ClickHouse is killed when it has noted the token of a block and the block's part has no name yet.
/// Guarantees: in doubt the rows are stored all the same, and once.
#[tokio::test]
async fn rows_whose_token_was_noted_without_them_are_stored_again() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::start(folder.path()).await;
    engine
        .tables()
        .store(segment::of(0), "g-0", false)
        .await
        .unwrap();
    // What that moment leaves behind: the token, and no part.
    let lost = "SELECT path FROM system.parts WHERE active AND database = currentDatabase() \
         AND table IN ('samples', 'histograms') AND min_block_number % 2 = 1";
    let lost = engine.texts(lost).await;
    drop(engine);
    assert_eq!(lost.len(), 4, "{lost:?}");
    for part in lost {
        std::fs::remove_dir_all(part).unwrap();
    }

    let engine = Engine::start(folder.path()).await;
    engine
        .tables()
        .store(segment::of(0), "g-0", false)
        .await
        .unwrap();
    let half = engine.number("SELECT count() FROM samples").await;
    assert_eq!(
        half,
        POINTS / 2,
        "the token alone has ClickHouse drop the rows"
    );
    engine
        .tables()
        .store(segment::of(0), "g-0", true)
        .await
        .unwrap();
    assert_once(&engine, 1, "in doubt").await;
    engine
        .tables()
        .store(segment::of(0), "g-0", true)
        .await
        .unwrap();
    assert_once(&engine, 1, "in doubt, again").await;
}

/// `SLUICE_TEST_CRASHES` is how often ClickHouse is killed.
#[tokio::test]
async fn each_row_is_there_once_after_clickhouse_was_killed_at_any_moment() {
    let crashes: u64 = std::env::var("SLUICE_TEST_CRASHES")
        .map_or(5, |count| count.parse().expect("a number of crashes"));
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(folder.path()).await;
    let begin = Instant::now();
    engine
        .tables()
        .store(segment::of(0), "g-0", false)
        .await
        .unwrap();
    let usual = begin.elapsed();
    let (mut moment, mut cut) = (0x5eed_u64, 0);
    for number in 1..=crashes {
        moment = moment
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let after =
            usual.mul_f64(f64::from(u32::try_from(moment >> 33).unwrap()) / f64::from(1_u32 << 31));
        let (tables, token, id) = (engine.tables(), format!("g-{number}"), engine.id());
        let storing = tables.store(segment::of(number), &token, false);
        let killing = async {
            tokio::time::sleep(after).await;
            let kill = ["-KILL".to_owned(), id.to_string()];
            let killed = tokio::process::Command::new("kill")
                .args(kill)
                .status()
                .await;
            assert!(killed.unwrap().success());
        };
        let both = tokio::time::timeout(PATIENCE, futures::future::join(storing, killing));
        let (stored, ()) = both.await.expect("a broken connection ends a delivery");
        cut += u64::from(stored.is_err());
        drop(engine);
        engine = Engine::start(folder.path()).await;
        engine
            .tables()
            .store(segment::of(number), &token, true)
            .await
            .unwrap();
        assert_once(
            &engine,
            number + 1,
            &format!("killed {after:?} of {usual:?} in"),
        )
        .await;
    }
    assert!(crashes == 0 || cut > 0, "no delivery was cut off");
}
