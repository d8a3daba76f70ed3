//! The batches of a segment → units of samples and histograms: one partition, one block, in the order of the table's key.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::hash::Hash;
use std::sync::Arc;

use bytes::Bytes;
use foldhash::{HashMap, HashMapExt};
use schemas::insert::PointKey;
use schemas::rows::{bucket_of, day_of};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};

use crate::batch::Batch;

/// Most rows of a unit. Less than what the server cuts into several parts.
const MOST_ROWS: usize = 500_000;

/// Most bytes of a unit: a quarter of what the embedded server takes in one request.
const MOST_BYTES: usize = 64 << 20;

/// Points of a unit that stand for all of it when it is looked for in the table.
const WITNESSES: usize = 16;

/// Rows that become one part or none.
#[derive(Debug)]
pub(super) struct Unit {
    /// The rows, in Native format.
    pub(super) block: Bytes,
    /// Some of them.
    pub(super) witnesses: BTreeSet<PointKey>,
    /// The day, since the epoch, from which the table may have dropped them.
    pub(super) expires: u32,
}

/// Units that are being made, one ahead of who takes them.
#[derive(Debug)]
pub(super) struct Merging {
    units: mpsc::Receiver<Unit>,
    task: JoinHandle<()>,
}

impl Merging {
    /// Begins, on a thread where it is in nobody's way. The same batches always make the same units.
    pub(super) fn begin<R: Point>(batches: Arc<Vec<Batch>>) -> Self {
        let (sender, units) = mpsc::channel(1);
        let task = tokio::task::spawn_blocking(move || {
            each_unit::<R>(&batches, |unit| sender.blocking_send(unit).is_ok());
        });
        Self { units, task }
    }

    /// The next unit; `None` behind the last.
    ///
    /// # Errors
    /// The panic that ended the work.
    pub(super) async fn next(&mut self) -> Result<Option<Unit>, JoinError> {
        match self.units.recv().await {
            Some(unit) => Ok(Some(unit)),
            None => (&mut self.task).await.map(|()| None),
        }
    }
}

/// Makes one unit after the other until `take` wants no more.
fn each_unit<R: Point>(batches: &[Batch], mut take: impl FnMut(Unit) -> bool) {
    if batches.iter().all(|batch| R::of(batch).is_empty()) {
        return;
    }
    let words = Words::of(batches);
    let rows = in_order::<R>(batches, &words);
    let mut rest = rows.as_slice();
    while !rest.is_empty() {
        let (rows, others) = rest.split_at(unit_length(rest));
        rest = others;
        let unit = Unit {
            block: Bytes::from(R::block(rows, &words)),
            witnesses: witnesses(rows, &words),
            expires: rows.first().map_or(0, Row::expires),
        };
        if !take(unit) {
            return;
        }
    }
}

