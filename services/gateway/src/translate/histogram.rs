//! Turns histogram points with explicit bounds into histogram rows, one row a point.

use std::borrow::Cow;
use std::cmp::Ordering;

use bumpalo::Bump;
use schemas::rows::{EXPLICIT_SCALE, SeriesKind};

use super::Refusal;
use super::labels::Labels;
use super::push::{Place, Push, has_no_recorded_value};
use super::reject::{Reason, Warning};
use super::rows::{STALE_BITS, Shape, Slot, outranks};
use super::time::start_of;
use crate::batch::Histogram;
use crate::decode::message::HistogramDataPoint;

/// Adds the row of one point; returns how many label values were cut.
pub(super) fn add(
    push: &mut Push<'_>,
    place: &Place<'_>,
    point: &HistogramDataPoint<'_>,
    scratch: &Bump,
) -> Result<u64, Refusal> {
    let ts = push.window.admit(point.time_unix_nano)?;
    let stale = has_no_recorded_value(point.flags);
    let Buckets { bounds, counts } = buckets_of(point, stale)?;
    let mut labels = Labels::new();
    let cut = push.labels(&mut labels, place, point.attributes, scratch)?;
    let shape = Shape {
        kind: SeriesKind::ExplicitHistogram,
        bounds: &bounds,
    };
    let (id, slot) = push.slot(place, shape, &labels, ts)?;
    let row = Histogram {
        name: place.family.index,
        id,
        ts,
        start_ts: start_of(point.start_time_unix_nano, ts),
        count: if stale { 0 } else { point.count },
        sum: if stale {
            Some(f64::from_bits(STALE_BITS))
        } else {
            point.sum
        },
        min: point.min.filter(|_| !stale),
        max: point.max.filter(|_| !stale),
        scale: EXPLICIT_SCALE,
        zero_threshold: 0.0,
        zero_count: 0,
        pos_offset: 0,
        pos: counts,
        neg_offset: 0,
        neg: Vec::new(),
    };
    if !row.pos.is_empty() && total(&row.pos) != u128::from(row.count) {
        push.warn(Warning::CountDiffers, place.family, || {
            format!("count {}, buckets hold {}", row.count, total(&row.pos))
        });
    }
    match slot {
        Slot::Fresh => push.rows.histograms.push(row),
        Slot::Taken(at) => {
            let held = &mut push.rows.histograms[at];
            if order(&row, held).is_gt() {
                *held = row;
            }
        }
    }
    Ok(cut)
}

/// Bounds and counts of a point.
#[derive(Debug, PartialEq)]
struct Buckets<'p> {
    bounds: Cow<'p, [f64]>,
    counts: Vec<u64>,
}

/// The bounds without +Inf and the counts that go with them, one more than bounds; both empty for a
/// histogram without buckets. A point that only ends its series has bounds but no counts.
fn buckets_of<'p>(point: &HistogramDataPoint<'p>, stale: bool) -> Result<Buckets<'p>, Refusal> {
    let mut bounds = point.explicit_bounds;
    let mut counts = point.bucket_counts.to_vec();
    // Some exporters list +Inf, with or without a count for the nothing above it.
    if let [finite @ .., last] = bounds
        && *last == f64::INFINITY
    {
        bounds = finite;
        if counts.len() == bounds.len() + 2 {
            let above = counts.pop().unwrap_or_default();
            if let Some(last) = counts.last_mut() {
                *last = last.saturating_add(above);
            }
        }
    }
    let increasing = bounds.is_sorted_by(|low, high| low < high);
    if !increasing || bounds.iter().any(|bound| !bound.is_finite()) {
        return Err(Refusal::new(
            Reason::InvalidBounds,
            "explicitBounds are not finite and strictly increasing",
        ));
    }
    // -0 and 0 are the same bound and must make the same series.
    let minus_zero = (-0.0_f64).to_bits();
    let bounds: Cow<'p, [f64]> = if bounds.iter().any(|bound| bound.to_bits() == minus_zero) {
        bounds.iter().map(|bound| bound + 0.0).collect()
    } else {
        bounds.into()
    };
    if stale || (bounds.is_empty() && counts.len() <= 1) {
        return Ok(Buckets {
            bounds,
            counts: Vec::new(),
        });
    }
    if counts.len() != bounds.len() + 1 {
        return Err(Refusal::new(
            Reason::BucketMismatch,
            format!("{} bucketCounts for {} bounds", counts.len(), bounds.len()),
        ));
    }
    if u64::try_from(total(&counts)).is_err() {
        return Err(Refusal::new(
            Reason::BucketMismatch,
            "bucketCounts add up to more than 64 bits hold",
        ));
    }
    Ok(Buckets { bounds, counts })
}

fn total(counts: &[u64]) -> u128 {
    counts.iter().map(|count| u128::from(*count)).sum()
}

/// Orders points of the same series and time: one that counts more wins, the stale marker loses.
fn order(a: &Histogram, b: &Histogram) -> Ordering {
    let stale = |row: &Histogram| row.sum.is_some_and(|sum| sum.to_bits() == STALE_BITS);
    let optional = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => outranks(a, b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    };
    stale(b)
        .cmp(&stale(a))
        .then(a.count.cmp(&b.count))
        .then_with(|| optional(a.sum, b.sum))
        .then_with(|| a.pos.cmp(&b.pos))
        .then_with(|| a.start_ts.cmp(&b.start_ts))
        .then_with(|| optional(a.min, b.min))
        .then_with(|| optional(a.max, b.max))
}
