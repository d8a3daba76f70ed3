//! Two samples of a counter tell whether it was reset between them.

use super::arith::at_coarser_schema;
use super::buckets::{Side, union};
use super::zero::first_above;
use super::{Buckets, Histogram, ResetHint};

impl Histogram {
    /// Whether the counter was reset between `previous` and this sample: the hint says so, or it says
    /// nothing and some count (total, zero bucket or any bucket, compared at this sample's resolution) has
    /// gone down, or the resolution has become finer. The sum is not looked at.
    #[must_use]
    pub fn detect_reset(&self, previous: &Self) -> bool {
        match self.reset_hint {
            ResetHint::Reset => return true,
            ResetHint::NotReset => return false,
            // Gauges are treated as counters if they are asked.
            ResetHint::Unknown | ResetHint::Gauge => {}
        }
        if self.count < previous.count {
            return true;
        }
        if self.has_custom_bounds() {
            if !previous.has_custom_bounds() {
                return true;
            }
            if self.bounds_differ(previous) {
                return self.fewer_between_shared_bounds(previous);
            }
        }
        if self.schema > previous.schema || self.zero_threshold < previous.zero_threshold {
            return true;
        }
        let widened = previous.wider_zero(self.zero_threshold, None);
        if widened.threshold != self.zero_threshold || self.zero_count < widened.count {
            return true;
        }
        let fewer = |now: &Buckets, before: &Buckets| {
            let before = at_coarser_schema(before, previous.schema, self.schema);
            let from = |buckets| match self.zero_threshold {
                0.0 => 0,
                threshold => first_above(buckets, self.schema, threshold),
            };
            any_fewer(now, from(now), &before, from(&before))
        };
        fewer(&self.positive, &previous.positive) || fewer(&self.negative, &previous.negative)
    }
}

/// Whether a bucket of `before` had more observations than it has `now`; both are looked at from a position on.
fn any_fewer(now: &Buckets, now_from: usize, before: &Buckets, before_from: usize) -> bool {
    let (now_indexes, before_indexes) =
        (&now.indexes()[now_from..], &before.indexes()[before_from..]);
    let (now, before) = (&now.counts()[now_from..], &before.counts()[before_from..]);
    if now_indexes == before_indexes {
        return now.iter().zip(before).any(|(now, before)| now < before);
    }
    union(now_indexes, before_indexes).any(|(_, side)| match side {
        Side::Left(_) => false,
        Side::Right(at) => before[at] != 0.0,
        Side::Both(at, previous) => now[at] < before[previous],
    })
}
