//! A histogram becomes one number: mean, variance, standard deviation.

use crate::kahan::Sum;

use super::Histogram;

impl Histogram {
    /// The mean of the observations, for `histogram_avg`; NaN without any.
    #[must_use]
    pub fn avg(&self) -> f64 {
        self.sum / self.count
    }

    /// The estimated variance of the observations, for `histogram_stdvar`: each is taken to be in the middle of
    /// its bucket (the arithmetic middle with custom bounds, zero in the zero bucket, the geometric middle
    /// elsewhere).
    #[must_use]
    pub fn stdvar(&self) -> f64 {
        let mean = self.avg();
        let mut squares = Sum::default();
        for bucket in self.buckets().filter(|bucket| bucket.count != 0.0) {
            let middle = if self.has_custom_bounds() {
                (bucket.upper + bucket.lower) / 2.0
            } else if bucket.lower <= 0.0 && bucket.upper >= 0.0 {
                0.0
            } else {
                let middle = (bucket.upper * bucket.lower).sqrt();
                if bucket.upper < 0.0 { -middle } else { middle }
            };
            let distance = middle - mean;
            squares = squares.plus(bucket.count * distance * distance);
        }
        squares.total() / self.count
    }

    /// The estimated standard deviation, for `histogram_stddev`.
    #[must_use]
    pub fn stddev(&self) -> f64 {
        self.stdvar().sqrt()
    }
}
