//! A stream of rows → columns per series: one look-up for each run of rows of the same series.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::budget::Budget;
use crate::fetch::FetchError;
use crate::fetch::columns::{Numbers, Points};
use crate::fetch::native::{Block, Decoder, NativeError, Word};
use crate::fetch::sql::{Detail, METRIC_COLUMN};
use crate::fetch::store::Stream;
use crate::fetch::units::{Table, Unit};

/// What the statements of one query may read together.
#[derive(Debug)]
pub(crate) struct Allowance {
    samples: AtomicUsize,
    most_samples: usize,
    bytes: AtomicU64,
    most_bytes: u64,
}

impl Allowance {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            samples: AtomicUsize::new(0),
            most_samples: budget.samples,
            bytes: AtomicU64::new(0),
            most_bytes: budget.bytes,
        }
    }

    fn take_samples(&self, samples: usize) -> Result<(), FetchError> {
        let before = self.samples.fetch_add(samples, Ordering::Relaxed);
        if before.saturating_add(samples) > self.most_samples {
            Err(FetchError::TooManySamples)
        } else {
            Ok(())
        }
    }

    fn take_bytes(&self, bytes: usize) -> Result<(), FetchError> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.most_bytes {
            Err(FetchError::TooManyBytes(self.most_bytes))
        } else {
            Ok(())
        }
    }

    /// Samples and bytes taken so far.
    pub(crate) fn taken(&self) -> (u64, u64) {
        let samples = u64::try_from(self.samples.load(Ordering::Relaxed)).unwrap_or(u64::MAX);
        (samples, self.bytes.load(Ordering::Relaxed))
    }
}

/// The points of the series of one unit, by slot.
#[derive(Debug)]
pub(crate) enum Slots {
    Numbers(Vec<Numbers>),
    Points(Vec<Points>),
}

/// Reads `stream` to its end. Points of series that were not asked for are passed over.
pub(crate) async fn read(
    unit: &Unit,
    stream: &mut Stream,
    allowance: &Allowance,
) -> Result<Slots, FetchError> {
    let mut slots = Slots::empty(unit);
    let mut decoder = Decoder::default();
    while let Some(bytes) = stream.next().await? {
        allowance.take_bytes(bytes.len())?;
        decoder.feed(&bytes);
        while let Some(block) = decoder.next_block()? {
            allowance.take_samples(slots.add(unit, &block)?)?;
        }
    }
    decoder.finish()?;
    Ok(slots)
}

impl Slots {
    fn empty(unit: &Unit) -> Self {
        let length = unit.slots.len();
        match unit.table {
            Table::Samples => Self::Numbers(vec![Numbers::default(); length]),
            Table::Histograms => Self::Points(vec![Points::default(); length]),
        }
    }

    /// Sorts every series by time and drops what was sent twice.
    pub(crate) fn tidy(&mut self) {
        match self {
            Self::Numbers(all) => all.iter_mut().for_each(Numbers::tidy),
            Self::Points(all) => all.iter_mut().for_each(Points::tidy),
        }
    }

    /// Adds a block; answers how many values were kept.
    fn add(&mut self, unit: &Unit, block: &Block) -> Result<usize, FetchError> {
        if block.rows() == 0 {
            return Ok(0);
        }
        let runs = runs(unit, block)?;
        Ok(match self {
            Self::Numbers(all) => add_numbers(all, &runs, block)?,
            Self::Points(all) => add_points(all, &runs, block, unit.detail)?,
        })
    }
}

/// Rows of one series that follow each other, and the slot they go to.
type Run = (usize, std::ops::Range<usize>);

fn runs(unit: &Unit, block: &Block) -> Result<Vec<Run>, NativeError> {
    let ids = block.fixed::<8>("id")?;
    let metrics = if unit.metrics.len() > 1 {
        Some(block.fixed::<4>(METRIC_COLUMN)?)
    } else {
        None
    };
    let key = |at: usize| (metrics.map_or([1, 0, 0, 0], |metrics| metrics[at]), ids[at]);
    let mut runs = Vec::new();
    let mut start = 0;
    while start < ids.len() {
        let first = key(start);
        let end = (start + 1..ids.len())
            .find(|at| key(*at) != first)
            .unwrap_or(ids.len());
        let series = (u32::from_le_bytes(first.0), u64::from_le_bytes(first.1));
        if let Some(slot) = unit.slots.get(&series) {
            runs.push((*slot, start..end));
        }
        start = end;
    }
    Ok(runs)
}

