//! A histogram becomes the text that Prometheus writes for it.

use std::fmt;

use crate::number::general;

use super::{Bucket, Histogram};

impl fmt::Display for Histogram {
    /// `{count:…, sum:…, [-1,-0.5):…, [-0.001,0.001]:…, (0.5,1]:…}`: populated buckets from low to high.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{{count:{}, sum:{}",
            general(self.count),
            general(self.sum)
        )?;
        // Here buckets are written with their full bounds, also where the zero bucket overlaps them.
        let zero = std::iter::once(self.zero_bucket());
        let buckets = self
            .negative_buckets()
            .rev()
            .chain(zero)
            .chain(self.positive_buckets());
        for bucket in buckets.filter(|bucket| bucket.count != 0.0) {
            write!(f, ", {bucket}")?;
        }
        f.write_str("}")
    }
}

impl fmt::Display for Bucket {
    /// `(lower,upper]:count`, with `[` and `]` for inclusive bounds, `(` and `)` for exclusive ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = if self.lower_inclusive { '[' } else { '(' };
        let close = if self.upper_inclusive { ']' } else { ')' };
        write!(
            f,
            "{open}{},{}{close}:{}",
            general(self.lower),
            general(self.upper),
            general(self.count)
        )
    }
}
