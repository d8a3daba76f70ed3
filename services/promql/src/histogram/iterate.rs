//! A histogram is read bucket by bucket, from the lowest to the highest.

use super::{CUSTOM_SCHEMA, Histogram, bounds};

/// One bucket with its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bucket {
    /// Lower bound, -Inf for the first bucket of custom bounds.
    pub lower: f64,
    /// Upper bound, +Inf for the last bucket of custom bounds.
    pub upper: f64,
    /// Whether an observation equal to `lower` is in this bucket.
    pub lower_inclusive: bool,
    /// Whether an observation equal to `upper` is in this bucket.
    pub upper_inclusive: bool,
    /// Observations.
    pub count: f64,
}

impl Bucket {
    /// The HTTP API's number for which bounds are inclusive: 0 upper, 1 lower, 2 neither, 3 both.
    #[must_use]
    pub fn boundaries(&self) -> u8 {
        match (self.lower_inclusive, self.upper_inclusive) {
            (false, true) => 0,
            (true, false) => 1,
            (false, false) => 2,
            (true, true) => 3,
        }
    }
}

impl Histogram {
    /// All explicit buckets and a populated zero bucket, from the lowest to the highest; reverse it to go
    /// down. Where the zero bucket overlaps the innermost buckets, these are cut at the zero threshold. The
    /// HTTP API shows those with a count other than 0.
    pub fn buckets(&self) -> impl DoubleEndedIterator<Item = Bucket> + '_ {
        let zero = (self.zero_count > 0.0).then(|| self.zero_bucket());
        let below = self.negative_buckets().rev();
        below
            .chain(zero)
            .chain(self.positive_buckets())
            .map(|bucket| self.cut_at_zero_threshold(bucket))
    }

    /// The bucket around zero, whatever its count.
    #[must_use]
    pub fn zero_bucket(&self) -> Bucket {
        Bucket {
            lower: -self.zero_threshold,
            upper: self.zero_threshold,
            lower_inclusive: true,
            upper_inclusive: true,
            count: self.zero_count,
        }
    }

    /// The explicit positive buckets (all buckets with custom bounds), ascending, uncut.
    pub(super) fn positive_buckets(&self) -> impl DoubleEndedIterator<Item = Bucket> + '_ {
        self.positive.iter().map(|(index, count)| {
            let (lower, upper) = (self.bound(index.saturating_sub(1)), self.bound(index));
            self.bucket(index, (lower, upper), count)
        })
    }

    /// The explicit negative buckets, downwards from zero, uncut.
    pub(super) fn negative_buckets(&self) -> impl DoubleEndedIterator<Item = Bucket> + '_ {
        self.negative.iter().map(|(index, count)| {
            let (lower, upper) = (-self.bound(index), -self.bound(index.saturating_sub(1)));
            self.bucket(index, (lower, upper), count)
        })
    }

    fn bucket(&self, index: i32, (lower, upper): (f64, f64), count: f64) -> Bucket {
        let (lower_inclusive, upper_inclusive) = match self.schema {
            CUSTOM_SCHEMA => (index == 0, true),
            _ => (lower < 0.0, upper > 0.0),
        };
        Bucket {
            lower,
            upper,
            lower_inclusive,
            upper_inclusive,
            count,
        }
    }

    /// The upper bound of the positive bucket `index`.
    fn bound(&self, index: i32) -> f64 {
        if self.schema != CUSTOM_SCHEMA {
            return bounds::exponential(index, self.schema);
        }
        match usize::try_from(index) {
            Ok(index) => self
                .custom_bounds
                .get(index)
                .copied()
                .unwrap_or(f64::INFINITY),
            Err(_) => f64::NEG_INFINITY,
        }
    }

    fn cut_at_zero_threshold(&self, mut bucket: Bucket) -> Bucket {
        if bucket.upper < 0.0 && bucket.upper > -self.zero_threshold {
            bucket.upper = -self.zero_threshold;
        } else if bucket.lower > 0.0 && bucket.lower < self.zero_threshold {
            bucket.lower = self.zero_threshold;
        }
        bucket
    }
}
