//! A histogram of a fine exponential schema becomes one of a coarser schema.

use super::compensated::kahan;
use super::{Buckets, Histogram};

impl Histogram {
    /// The same histogram at the exponential `schema`, which is not finer than its own; a copy if `schema`
    /// is its own, if it is finer, or if either is about custom bounds. The copy at another schema has an
    /// unknown reset hint.
    #[must_use]
    pub fn at_schema(&self, schema: i32) -> Self {
        let mut copy = self.clone();
        if copy.reduce_resolution(schema) {
            copy.reset_hint = super::ResetHint::Unknown;
        }
        copy
    }

    /// Merges buckets down to the exponential `schema`. Says whether anything had to be done: not so if
    /// `schema` is not coarser than the histogram's own, or if either is about custom bounds.
    pub fn reduce_resolution(&mut self, schema: i32) -> bool {
        if self.has_custom_bounds() || schema >= self.schema || schema < super::MIN_SCHEMA {
            return false;
        }
        self.positive = coarser(&self.positive, self.schema, schema);
        self.negative = coarser(&self.negative, self.schema, schema);
        self.schema = schema;
        true
    }
}

/// The index at schema `to` of the bucket that holds bucket `index` of the finer schema `from`.
pub(super) fn target_index(index: i32, from: i32, to: i32) -> i32 {
    let steps = from.saturating_sub(to).clamp(0, 31);
    (index.saturating_sub(1) >> steps).saturating_add(1)
}

/// Buckets of schema `from` merged down to schema `to`; counts are added in ascending order.
pub(super) fn coarser(buckets: &Buckets, from: i32, to: i32) -> Buckets {
    let mut merged = Buckets::with_capacity(buckets.len());
    for (index, count) in buckets.iter() {
        merged.accumulate(target_index(index, from, to), count);
    }
    merged
}

/// As [`coarser`], with `remainders` (of the same layout) that compensate for rounding.
pub(super) fn coarser_compensated(
    buckets: &Buckets,
    remainders: &Buckets,
    from: i32,
    to: i32,
) -> (Buckets, Buckets) {
    let (mut merged, mut rests) = (
        Buckets::with_capacity(buckets.len()),
        Buckets::with_capacity(buckets.len()),
    );
    for ((index, count), (_, remainder)) in buckets.iter().zip(remainders.iter()) {
        let index = target_index(index, from, to);
        if merged.indexes().last() != Some(&index) {
            merged.push(index, count);
            rests.push(index, remainder);
        } else if let (Some(sum), Some(rest)) = (
            merged.counts_mut().last_mut(),
            rests.counts_mut().last_mut(),
        ) {
            (*sum, *rest) = kahan(count, *sum, *rest);
            (*sum, *rest) = kahan(remainder, *sum, *rest);
        }
    }
    (merged, rests)
}
