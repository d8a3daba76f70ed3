//! A position within a bucket becomes a value, and a value a position.

use super::Bucket;
use crate::math::{exp2, log2};

impl Bucket {
    /// Which share of the bucket lies at or below `value`, which is inside its finite bounds: by distance if
    /// `linear`, by distance of logarithms otherwise.
    pub(super) fn fraction_below(&self, value: f64, linear: bool) -> f64 {
        if linear {
            return (value - self.lower) / (self.upper - self.lower);
        }
        let (lower, upper, at) = (
            log2(self.lower.abs()),
            log2(self.upper.abs()),
            log2(value.abs()),
        );
        if value > 0.0 {
            return (at - lower) / (upper - lower);
        }
        1.0 - (at - upper) / (lower - upper)
    }

    /// The value below which the share `fraction` of the bucket lies, by distance of logarithms; the bucket
    /// is on one side of zero.
    pub(super) fn value_at(&self, fraction: f64) -> f64 {
        let (lower, upper) = (log2(self.lower.abs()), log2(self.upper.abs()));
        if self.lower > 0.0 {
            return exp2(lower + (upper - lower) * fraction);
        }
        -exp2(upper + (lower - upper) * (1.0 - fraction))
    }
}
