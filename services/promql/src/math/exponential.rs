//! A power of e or of two becomes its value.
//!
//! [`exp`] is the method of SLEEF (N. Shibata, "Efficient evaluation methods of elementary functions suitable
//! for SIMD computation", 2010) with fused operations, which Go's assembly for amd64 uses; [`exp2`] that
//! of FreeBSD's `e_exp.c` without them.

use std::f64::consts::LOG2_E;

use super::binary::{BIAS, ldexp, power_of_two};
use super::{LN_2_HIGH, LN_2_LOW};

/// The greatest argument that is looked at.
const GREATEST: f64 = 709.782_712_893_384;
/// The upper half of ln 2, split for this method.
const LN_2_UPPER: f64 = 0.693_147_180_559_663;
/// The rest of it.
const LN_2_LOWER: f64 = 2.823_529_056_303_157_7e-13;
/// `1/n!` from n = 8 down to 1.
const TAYLOR: [f64; 8] = [
    2.480_158_730_158_73e-5,
    1.984_126_984_126_984e-4,
    1.388_888_888_888_889e-3,
    8.333_333_333_333_333e-3,
    0.041_666_666_666_666_664,
    0.166_666_666_666_666_66,
    0.5,
    1.0,
];

/// `e^power`.
pub(crate) fn exp(power: f64) -> f64 {
    if power.is_nan() || power == f64::INFINITY {
        return power;
    }
    if power > GREATEST {
        return f64::INFINITY;
    }
    // e^power = 2^whole · e^rest, and e^rest = (e^(rest/16))^16.
    let whole = (power * LOG2_E).round_ties_even();
    if whole < -1075.0 {
        return 0.0;
    }
    let rest = whole.mul_add(-LN_2_LOWER, whole.mul_add(-LN_2_UPPER, power)) * 0.0625;
    let [first, others @ ..] = TAYLOR;
    let series = others
        .iter()
        .fold(first, |sum, term| sum.mul_add(rest, *term));
    // Of 1 + y the part y alone is squared, which loses fewer digits: (1 + y)² - 1 = y(y + 2).
    let mut above_one = rest * series;
    for _ in 0..3 {
        above_one *= above_one + 2.0;
    }
    let mantissa = above_one.mul_add(above_one + 2.0, 1.0);
    scaled(mantissa, integer(whole))
}

/// `mantissa · 2^power`; infinite from power 1024 on, also where the mantissa is below one.
fn scaled(mantissa: f64, power: i64) -> f64 {
    if power > BIAS {
        f64::INFINITY
    } else if power > -BIAS {
        mantissa * power_of_two(power)
    } else {
        mantissa * power_of_two(power + BIAS - 1) * power_of_two(1 - BIAS)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "an integer between -1075 and 1024"
)]
fn integer(whole: f64) -> i64 {
    whole as i64
}

/// `2^power`.
pub(crate) fn exp2(power: f64) -> f64 {
    if power.is_nan() {
        return power;
    }
    if power > 1_023.999_999_999_999_9 {
        return f64::INFINITY;
    }
    if power < -1074.0 {
        return 0.0;
    }
    let whole = if power > 0.0 {
        (power + 0.5).trunc()
    } else {
        (power - 0.5).trunc()
    };
    let rest = power - whole;
    of_difference(rest * LN_2_HIGH, -rest * LN_2_LOW, integer(whole))
}

/// `e^(high - low) · 2^power`, for a difference of at most half of ln 2.
fn of_difference(high: f64, low: f64, power: i64) -> f64 {
    let r = high - low;
    let t = r * r;
    let c = r - t
        * (0.166_666_666_666_666_66
            + t * (-0.002_777_777_777_701_559_3
                + t * (6.613_756_321_437_934e-5
                    + t * (-1.653_390_220_546_525_2e-6 + t * 4.138_136_797_057_238_5e-8))));
    let mantissa = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
    ldexp(mantissa, power)
}
