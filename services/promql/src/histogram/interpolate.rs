//! A position within a bucket becomes a value, and a value a position.

use std::f64::consts::{FRAC_1_SQRT_2, LOG2_E};

use super::Bucket;
use super::bounds::scale;

/// The greater part of ln 2, with so few digits that small multiples of it are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
/// The rest of ln 2.
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

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

/// The binary logarithm of a number that is not negative, with the rounding of Go's `math.Log2` on amd64
/// (exact for powers of two; the fraction goes through the natural logarithm).
pub(crate) fn log2(number: f64) -> f64 {
    if number == 0.0 {
        return f64::NEG_INFINITY;
    }
    if !number.is_finite() || number < 0.0 {
        return number.log2();
    }
    // A subnormal number is made normal first.
    let (number, shift) = if number < f64::MIN_POSITIVE {
        (scale(1.0, 54) * number, 54.0)
    } else {
        (number, 0.0)
    };
    let bits = number.to_bits();
    let biased = u32::try_from(bits >> 52).unwrap_or(0);
    let exponent = f64::from(biased) - 1022.0 - shift;
    let fraction = f64::from_bits((bits & ((1 << 52) - 1)) | (1022 << 52));
    if fraction == 0.5 {
        return exponent - 1.0;
    }
    ln_of_fraction(fraction) * LOG2_E + exponent
}

/// The natural logarithm of a number in `[0.5, 1)`, by the method of FreeBSD's `e_log.c`: a polynomial in
/// `s² = ((x - 1) / (x + 1))²`.
fn ln_of_fraction(fraction: f64) -> f64 {
    let (mantissa, power) = if fraction < FRAC_1_SQRT_2 {
        (fraction * 2.0, -1.0)
    } else {
        (fraction, 0.0)
    };
    let f = mantissa - 1.0;
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let odd = s2
        * (0.666_666_666_666_673_5
            + s4 * (0.285_714_287_436_623_9
                + s4 * (0.181_835_721_616_180_5 + s4 * 0.147_981_986_051_165_86)));
    let even = s4
        * (0.399_999_999_994_094_2
            + s4 * (0.222_221_984_321_497_84 + s4 * 0.153_138_376_992_093_73));
    let half_square = 0.5 * f * f;
    let small = s * (half_square + (odd + even)) + power * LN_2_LOW;
    power * LN_2_HIGH - ((half_square - small) - f)
}

/// Two to the `power`, with the rounding of Go's `math.Exp2` on amd64 (FreeBSD's `e_exp.c` after a
/// reduction to the nearest integer).
pub(crate) fn exp2(power: f64) -> f64 {
    if power.is_nan() || power == f64::INFINITY {
        return power;
    }
    if power > 1023.9999999999999 {
        return f64::INFINITY;
    }
    if power < -1.074e3 {
        return 0.0;
    }
    let whole = if power > 0.0 {
        (power + 0.5).trunc()
    } else {
        (power - 0.5).trunc()
    };
    let rest = power - whole;
    let (high, low) = (rest * LN_2_HIGH, -rest * LN_2_LOW);
    let r = high - low;
    let t = r * r;
    let c = r - t
        * (0.166_666_666_666_666_66
            + t * (-0.002_777_777_777_701_559_3
                + t * (6.613_756_321_437_934e-05
                    + t * (-1.653_390_220_546_525_2e-06 + t * 4.138_136_797_057_238_5e-08))));
    let mantissa = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole is an integer between -1074 and 1024"
    )]
    let exponent = whole as i64;
    scale(mantissa, exponent)
}
