//! A quantile is found among the buckets and interpolated within one.

use super::{Bucket, Histogram};

/// What NaN observations do to a result; each is one info annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NanNote {
    /// The quantile lies among the NaN observations ("has NaN observations, result is NaN").
    QuantileIsNan,
    /// NaN observations count as greatest ("has NaN observations, result is skewed higher").
    QuantileSkewedHigher,
    /// NaN observations are in no fraction ("which are excluded from all fractions").
    ExcludedFromFraction,
}

/// The bucket that a rank falls into.
struct Found {
    bucket: Bucket,
    /// Observations up to and with `bucket`, counted from the side where the search began.
    count: f64,
}

impl Histogram {
    /// The `q`-quantile: -Inf for `q` below 0, +Inf above 1, NaN for NaN or without observations.
    ///
    /// Within a bucket of custom bounds and the zero bucket the interpolation is linear, elsewhere
    /// exponential; a zero bucket with populated buckets on one side only ends at 0 on the other. The
    /// note is there only if NaN observations matter.
    #[must_use]
    pub fn quantile(&self, q: f64) -> (f64, Option<NanNote>) {
        if q < 0.0 {
            return (f64::NEG_INFINITY, None);
        }
        if q > 1.0 {
            return (f64::INFINITY, None);
        }
        if self.count == 0.0 || q.is_nan() {
            return (f64::NAN, None);
        }
        // NaN observations are in no bucket, so with them the rank is right only from below.
        let upwards = self.sum.is_nan() || q < 0.5;
        let rank = if upwards {
            q * self.count
        } else {
            (1.0 - q) * self.count
        };
        let mut above = self.buckets();
        let mut found = if upwards {
            find(&mut above, rank)
        } else {
            find(&mut above.by_ref().rev(), rank)
        };
        if let Some(value) = self.limit(&mut found.bucket) {
            return (value, None);
        }
        // Rounding can make the buckets add up to more than the total.
        let count = if found.count > self.count {
            self.count
        } else {
            found.count
        };
        if count < rank {
            if self.sum.is_nan() {
                return (f64::NAN, Some(NanNote::QuantileIsNan));
            }
            return (found.bucket.upper, None);
        }
        let bucket = found.bucket;
        let rank = if upwards {
            rank - (count - bucket.count)
        } else {
            count - rank
        };
        // The sum is NaN with NaN observations, but also with -Inf and +Inf; only the former are missing.
        let missing =
            self.sum.is_nan() && above.fold(count, |sum, bucket| sum + bucket.count) < self.count;
        (
            self.value_within(&bucket, rank),
            missing.then_some(NanNote::QuantileSkewedHigher),
        )
    }

    /// Sets the natural limits of the bucket a quantile fell into, or says the value if there is no
    /// interpolation in it.
    fn limit(&self, bucket: &mut Bucket) -> Option<f64> {
        if self.has_custom_bounds() {
            if bucket.lower == f64::NEG_INFINITY {
                if bucket.upper <= 0.0 {
                    return Some(bucket.upper);
                }
                bucket.lower = 0.0;
            } else if bucket.upper == f64::INFINITY {
                return Some(bucket.lower);
            }
        } else if bucket.lower < 0.0 && bucket.upper > 0.0 {
            self.limit_zero_bucket(bucket);
        }
        None
    }

    /// A zero bucket beside positive buckets only has no observations below zero, and the other way round.
    pub(super) fn limit_zero_bucket(&self, bucket: &mut Bucket) {
        match (self.negative.is_empty(), self.positive.is_empty()) {
            (true, false) => bucket.lower = 0.0,
            (false, true) => bucket.upper = 0.0,
            _ => {}
        }
    }

    /// The value of the `rank`-th observation from below in `bucket`.
    fn value_within(&self, bucket: &Bucket, rank: f64) -> f64 {
        let fraction = rank / bucket.count;
        if self.has_custom_bounds() || (bucket.lower <= 0.0 && bucket.upper >= 0.0) {
            return bucket.lower + (bucket.upper - bucket.lower) * fraction;
        }
        bucket.value_at(fraction)
    }
}

/// Goes through `buckets` until `rank` observations are reached; the last bucket if they are not.
fn find(buckets: &mut dyn Iterator<Item = Bucket>, rank: f64) -> Found {
    let mut found = Found {
        bucket: Bucket::default(),
        count: 0.0,
    };
    for bucket in buckets {
        found.bucket = bucket;
        if bucket.count == 0.0 {
            continue;
        }
        found.count += bucket.count;
        if found.count >= rank {
            break;
        }
    }
    found
}
