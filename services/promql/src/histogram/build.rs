//! OpenTelemetry and classic histograms become native ones.

use std::sync::Arc;

use super::{Buckets, CUSTOM_SCHEMA, Histogram, HistogramError, MAX_SCHEMA, MIN_SCHEMA, custom};

/// The zero threshold that Prometheus gives to exponential histograms received over OTLP, whatever they say.
pub const DEFAULT_ZERO_THRESHOLD: f64 = 1e-128;

/// Gaps of up to this many empty buckets are kept as explicit empty buckets.
const SMALL_GAP: usize = 2;

/// Neighbouring bucket counts as OTLP sends them: the first is bucket `offset`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dense<'a> {
    /// OTLP's index of the first count: index `i` there is `(base^i, base^(i+1)]`.
    pub offset: i32,
    /// Counts of neighbouring buckets.
    pub counts: &'a [u64],
}

/// One data point of an OTLP exponential histogram.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exponential<'a> {
    /// OTLP's scale; above 8 the buckets are merged down to 8.
    pub scale: i32,
    /// Half the width of the zero bucket; [`DEFAULT_ZERO_THRESHOLD`] to do as Prometheus does.
    pub zero_threshold: f64,
    /// Observations in the zero bucket.
    pub zero_count: u64,
    /// Buckets above zero.
    pub positive: Dense<'a>,
    /// Buckets below zero.
    pub negative: Dense<'a>,
    /// All observations.
    pub count: u64,
    /// Sum of the observations, 0 if the sender gave none.
    pub sum: f64,
}

impl Histogram {
    /// An OTLP histogram with explicit bounds as a native histogram with custom bounds.
    ///
    /// `bucket_counts` has at most one count more than there are bounds (the last is up to +Inf).
    ///
    /// # Errors
    /// Bounds that are not finite and ascending, or more buckets than bounds + 1.
    pub fn from_explicit(
        bounds: Arc<[f64]>,
        bucket_counts: &[u64],
        count: u64,
        sum: f64,
    ) -> Result<Self, HistogramError> {
        custom::check_bounds(&bounds)?;
        if bucket_counts.len() > bounds.len() + 1 {
            let index = i64::try_from(bucket_counts.len() - 1).unwrap_or(i64::MAX);
            return Err(HistogramError::Index {
                index,
                bounds: bounds.len(),
            });
        }
        let leading = bucket_counts
            .iter()
            .take_while(|count| **count == 0)
            .count();
        let cells = (0_i32..)
            .zip(bucket_counts.iter().copied())
            .skip(leading)
            .collect();
        Ok(Self {
            schema: CUSTOM_SCHEMA,
            count: to_float(count),
            sum,
            positive: sparse(cells),
            custom_bounds: bounds,
            ..Self::default()
        })
    }

    /// An OTLP exponential histogram as a native histogram.
    ///
    /// # Errors
    /// [`HistogramError::Schema`] for a scale below -4, [`HistogramError::Index`] for an offset that does
    /// not fit.
    pub fn from_exponential(point: &Exponential<'_>) -> Result<Self, HistogramError> {
        if point.scale < MIN_SCHEMA {
            return Err(HistogramError::Schema(point.scale));
        }
        let schema = point.scale.min(MAX_SCHEMA);
        let steps = (i64::from(point.scale) - i64::from(schema)).min(63);
        Ok(Self {
            schema,
            zero_threshold: point.zero_threshold,
            zero_count: to_float(point.zero_count),
            count: to_float(point.count),
            sum: point.sum,
            positive: sparse(merged(point.positive, steps)?),
            negative: sparse(merged(point.negative, steps)?),
            ..Self::default()
        })
    }

