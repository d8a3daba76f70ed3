//! Rows of every shape → ClickHouse and back, bit for bit.

use clickhouse::{RowOwned, RowRead};
use schemas::rows::{HistogramRow, MetadataRow, SampleRow, SeriesRow};
use serde::Serialize;

use super::engine::Engine;
use super::segment::{self, MIDNIGHT, histogram, sample};
use crate::batch::{Batch, Histogram, Sample};

/// The bytes of rows, so that one NaN is told from another.
fn bits<R: Serialize>(rows: &[R]) -> Vec<Vec<u8>> {
    let mut bits: Vec<Vec<u8>> = rows
        .iter()
        .map(|row| postcard::to_allocvec(row).unwrap())
        .collect();
    bits.sort();
    bits
}

async fn read<R: RowOwned + RowRead + Serialize>(engine: &Engine, table: &str) -> Vec<Vec<u8>> {
    let statement = format!("SELECT ?fields FROM {table}");
    let rows: Vec<R> = engine.client().query(&statement).fetch_all().await.unwrap();
    bits(&rows)
}

/// Floats that are easily lost.
fn floats() -> Vec<f64> {
    let bits = [
        0x7ff0_0000_0000_0002_u64,
        0x7ff8_0000_0000_0001,
        0xfff8_0000_0000_0000,
        0x7ff4_0000_dead_beef,
        0x8000_0000_0000_0000,
        0x0000_0000_0000_0001,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
    ];
    bits.into_iter().map(f64::from_bits).collect()
}

fn odd_samples() -> Vec<Sample> {
    let row = |(id, value): (u64, f64)| Sample {
        value,
        start_ts: MIDNIGHT - 1,
        ..sample(u32::try_from(id % 3).unwrap(), u64::MAX - id, MIDNIGHT)
    };
    (0..).zip(floats()).map(row).collect()
}

fn odd_histograms() -> Vec<Histogram> {
    let row = |(id, value): (u64, f64)| Histogram {
        count: u64::MAX,
        sum: Some(value),
        min: (id % 2 == 0).then_some(value),
        max: (id % 3 == 0).then_some(-0.0),
        scale: -4,
        zero_threshold: value,
        zero_count: id,
        pos_offset: i32::MIN,
        pos: if id == 3 {
            Vec::new()
        } else {
            vec![u64::MAX, id, 0]
        },
        neg_offset: i32::MAX,
        neg: vec![id; usize::try_from(id).unwrap()],
        ..histogram(2, id, MIDNIGHT)
    };
    let without_sum = Histogram {
        sum: None,
        ..histogram(0, 99, MIDNIGHT)
    };
    let odd = (0..).zip(floats()).map(row);
    odd.chain([without_sum]).collect()
}

#[tokio::test]
async fn every_value_reads_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::start(folder.path()).await;
    let mut batch = segment::of(0).remove(0);
    batch.names = ["", "http_requests_total", "Größe 🦀\u{0}\t'\\"]
        .map(str::to_owned)
        .to_vec();
    batch.samples = odd_samples();
    batch.histograms = odd_histograms();
    batch.series.truncate(3);
    batch.series[0].labels.push(("ü".to_owned(), String::new()));
    batch.series[1].bounds = vec![-0.5, 0.25, f64::MAX];
    batch.series[2].labels.clear();
    let wanted = batch.rows();
    let tables = engine.tables();
    tables.store(vec![batch], "g-1", false).await.unwrap();
    assert_eq!(
        read::<SampleRow>(&engine, "samples").await,
        bits(&wanted.samples)
    );
    assert_eq!(
        read::<HistogramRow>(&engine, "histograms").await,
        bits(&wanted.histograms)
    );
    assert_eq!(
        read::<SeriesRow>(&engine, "series").await,
        bits(&wanted.series)
    );
    assert_eq!(
        read::<MetadataRow>(&engine, "metadata").await,
        bits(&wanted.metadata)
    );
}

/// Guarantees: indices of one, two and four bytes mean the words that they should.
#[tokio::test]
async fn as_many_names_as_there_are_keep_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::start(folder.path()).await;
    for (number, count) in [256_u32, 257, 65_536, 65_537, 70_000]
        .into_iter()
        .enumerate()
    {
        let batch = Batch {
            tenant: format!("ten_{count}"),
            ret_days: 30,
            names: (0..count).map(|name| format!("m{name}")).collect(),
            samples: (0..count)
                .map(|name| sample(name, u64::from(name), MIDNIGHT))
                .collect(),
            ..Batch::default()
        };
        let tables = engine.tables();
        tables
            .store(vec![batch], &format!("g-{number}"), false)
            .await
            .unwrap();
        let right = format!(
            "SELECT uniqExact(metric) FROM samples WHERE tenant = 'ten_{count}' AND metric = concat('m', toString(id))"
        );
        assert_eq!(engine.number(&right).await, u64::from(count));
    }
}

/// Guarantees: what one INSERT brings is stored or not as a whole.
#[tokio::test]
async fn a_unit_of_the_largest_size_becomes_one_part() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::start(folder.path()).await;
    let batch = Batch {
        tenant: "ten_a".to_owned(),
        ret_days: 30,
        names: vec!["depth".to_owned()],
        samples: (0..500_001).map(|id| sample(0, id, MIDNIGHT)).collect(),
        histograms: (0..250_000).map(|id| histogram(0, id, MIDNIGHT)).collect(),
        ..Batch::default()
    };
    engine
        .tables()
        .store(vec![batch], "g-1", false)
        .await
        .unwrap();
    let parts = "SELECT concat(table, ' ', toString(rows)) FROM system.parts WHERE database = currentDatabase() \
         AND level = 0 AND table IN ('samples', 'histograms') ORDER BY table, min_block_number";
    assert_eq!(
        engine.texts(parts).await,
        ["histograms 250000", "samples 500000", "samples 1"]
    );
}
