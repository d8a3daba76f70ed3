//! Two histograms with zero buckets of different width get one width.

use super::compensated::kahan;
use super::{Buckets, Histogram, bounds};

/// What the zero bucket would hold if it were wider.
pub(super) struct WiderZero {
    pub(super) count: f64,
    /// What rounding has lost from `count`.
    pub(super) remainder: f64,
    /// The width asked for, or more where that would have cut a populated bucket.
    pub(super) threshold: f64,
}

impl Histogram {
    /// The zero bucket widened to at least `threshold`, which is not below its own; `remainders` are the
    /// rounding remainders of this histogram, in the same layout.
    pub(super) fn wider_zero(&self, threshold: f64, remainders: Option<&Self>) -> WiderZero {
        let own = remainders.map_or(0.0, |remainders| remainders.zero_count);
        let mut wider = WiderZero {
            count: self.zero_count,
            remainder: own,
            threshold,
        };
        if threshold == self.zero_threshold {
            return wider;
        }
        loop {
            wider.count = self.zero_count;
            self.absorb(
                &mut wider,
                &self.positive,
                remainders.map(|rest| &rest.positive),
            );
            // A threshold moved by a negative bucket makes the look at the positive ones stale.
            if !self.absorb(
                &mut wider,
                &self.negative,
                remainders.map(|rest| &rest.negative),
            ) {
                return wider;
            }
        }
    }

    /// Takes the buckets below the threshold into `wider`; a populated bucket that the threshold cuts is
    /// taken whole and moves the threshold to its end. Says whether it did.
    fn absorb(
        &self,
        wider: &mut WiderZero,
        buckets: &Buckets,
        remainders: Option<&Buckets>,
    ) -> bool {
        for (position, (index, count)) in buckets.iter().enumerate() {
            if bounds::exponential(index.saturating_sub(1), self.schema) >= wider.threshold {
                break;
            }
            (wider.count, wider.remainder) = kahan(count, wider.count, wider.remainder);
            if let Some(rest) = remainders.and_then(|rests| rests.counts().get(position)) {
                (wider.count, wider.remainder) = kahan(*rest, wider.count, wider.remainder);
            }
            let upper = bounds::exponential(index, self.schema);
            if upper > wider.threshold {
                if count != 0.0 {
                    wider.threshold = upper;
                }
                return count != 0.0;
            }
        }
        false
    }

    /// Widens this histogram's zero bucket until it equals what `other`'s would be, with no populated bucket
    /// of either cut. `other` stays as it is; its zero count at that width comes back, with what rounding
    /// lost from it.
    pub(super) fn reconcile_zero(
        &mut self,
        other: &Self,
        mut remainders: Option<&mut Self>,
    ) -> (f64, f64) {
        let mut theirs = WiderZero {
            count: other.zero_count,
            remainder: 0.0,
            threshold: other.zero_threshold,
        };
        // A NaN threshold is equal to none: nothing can be reconciled with it.
        let comparable = !self.zero_threshold.is_nan() && !theirs.threshold.is_nan();
        while comparable && self.zero_threshold != theirs.threshold {
            if self.zero_threshold > theirs.threshold {
                theirs = other.wider_zero(self.zero_threshold, None);
            }
            if theirs.threshold > self.zero_threshold {
                let mine = self.wider_zero(theirs.threshold, remainders.as_deref());
                self.zero_count = mine.count;
                self.zero_threshold = mine.threshold;
                if let Some(remainders) = remainders.as_deref_mut() {
                    remainders.zero_count = mine.remainder;
                }
                self.drop_below_zero_threshold(remainders.as_deref_mut());
            }
        }
        (theirs.count, theirs.remainder)
    }

    /// Removes the buckets that the zero bucket has absorbed.
    fn drop_below_zero_threshold(&mut self, remainders: Option<&mut Self>) {
        let (schema, threshold) = (self.schema, self.zero_threshold);
        let absorbed = |buckets: &Buckets| {
            buckets.indexes().partition_point(|index| {
                bounds::exponential(index.saturating_sub(1), schema) < threshold
            })
        };
        let (positive, negative) = (absorbed(&self.positive), absorbed(&self.negative));
        clear_first(&mut self.positive, positive);
        clear_first(&mut self.negative, negative);
        match remainders {
            None => self.compact(),
            Some(rests) => {
                clear_first(&mut rests.positive, positive);
                clear_first(&mut rests.negative, negative);
                self.positive.compact_with(&mut rests.positive);
                self.negative.compact_with(&mut rests.negative);
            }
        }
    }
}

fn clear_first(buckets: &mut Buckets, count: usize) {
    buckets
        .counts_mut()
        .iter_mut()
        .take(count)
        .for_each(|cleared| *cleared = 0.0);
}

/// The position of the first bucket that ends above `threshold`: what lies before belongs to the zero
/// bucket. Always the first with custom bounds.
pub(super) fn first_above(buckets: &Buckets, schema: i32, threshold: f64) -> usize {
    if schema == super::CUSTOM_SCHEMA {
        return 0;
    }
    buckets
        .indexes()
        .partition_point(|index| bounds::exponential(*index, schema) <= threshold)
}
