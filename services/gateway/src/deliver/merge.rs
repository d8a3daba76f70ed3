//! The batches of a segment → blocks of samples and histograms, in the order of the tables' keys.

use std::collections::BTreeSet;

use bytes::Bytes;
use foldhash::{HashMap, HashMapExt};
use schemas::rows::bucket_of;

use super::native::Block;
use crate::batch::{Batch, Histogram, Sample};

/// Most rows of a block. The server puts the blocks of an INSERT together up to about a million rows.
const MOST_ROWS: usize = 500_000;

/// Tenants and metric names of a segment, each once and in order: the dictionaries of its blocks.
struct Words<'a> {
    tenants: Vec<&'a str>,
    metrics: Vec<&'a str>,
    /// For each batch: its tenant, and the metric of each of its names.
    batches: Vec<(u32, Vec<u32>)>,
}

impl<'a> Words<'a> {
    fn of(batches: &'a [Batch]) -> Self {
        let tenants = sorted(batches.iter().map(|batch| batch.tenant.as_str()));
        let metrics = sorted(
            batches
                .iter()
                .flat_map(|batch| &batch.names)
                .map(String::as_str),
        );
        let (tenant_places, metric_places) = (places(&tenants), places(&metrics));
        let place =
            |places: &HashMap<&str, u32>, word: &str| places.get(word).copied().unwrap_or_default();
        let batches = batches
            .iter()
            .map(|batch| {
                let names = batch.names.iter().map(|name| place(&metric_places, name));
                (place(&tenant_places, &batch.tenant), names.collect())
            })
            .collect();
        Self {
            tenants,
            metrics,
            batches,
        }
    }
}

fn sorted<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    words.collect::<BTreeSet<_>>().into_iter().collect()
}

fn places<'a>(words: &[&'a str]) -> HashMap<&'a str, u32> {
    let mut places = HashMap::with_capacity(words.len());
    places.extend(words.iter().copied().zip(0_u32..));
    places
}

/// A row with what it is sorted by.
struct Row<'a, R> {
    tenant: u32,
    metric: u32,
    b: u32,
    ret_days: u16,
    point: &'a R,
}

/// A point of either table.
trait Point {
    /// Index of the name, series id, time.
    fn key(&self) -> (u32, u64, i64);
}

impl Point for Sample {
    fn key(&self) -> (u32, u64, i64) {
        (self.name, self.id, self.ts)
    }
}

impl Point for Histogram {
    fn key(&self) -> (u32, u64, i64) {
        (self.name, self.id, self.ts)
    }
}

/// All points of one kind, in the order of their table's key.
fn in_order<'a, R: Point>(
    batches: &'a [Batch],
    words: &Words<'_>,
    points: impl Fn(&'a Batch) -> &'a [R],
) -> Vec<Row<'a, R>> {
    let mut rows = Vec::with_capacity(batches.iter().map(|batch| points(batch).len()).sum());
    for (batch, (tenant, metrics)) in batches.iter().zip(&words.batches) {
        rows.extend(points(batch).iter().map(|point| {
            let (name, _, ts) = point.key();
            let metric = usize::try_from(name)
                .ok()
                .and_then(|name| metrics.get(name));
            Row {
                tenant: *tenant,
                // A record whose rows have other names is not decoded.
                metric: metric.copied().unwrap_or_default(),
                b: bucket_of(ts),
                ret_days: batch.ret_days,
                point,
            }
        }));
    }
    rows.sort_unstable_by_key(|row| {
        let (_, id, ts) = row.point.key();
        (row.tenant, row.metric, row.b, id, ts)
    });
    rows
}

/// Both kinds of blocks.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Of table `samples`.
    pub(super) samples: Vec<Bytes>,
    /// Of table `histograms`.
    pub(super) histograms: Vec<Bytes>,
}

/// Merges all batches of a segment. The same batches always make the same blocks.
pub(super) fn blocks(batches: &[Batch]) -> Blocks {
    let words = Words::of(batches);
    let samples = in_order(batches, &words, |batch| batch.samples.as_slice());
    let samples = samples
        .chunks(MOST_ROWS)
        .map(|rows| of_samples(rows, &words))
        .collect();
    let histograms = in_order(batches, &words, |batch| batch.histograms.as_slice());
    let histograms = histograms
        .chunks(MOST_ROWS)
        .map(|rows| of_histograms(rows, &words))
        .collect();
    Blocks {
        samples,
        histograms,
    }
}