/// How many of the rows at the beginning are one unit.
fn unit_length<R: Point>(rows: &[Row<'_, R>]) -> usize {
    let mut bytes = 0;
    let partition = rows.first().map(Row::partition);
    let within = rows.iter().take(MOST_ROWS).take_while(|row| {
        bytes += row.point.bytes();
        Some(row.partition()) == partition && bytes <= MOST_BYTES
    });
    // A row that is too large alone is a unit all the same.
    within.count().max(1)
}

/// Rows from the first to the last, at equal distances.
fn witnesses<R: Point>(rows: &[Row<'_, R>], words: &Words<'_>) -> BTreeSet<PointKey> {
    let step = rows.len().div_ceil(WITNESSES).max(1);
    let word = |words: &[&str], at: u32| {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        words.get(at).copied().unwrap_or_default().to_owned()
    };
    let chosen = rows.iter().step_by(step).chain(rows.last());
    chosen
        .map(|row| {
            let (_, id, ts) = row.point.key();
            let tenant = word(&words.tenants, row.tenant);
            (tenant, word(&words.metrics, row.metric), row.b, id, ts)
        })
        .collect()
}

/// Tenants and metric names of a segment, each once and in order: the dictionaries of its blocks.
pub(super) struct Words<'a> {
    pub(super) tenants: Vec<&'a str>,
    pub(super) metrics: Vec<&'a str>,
    /// For each batch: its tenant, and the metric of each of its names.
    batches: Vec<(u32, Vec<u32>)>,
}

impl<'a> Words<'a> {
    fn of(batches: &'a [Batch]) -> Self {
        let (tenants, of_tenants) = ranked(batches.iter().map(|batch| batch.tenant.as_str()));
        let names = batches.iter().flat_map(|batch| &batch.names);
        let (metrics, of_names) = ranked(names.map(String::as_str));
        let mut of_names = of_names.into_iter();
        let batches = batches
            .iter()
            .zip(of_tenants)
            .map(|(batch, tenant)| (tenant, of_names.by_ref().take(batch.names.len()).collect()))
            .collect();
        Self {
            tenants,
            metrics,
            batches,
        }
    }
}

/// All different words in order, and the place among them of each that was given.
fn ranked<W: Copy + Eq + Ord + Hash>(given: impl Iterator<Item = W>) -> (Vec<W>, Vec<u32>) {
    let mut seen: HashMap<W, u32> = HashMap::new();
    let mut first_seen = Vec::new();
    let as_seen: Vec<u32> = given
        .map(|word| {
            *seen.entry(word).or_insert_with(|| {
                first_seen.push(word);
                u32::try_from(first_seen.len() - 1).unwrap_or(u32::MAX)
            })
        })
        .collect();
    let mut words = first_seen.clone();
    words.sort_unstable();
    let places: HashMap<W, u32> = words.iter().copied().zip(0_u32..).collect();
    let rank: Vec<u32> = first_seen
        .iter()
        .map(|word| places.get(word).copied().unwrap_or_default())
        .collect();
    let place = |seen: u32| {
        let seen = usize::try_from(seen).unwrap_or(usize::MAX);
        rank.get(seen).copied().unwrap_or_default()
    };
    (words, as_seen.into_iter().map(place).collect())
}

/// A row with what it is sorted by.
pub(super) struct Row<'a, R> {
    pub(super) ret_days: u16,
    day: u16,
    pub(super) tenant: u32,
    pub(super) metric: u32,
    pub(super) b: u32,
    pub(super) point: &'a R,
}

impl<R: Point> Row<'_, R> {
    /// What the table is partitioned by.
    const fn partition(&self) -> (u16, u16) {
        (self.ret_days, self.day)
    }

    /// The first day on which the table may drop the whole partition.
    fn expires(&self) -> u32 {
        u32::from(self.day) + u32::from(self.ret_days)
    }

    /// By partition, then by the table's key.
    fn order(&self, other: &Self) -> Ordering {
        let front = |row: &Self| (row.ret_days, row.day, row.tenant, row.metric, row.b);
        let back = |row: &Self| {
            let (_, id, ts) = row.point.key();
            (id, ts)
        };
        front(self)
            .cmp(&front(other))
            .then_with(|| back(self).cmp(&back(other)))
    }
}

/// A point of either table.
pub(super) trait Point: Sized + 'static {
    /// The points of this kind.
    fn of(batch: &Batch) -> &[Self];

    /// Index of the name, series id, time.
    fn key(&self) -> (u32, u64, i64);

    /// About how many bytes it has in a block.
    fn bytes(&self) -> usize;

    /// The rows in Native format.
    fn block(rows: &[Row<'_, Self>], words: &Words<'_>) -> Vec<u8>;
}

/// All points of one kind, in order.
fn in_order<'a, R: Point>(batches: &'a [Batch], words: &Words<'_>) -> Vec<Row<'a, R>> {
    let mut rows = Vec::with_capacity(batches.iter().map(|batch| R::of(batch).len()).sum());
    for (batch, (tenant, metrics)) in batches.iter().zip(&words.batches) {
        rows.extend(R::of(batch).iter().map(|point| {
            let (name, _, ts) = point.key();
            let metric = usize::try_from(name)
                .ok()
                .and_then(|name| metrics.get(name));
            Row {
                ret_days: batch.ret_days,
                day: day_of(ts),
                tenant: *tenant,
                // A record whose rows have other names is not decoded.
                metric: metric.copied().unwrap_or_default(),
                b: bucket_of(ts),
                point,
            }
        }));
    }
    rows.sort_unstable_by(Row::order);
    rows
}

#[cfg(test)]
mod tests;