fn add_numbers(all: &mut [Numbers], runs: &[Run], block: &Block) -> Result<usize, NativeError> {
    let (ts, values) = (block.fixed::<8>("ts")?, block.fixed::<8>("value")?);
    let mut kept = 0;
    for (slot, rows) in runs {
        let numbers = &mut all[*slot];
        numbers.ts.extend(
            ts[rows.clone()]
                .iter()
                .map(|bytes| i64::from_le_bytes(*bytes)),
        );
        numbers.values.extend(
            values[rows.clone()]
                .iter()
                .map(|bytes| f64::from_le_bytes(*bytes)),
        );
        kept += rows.len();
    }
    Ok(kept)
}

fn add_points(
    all: &mut [Points],
    runs: &[Run],
    block: &Block,
    detail: Detail,
) -> Result<usize, NativeError> {
    let (ts, counts) = (block.fixed::<8>("ts")?, block.fixed::<8>("count")?);
    let (nulls, sums) = block.nullable("sum")?;
    let mut kept = 0;
    for (slot, rows) in runs {
        let points = &mut all[*slot];
        kept += rows.len() * 2;
        for at in rows.clone() {
            points.ts.push(i64::from_le_bytes(ts[at]));
            points.count.push(u64::from_le_bytes(counts[at]));
            points
                .sum
                .push((nulls[at] == 0).then(|| f64::from_le_bytes(sums[at])));
        }
        if detail >= Detail::Explicit {
            kept += lists(block, "pos", rows, |list| points.pos.push(numbers(list)))?;
        }
        if detail >= Detail::Everything {
            kept += lists(block, "neg", rows, |list| points.neg.push(numbers(list)))?;
            exponential(points, block, rows)?;
        }
    }
    Ok(kept)
}

/// Hands the rows' lists of an array column over, one by one; answers how many values there were.
fn lists(
    block: &Block,
    name: &'static str,
    rows: &std::ops::Range<usize>,
    mut take: impl FnMut(&[Word]),
) -> Result<usize, NativeError> {
    let (ends, values) = block.array(name)?;
    let end_of = |at: usize| {
        usize::try_from(u64::from_le_bytes(ends[at])).map_err(|_| NativeError::Malformed)
    };
    let mut start = match rows.start.checked_sub(1) {
        Some(before) => end_of(before)?,
        None => 0,
    };
    let mut total = 0;
    for at in rows.clone() {
        let end = end_of(at)?;
        let list = values.get(start..end).ok_or(NativeError::Malformed)?;
        total += list.len();
        take(list);
        start = end;
    }
    Ok(total)
}

fn numbers(bytes: &[Word]) -> impl Iterator<Item = u64> {
    bytes.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

fn exponential(
    points: &mut Points,
    block: &Block,
    rows: &std::ops::Range<usize>,
) -> Result<(), NativeError> {
    let rows = rows.clone();
    let scales = &block.fixed::<1>("scale")?[rows.clone()];
    points
        .scale
        .extend(scales.iter().map(|bytes| i8::from_le_bytes(*bytes)));
    let thresholds = &block.fixed::<8>("zero_threshold")?[rows.clone()];
    points
        .zero_threshold
        .extend(thresholds.iter().map(|bytes| f64::from_le_bytes(*bytes)));
    let counts = &block.fixed::<8>("zero_count")?[rows.clone()];
    points
        .zero_count
        .extend(counts.iter().map(|bytes| u64::from_le_bytes(*bytes)));
    let offsets = &block.fixed::<4>("pos_offset")?[rows.clone()];
    points
        .pos_offset
        .extend(offsets.iter().map(|bytes| i32::from_le_bytes(*bytes)));
    let offsets = &block.fixed::<4>("neg_offset")?[rows];
    points
        .neg_offset
        .extend(offsets.iter().map(|bytes| i32::from_le_bytes(*bytes)));
    Ok(())
}

#[cfg(test)]
mod tests;