    /// A classic histogram as a native histogram with custom bounds, as Prometheus' scrape conversion does.
    ///
    /// `buckets` are `(le, cumulative count)` in ascending `le`; a missing +Inf bucket is taken from
    /// `count`, a missing `count` from the last bucket.
    ///
    /// # Errors
    /// Bounds that are not ascending or NaN, counts that are not cumulative, a `count` that differs from the
    /// +Inf bucket.
    pub fn from_cumulative(
        buckets: &[(f64, f64)],
        count: Option<f64>,
        sum: f64,
    ) -> Result<Self, HistogramError> {
        let count = count
            .or(buckets.last().map(|(_, count)| *count))
            .unwrap_or(0.0);
        let mut buckets = buckets.to_vec();
        if buckets.last().is_none_or(|(le, _)| *le != f64::INFINITY) {
            buckets.push((f64::INFINITY, count));
        }
        let bounds: Vec<f64> = buckets
            .iter()
            .map(|(le, _)| *le)
            .filter(|le| *le != f64::INFINITY)
            .collect();
        custom::check_bounds(&bounds)?;
        if bounds.len() + 1 != buckets.len() {
            return Err(HistogramError::Layout);
        }
        let mut counts = Vec::with_capacity(buckets.len());
        let mut below = 0.0;
        for (_, cumulative) in &buckets {
            counts.push(cumulative - below);
            below = *cumulative;
        }
        if let Some(negative) = counts.iter().find(|count| **count < 0.0) {
            return Err(HistogramError::NegativeCount(*negative));
        }
        if below != count {
            return Err(HistogramError::Layout);
        }
        let whole = buckets.iter().all(|(_, count)| count.fract() == 0.0) && count.fract() == 0.0;
        let cells: Vec<(i32, f64)> = (0_i32..).zip(counts).collect();
        Ok(Self {
            schema: CUSTOM_SCHEMA,
            count,
            sum,
            positive: keep_small_gaps(&cells, if whole { SMALL_GAP } else { 0 }),
            custom_bounds: bounds.into(),
            ..Self::default()
        })
    }
}

/// Counts are whole numbers far below 2^53 in practice; above, the nearest float is meant.
fn to_float(count: u64) -> f64 {
    count as f64
}

/// Index and count of a bucket.
type Cell = (i32, u64);

/// OTLP's dense counts with Prometheus' indexes (one higher), `2^steps` buckets merged into one.
fn merged(dense: Dense<'_>, steps: i64) -> Result<Vec<Cell>, HistogramError> {
    let mut cells: Vec<Cell> = Vec::with_capacity(dense.counts.len());
    for (at, count) in (i64::from(dense.offset)..).zip(dense.counts) {
        let index = (at >> steps) + 1;
        let index = i32::try_from(index).map_err(|_| HistogramError::Index { index, bounds: 0 })?;
        match cells.last_mut() {
            Some((last, sum)) if *last == index => *sum = sum.saturating_add(*count),
            _ => cells.push((index, *count)),
        }
    }
    Ok(cells)
}

/// The layout that Prometheus' OTLP endpoint makes of neighbouring buckets: small gaps stay explicit, also
/// before the first populated bucket, and the last bucket is explicit even if it is empty.
fn sparse(cells: Vec<Cell>) -> Buckets {
    let last = cells.len().saturating_sub(1);
    let mut buckets = Buckets::with_capacity(cells.len());
    let mut gap: Vec<i32> = Vec::with_capacity(SMALL_GAP);
    let mut empty = 0;
    for (position, (index, count)) in cells.into_iter().enumerate() {
        if count == 0 && position != last {
            empty += 1;
            gap.push(index);
            continue;
        }
        if empty <= SMALL_GAP {
            buckets.extend(gap.iter().map(|index| (*index, 0.0)));
        }
        buckets.push(index, to_float(count));
        gap.clear();
        empty = 0;
    }
    buckets
}

/// Populated buckets, and the empty ones in gaps of at most `small` between them.
fn keep_small_gaps(cells: &[(i32, f64)], small: usize) -> Buckets {
    let mut buckets = Buckets::with_capacity(cells.len());
    let mut gap: Vec<(i32, f64)> = Vec::new();
    for cell in cells {
        if cell.1 == 0.0 {
            gap.push(*cell);
            continue;
        }
        if gap.len() <= small && !buckets.is_empty() {
            buckets.extend(gap.iter().copied());
        }
        gap.clear();
        buckets.push(cell.0, cell.1);
    }
    buckets
}
