//! A ratio becomes the angle that has it as its sine, cosine or tangent.
//!
//! The arc tangent is the method of Cephes 2.8 (`atan.c`, S. L. Moshier): a rational function up to 0.66, to which
//! greater ratios are brought by subtracting from π/4 or π/2. The others are expressed by it, as Go does.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

const ABOVE: [f64; 5] = [
    -0.875_060_860_003_190_4,
    -16.157_537_187_333_652,
    -75.008_557_923_147_05,
    -122.886_668_449_013_61,
    -64.850_219_049_420_25,
];
const BELOW: [f64; 5] = [
    24.858_464_901_423_062,
    165.027_009_831_698_85,
    432.881_060_491_290_27,
    485.390_399_635_913_7,
    194.550_657_148_261_4,
];
/// What π/2 lost in rounding to a float.
const BEYOND_PI_2: f64 = 6.123_233_995_736_766e-17;
/// The tangent of 3π/8.
const TANGENT_3_PI_8: f64 = 2.414_213_562_373_095;

/// The arc tangent; a zero is its own.
pub(crate) fn atan(ratio: f64) -> f64 {
    if ratio == 0.0 {
        ratio
    } else if ratio > 0.0 {
        positive(ratio)
    } else {
        -positive(-ratio)
    }
}

/// The arc tangent of a ratio that is not negative.
fn positive(ratio: f64) -> f64 {
    if ratio <= 0.66 {
        return small(ratio);
    }
    if ratio > TANGENT_3_PI_8 {
        return FRAC_PI_2 - small(1.0 / ratio) + BEYOND_PI_2;
    }
    FRAC_PI_4 + small((ratio - 1.0) / (ratio + 1.0)) + 0.5 * BEYOND_PI_2
}

/// The arc tangent of a ratio of magnitude at most 0.66.
fn small(ratio: f64) -> f64 {
    let square = ratio * ratio;
    let [p0, p1, p2, p3, p4] = ABOVE;
    let [q0, q1, q2, q3, q4] = BELOW;
    let above = square * ((((p0 * square + p1) * square + p2) * square + p3) * square + p4);
    let below = ((((square + q0) * square + q1) * square + q2) * square + q3) * square + q4;
    ratio * (above / below) + ratio
}

/// The arc sine; a zero is its own, and beyond one there is none.
pub(crate) fn asin(ratio: f64) -> f64 {
    if ratio == 0.0 {
        return ratio;
    }
    let size = ratio.abs();
    if size > 1.0 || ratio.is_nan() {
        return f64::NAN;
    }
    let other = (1.0 - size * size).sqrt();
    let angle = if size > 0.7 {
        FRAC_PI_2 - positive(other / size)
    } else {
        positive(size / other)
    };
    if ratio < 0.0 { -angle } else { angle }
}

/// The arc cosine.
pub(crate) fn acos(ratio: f64) -> f64 {
    FRAC_PI_2 - asin(ratio)
}

/// The angle of the point `(x, y)`, by the signs of both in all four quadrants.
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    if y.is_nan() || x.is_nan() {
        return f64::NAN;
    }
    if y == 0.0 {
        let size: f64 = if x.is_sign_positive() { 0.0 } else { PI };
        return size.copysign(y);
    }
    if x == 0.0 {
        return FRAC_PI_2.copysign(y);
    }
    if x.is_infinite() || y.is_infinite() {
        return infinite(y, x);
    }
    let angle = atan(y / x);
    if x >= 0.0 {
        angle
    } else if angle <= 0.0 {
        angle + PI
    } else {
        angle - PI
    }
}

/// The angle of a point of which one coordinate at least is infinite.
fn infinite(y: f64, x: f64) -> f64 {
    let size = match (y.is_infinite(), x.is_infinite(), x > 0.0) {
        (true, true, true) => FRAC_PI_4,
        (true, true, false) => 2.356_194_490_192_345,
        (true, false, _) => FRAC_PI_2,
        (false, _, true) => 0.0,
        (false, _, false) => PI,
    };
    size.copysign(y)
}
