//! Histograms whose custom bounds differ are brought to the bounds they share.

use std::sync::Arc;

use super::compensated::kahan;
use super::{Buckets, Histogram, HistogramError};

/// Checks that `bounds` are finite and strictly ascending (the first may be -Inf).
pub(super) fn check_bounds(bounds: &[f64]) -> Result<(), HistogramError> {
    let mut previous = f64::NEG_INFINITY;
    for (position, bound) in bounds.iter().copied().enumerate() {
        let ascends = position == 0 || bound > previous;
        if bound.is_nan() || bound == f64::INFINITY || !ascends {
            return Err(HistogramError::Bounds { previous, bound });
        }
        previous = bound;
    }
    Ok(())
}

/// The bounds that both lists have.
pub(super) fn shared_bounds(left: &[f64], right: &[f64]) -> Arc<[f64]> {
    let mut right = right.iter().copied().peekable();
    let shared = left.iter().copied().filter(|bound| {
        while right.next_if(|other| other < bound).is_some() {}
        right.next_if(|other| other == bound).is_some()
    });
    shared.collect()
}

/// The custom bucket that `bounds[index]` (the bucket up to +Inf behind the last) falls into among `shared`.
fn target(index: i32, bounds: &[f64], shared: &[f64]) -> usize {
    let upper = usize::try_from(index)
        .ok()
        .and_then(|index| bounds.get(index));
    upper.map_or(shared.len(), |upper| {
        shared.partition_point(|bound| bound < upper)
    })
}

/// Buckets of custom bounds, dense, with what rounding lost.
struct Sums {
    counts: Vec<f64>,
    remainders: Vec<f64>,
}

impl Sums {
    fn add(&mut self, at: usize, count: f64) {
        if let (Some(sum), Some(rest)) = (self.counts.get_mut(at), self.remainders.get_mut(at)) {
            (*sum, *rest) = kahan(count, *sum, *rest);
        }
    }
}

impl Histogram {
    /// Adds `sign` times `other`, both of custom bounds that differ, in the buckets between the bounds that
    /// both have. The result is compact. Returned are the rounding remainders, in the same layout;
    /// `remainders` are the ones so far.
    pub(super) fn combine_custom(
        &mut self,
        other: &Self,
        sign: f64,
        remainders: Option<&Buckets>,
    ) -> Buckets {
        let shared = shared_bounds(&self.custom_bounds, &other.custom_bounds);
        let mut sums = Sums {
            counts: vec![0.0; shared.len() + 1],
            remainders: vec![0.0; shared.len() + 1],
        };
        for (position, (index, count)) in self.positive.iter().enumerate() {
            let at = target(index, &self.custom_bounds, &shared);
            sums.add(at, count);
            if let Some(rest) = remainders.and_then(|rests| rests.counts().get(position)) {
                sums.add(at, *rest);
            }
        }
        for (index, count) in other.positive.iter() {
            sums.add(target(index, &other.custom_bounds, &shared), sign * count);
        }
        let dense = (0_i32..).zip(sums.counts.into_iter().zip(sums.remainders));
        let populated = dense.filter(|(_, (count, rest))| *count != 0.0 || *rest != 0.0);
        let (counts, rests) = populated
            .map(|(index, (count, rest))| ((index, count), (index, rest)))
            .unzip();
        self.positive = counts;
        self.custom_bounds = shared;
        rests
    }

    /// Whether, between two bounds that both histograms have, this one has fewer observations than `previous`.
    pub(super) fn fewer_between_shared_bounds(&self, previous: &Self) -> bool {
        let shared = shared_bounds(&self.custom_bounds, &previous.custom_bounds);
        let rolled_up = |histogram: &Self| {
            let mut sums = vec![0.0; shared.len() + 1];
            for (index, count) in histogram.positive.iter() {
                if let Some(sum) = sums.get_mut(target(index, &histogram.custom_bounds, &shared)) {
                    *sum += count;
                }
            }
            sums
        };
        rolled_up(self)
            .iter()
            .zip(rolled_up(previous))
            .any(|(now, before)| *now < before)
    }
}
