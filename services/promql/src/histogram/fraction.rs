//! A range of values becomes the share of observations in it.

use super::{Bucket, Histogram, NanNote};

/// The search for the rank of one end of the range.
struct End {
    value: f64,
    rank: Option<f64>,
}

impl Histogram {
    /// The share of observations between `lower` and `upper` (-Inf and +Inf for no limit): NaN without
    /// observations or for NaN limits, 0 if `lower` is not below `upper`. Interpolates as
    /// [`Self::quantile`] does. NaN observations count in the whole, but in no range; the note says so.
    #[must_use]
    pub fn fraction(&self, lower: f64, upper: f64) -> (f64, Option<NanNote>) {
        if self.count == 0.0 || lower.is_nan() || upper.is_nan() {
            return (f64::NAN, None);
        }
        if lower >= upper {
            return (0.0, None);
        }
        let mut ends = [
            End {
                value: lower,
                rank: None,
            },
            End {
                value: upper,
                rank: None,
            },
        ];
        let (mut counted, mut rank) = (0.0, 0.0);
        let mut buckets = self.buckets();
        for mut bucket in buckets.by_ref() {
            counted += bucket.count;
            let around_zero = bucket.lower <= 0.0 && bucket.upper >= 0.0;
            if around_zero {
                self.limit_zero_bucket(&mut bucket);
            }
            let linear = self.has_custom_bounds() || around_zero;
            for end in &mut ends {
                end.look(&bucket, rank, linear);
            }
            if ends.iter().all(|end| end.rank.is_some()) {
                break;
            }
            rank += bucket.count;
        }
        let mut note = None;
        let mut total = self.count;
        if self.sum.is_nan() {
            total = buckets.fold(counted, |sum, bucket| sum + bucket.count);
            note = (total < self.count).then_some(NanNote::ExcludedFromFraction);
        }
        let [lower, upper] = ends.map(|end| match end.rank {
            None => total,
            Some(rank) if rank > total => total,
            Some(rank) => rank,
        });
        ((upper - lower) / self.count, note)
    }
}

impl End {
    /// Takes the rank if the end lies at the lower bound of `bucket` or inside; `rank` observations are below
    /// the bucket.
    fn look(&mut self, bucket: &Bucket, rank: f64, linear: bool) {
        if self.rank.is_some() {
            return;
        }
        if bucket.lower >= self.value {
            self.rank = Some(rank);
        } else if bucket.lower < self.value && bucket.upper > self.value {
            // Nothing can be said about the inside of a bucket that is open below: all of it is counted.
            let open_below = linear && bucket.lower == f64::NEG_INFINITY;
            let inside = || rank + bucket.count * bucket.fraction_below(self.value, linear);
            self.rank = Some(if open_below { bucket.count } else { inside() });
        }
    }
}