/// The columns that both tables begin with.
fn begin<R: Point>(columns: usize, rows: &[Row<'_, R>], words: &Words<'_>, room: usize) -> Block {
    let mut block = Block::new(columns, rows.len(), room);
    let word = "LowCardinality(String)";
    block
        .column("tenant", word)
        .words(&words.tenants, rows.iter().map(|row| row.tenant));
    block
        .column("metric", word)
        .words(&words.metrics, rows.iter().map(|row| row.metric));
    block
        .column("b", "DateTime('UTC')")
        .numbers(rows.iter().map(|row| row.b.to_le_bytes()));
    let keys = || rows.iter().map(|row| row.point.key());
    block
        .column("id", "UInt64")
        .numbers(keys().map(|(_, id, _)| id.to_le_bytes()));
    block
        .column("ts", TIME)
        .numbers(keys().map(|(_, _, ts)| ts.to_le_bytes()));
    block
        .column("ret_days", "UInt16")
        .numbers(rows.iter().map(|row| row.ret_days.to_le_bytes()));
    block
}

const TIME: &str = "DateTime64(3, 'UTC')";

fn of_samples(rows: &[Row<'_, Sample>], words: &Words<'_>) -> Bytes {
    let mut block = begin(8, rows, words, 1024 + 48 * rows.len());
    let points = || rows.iter().map(|row| row.point);
    block
        .column("value", "Float64")
        .numbers(points().map(|point| point.value.to_le_bytes()));
    block
        .column("start_ts", TIME)
        .numbers(points().map(|point| point.start_ts.to_le_bytes()));
    Bytes::from(block.into_bytes())
}

fn of_histograms(rows: &[Row<'_, Histogram>], words: &Words<'_>) -> Bytes {
    let points = || rows.iter().map(|row| row.point);
    let counts: usize = points()
        .map(|point| point.pos.len() + point.neg.len())
        .sum();
    let mut block = begin(18, rows, words, 1024 + 128 * rows.len() + 8 * counts);
    block
        .column("start_ts", TIME)
        .numbers(points().map(|point| point.start_ts.to_le_bytes()));
    block
        .column("count", "UInt64")
        .numbers(points().map(|point| point.count.to_le_bytes()));
    let float = "Nullable(Float64)";
    block
        .column("sum", float)
        .floats_or_null(points().map(|point| point.sum));
    block
        .column("min", float)
        .floats_or_null(points().map(|point| point.min));
    block
        .column("max", float)
        .floats_or_null(points().map(|point| point.max));
    block
        .column("scale", "Int8")
        .numbers(points().map(|point| point.scale.to_le_bytes()));
    let threshold = points().map(|point| point.zero_threshold.to_le_bytes());
    block.column("zero_threshold", "Float64").numbers(threshold);
    block
        .column("zero_count", "UInt64")
        .numbers(points().map(|point| point.zero_count.to_le_bytes()));
    block
        .column("pos_offset", "Int32")
        .numbers(points().map(|point| point.pos_offset.to_le_bytes()));
    block
        .column("pos", "Array(UInt64)")
        .arrays(points().map(|point| point.pos.as_slice()));
    block
        .column("neg_offset", "Int32")
        .numbers(points().map(|point| point.neg_offset.to_le_bytes()));
    block
        .column("neg", "Array(UInt64)")
        .arrays(points().map(|point| point.neg.as_slice()));
    Bytes::from(block.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(name: u32, id: u64, ts: i64) -> Sample {
        Sample {
            name,
            id,
            ts,
            value: 1.0,
            start_ts: 0,
        }
    }

    fn batch(tenant: &str, names: &[&str], samples: Vec<Sample>) -> Batch {
        Batch {
            tenant: tenant.to_owned(),
            ret_days: 30,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            samples,
            ..Batch::default()
        }
    }

    #[test]
    fn rows_of_all_batches_are_in_the_order_of_the_tables_key() {
        let hours = |hours: i64| 1_793_534_400_000 + hours * 3_600_000;
        let batches = [
            batch(
                "b",
                &["up", "down"],
                vec![sample(0, 1, hours(0)), sample(1, 1, hours(0))],
            ),
            batch(
                "a",
                &["up"],
                vec![
                    sample(0, 9, hours(0)),
                    sample(0, 2, hours(3)),
                    sample(0, 9, hours(1)),
                ],
            ),
            batch("b", &["down"], vec![sample(0, 0, hours(0))]),
        ];
        let words = Words::of(&batches);
        let rows = in_order(&batches, &words, |batch| batch.samples.as_slice());
        let told: Vec<_> = rows
            .iter()
            .map(|row| {
                let word = |list: &[&'static str], at: u32| list[usize::try_from(at).unwrap()];
                let tenants: Vec<&'static str> = vec!["a", "b"];
                let metrics: Vec<&'static str> = vec!["down", "up"];
                let hour = (row.point.ts - hours(0)) / 3_600_000;
                (
                    word(&tenants, row.tenant),
                    word(&metrics, row.metric),
                    row.point.id,
                    hour,
                )
            })
            .collect();
        assert_eq!(
            (&*words.tenants, &*words.metrics),
            (&["a", "b"][..], &["down", "up"][..])
        );
        assert_eq!(
            told,
            [
                ("a", "up", 9, 0),
                ("a", "up", 9, 1),
                ("a", "up", 2, 3),
                ("b", "down", 0, 0),
                ("b", "down", 1, 0),
                ("b", "up", 1, 0),
            ]
        );
    }

    #[test]
    fn a_kind_without_points_makes_no_block() {
        let blocks = blocks(&[batch("a", &["up"], vec![sample(0, 1, 1)])]);
        assert_eq!((blocks.samples.len(), blocks.histograms.len()), (1, 0));
    }
}
