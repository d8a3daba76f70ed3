//! Whole histogram points → the series that Prometheus would have stored: classic parts or native
//! samples.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use promql::histogram::{
    Buckets, DEFAULT_ZERO_THRESHOLD, Dense, Exponential, Histogram, MAX_SCHEMA,
};
use promql::series::{Floats, Histograms, STALE_NAN};
use schemas::rows::EXPLICIT_SCALE;

use crate::fetch::columns::Points;
use crate::fetch::resolve::{INFINITY, bound_text};

const STALE: f64 = f64::from_bits(STALE_NAN);

/// Counts of points are far below 2^53 in practice; above, the nearest float is meant.
#[expect(clippy::cast_precision_loss, reason = "samples are floats")]
fn float(count: u64) -> f64 {
    count as f64
}

/// Counts up to here: at most 2⁶⁴ − 1, however absurd the counts of the sender are.
fn sum_of(total: u64, count: &u64) -> u64 {
    total.saturating_add(*count)
}

/// `…_count`.
pub(crate) fn counts(points: &Points) -> Floats {
    column(points, |at| Some(float(points.count[at])))
}

/// `…_sum`: nothing at points whose sender gave no sum.
pub(crate) fn sums(points: &Points) -> Floats {
    column(points, |at| points.sum[at])
}

/// `…_bucket` of the explicit bound at `bound`: all observations up to it; beyond the last bound, all.
pub(crate) fn bucket(points: &Points, bound: usize, bounds: usize) -> Floats {
    column(points, |at| {
        let counts = points.pos.get(at);
        let upto = if bound < bounds {
            counts.iter().take(bound + 1).fold(0, sum_of)
        } else {
            points.count[at]
        };
        Some(float(upto))
    })
}

/// One float a point where `value` has one; the stale marker where the point is one.
fn column(points: &Points, value: impl Fn(usize) -> Option<f64>) -> Floats {
    let mut floats = Floats::default();
    for (at, ts) in points.ts.iter().enumerate() {
        if let Some(value) = if points.is_stale(at) {
            Some(STALE)
        } else {
            value(at)
        } {
            floats.ts.push(*ts);
            floats.values.push(value);
        }
    }
    floats
}

/// All `…_bucket` series of an exponential histogram by `le`, as DESIGN §10 has them: the upper bounds of
/// each point's buckets at its own scale, negatives first, then the zero bucket, then positives. A point
/// says nothing about bounds that it has no bucket for, so what an instant query sees does not depend on
/// other points.
pub(crate) fn buckets(points: &Points) -> BTreeMap<String, Floats> {
    let mut bounds = Bounds::default();
    let mut all: BTreeMap<String, Floats> = BTreeMap::new();
    for (at, ts) in points.ts.iter().enumerate() {
        if points.is_stale(at) {
            // Ends every series that there is so far; those that come later start anew.
            for floats in all.values_mut() {
                floats.ts.push(*ts);
                floats.values.push(STALE);
            }
            continue;
        }
        for (le, count) in cumulative(points, at, &mut bounds) {
            let floats = all.entry(le).or_default();
            // Bounds that print alike (a zero threshold on a bucket's bound) count once, with the later.
            if floats.ts.last() == Some(ts) {
                floats.values.pop();
                floats.ts.pop();
            }
            floats.ts.push(*ts);
            floats.values.push(float(count));
        }
    }
    all
}

/// The classic buckets of one point, ascending.
fn cumulative(points: &Points, at: usize, bounds: &mut Bounds) -> Vec<(String, u64)> {
    let (scale, shape) = (points.scale(at), exponential(points, at));
    let mut total = 0;
    let mut out = Vec::new();
    let mut add = |le: f64, count: u64| {
        total = sum_of(total, &count);
        out.push((bound_text(le), total));
    };
    for (index, count) in indexed(&shape.negative).rev() {
        // Observations from `-base^(i+1)` to `-base^i`.
        add(-bounds.upper(scale, index), *count);
    }
    add(
        if points.zero_threshold[at] > 0.0 {
            points.zero_threshold[at]
        } else {
            0.0
        },
        shape.zero_count,
    );
    for (index, count) in indexed(&shape.positive) {
        add(bounds.upper(scale, index.saturating_add(1)), *count);
    }
    out.push((INFINITY.to_owned(), points.count[at]));
    out
}

/// OTLP's bucket indexes with their counts.
fn indexed<'a>(dense: &Dense<'a>) -> impl DoubleEndedIterator<Item = (i32, &'a u64)> + use<'a> {
    let offset = dense.offset;
    dense
        .counts
        .iter()
        .enumerate()
        .map(move |(position, count)| {
            let position = i32::try_from(position).unwrap_or(i32::MAX);
            (offset.saturating_add(position), count)
        })
}

/// `base^index` by scale and index, each worked out once.
#[derive(Default)]
struct Bounds(HashMap<(i32, i32), f64>);

impl Bounds {
    fn upper(&mut self, scale: i32, index: i32) -> f64 {
        *self.0.entry((scale, index)).or_insert_with(|| {
            if scale > MAX_SCHEMA {
                return f64::exp2(f64::from(index) * f64::exp2(-f64::from(scale)));
            }
            // Prometheus' own digits, which only its bucket iterator hands out.
            let one = Histogram {
                schema: scale,
                positive: Buckets::new(vec![index], vec![1.0]).unwrap_or_default(),
                ..Histogram::default()
            };
            one.buckets().next().map_or(f64::NAN, |bucket| bucket.upper)
        })
    }
}

fn exponential<'a>(points: &'a Points, at: usize) -> Exponential<'a> {
    let threshold = points.zero_threshold[at];
    Exponential {
        scale: points.scale(at),
        // The least that Prometheus' OTLP endpoint gives.
        zero_threshold: if threshold > 0.0 {
            threshold
        } else {
            DEFAULT_ZERO_THRESHOLD
        },
        zero_count: points.zero_count[at],
        positive: Dense {
            offset: points.pos_offset[at],
            counts: points.pos.get(at),
        },
        negative: Dense {
            offset: points.neg_offset[at],
            counts: points.neg.get(at),
        },
        count: points.count[at],
        sum: points.sum[at].unwrap_or(0.0),
    }
}

/// The native samples. A point that makes no valid histogram (bounds out of order, a scale below -4) has
/// no native sample; its classic parts are there.
pub(crate) fn native(points: &Points, bounds: &Arc<[f64]>) -> Histograms {
    let mut histograms = Histograms::default();
    for (at, ts) in points.ts.iter().enumerate() {
        let histogram = if points.is_stale(at) {
            Ok(Histogram::stale())
        } else if points.scale(at) == i32::from(EXPLICIT_SCALE) {
            let sum = points.sum[at].unwrap_or(0.0);
            Histogram::from_explicit(
                Arc::clone(bounds),
                points.pos.get(at),
                points.count[at],
                sum,
            )
        } else {
            Histogram::from_exponential(&exponential(points, at))
        };
        if let Ok(histogram) = histogram {
            histograms.ts.push(*ts);
            histograms.values.push(Arc::new(histogram));
        }
    }
    histograms
}

#[cfg(test)]
mod tests;
