//! A histogram becomes the text that Prometheus writes for it.

use std::fmt;

use super::{Bucket, Histogram};

impl fmt::Display for Histogram {
    /// `{count:…, sum:…, [-1,-0.5):…, [-0.001,0.001]:…, (0.5,1]:…}`: populated buckets from low to high.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{{count:{}, sum:{}",
            Number(self.count),
            Number(self.sum)
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
            Number(self.lower),
            Number(self.upper),
            Number(self.count)
        )
    }
}

/// A float as Go's `%g` writes it: the shortest digits that read back the same, with an exponent of at least
/// two digits below 1e-04 and from 1e+06 on.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0;
        if number.is_nan() {
            return f.write_str("NaN");
        }
        if number.is_infinite() {
            return f.write_str(if number > 0.0 { "+Inf" } else { "-Inf" });
        }
        let scientific = format!("{number:e}");
        let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
        if (-4..6).contains(&exponent) {
            return write!(f, "{number}");
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(f, "{digits}e{sign}{:02}", exponent.unsigned_abs())
    }
}
