//! A number becomes its hyperbolic sine, cosine or tangent.
//!
//! Small arguments go through rational functions: that of the sine is number 2029 of Hart and Cheney, "Computer
//! Approximations" (1968), that of the tangent is Cody and Waite's as Cephes 2.8 (`tanh.c`) has it. Greater ones
//! are expressed by [`exp`].

use super::exp;

const SINE_ABOVE: [f64; 4] = [
    -26.305_632_133_974_97,
    -2_894.211_355_989_564,
    -89_912.720_220_395_09,
    -630_767.364_049_771_7,
];
const SINE_BELOW: [f64; 3] = [
    -173.678_953_558_233_7,
    15_215.173_787_900_19,
    -630_767.364_049_771_7,
];
const TANGENT_ABOVE: [f64; 3] = [
    -0.964_399_179_425_052_3,
    -99.287_723_100_191_85,
    -1_614.687_684_417_084_5,
];
const TANGENT_BELOW: [f64; 3] = [
    112.811_678_491_632_93,
    2_235.488_390_601_004_5,
    4_844.063_053_251_255,
];
/// Half of ln(2^127): from here on the tangent is one.
const FLAT: f64 = 44.014_845_965_556_525;
/// From here on `e^-x` does not show beside `e^x`.
const ONE_SIDED: f64 = 21.0;

/// The hyperbolic sine.
pub(crate) fn sinh(number: f64) -> f64 {
    let size = if number < 0.0 { -number } else { number };
    let value = if size > ONE_SIDED {
        exp(size) * 0.5
    } else if size > 0.5 {
        let power = exp(size);
        (power - 1.0 / power) * 0.5
    } else {
        let square = size * size;
        let [p3, p2, p1, p0] = SINE_ABOVE;
        let [q2, q1, q0] = SINE_BELOW;
        let above = (((p3 * square + p2) * square + p1) * square + p0) * size;
        above / (((square + q2) * square + q1) * square + q0)
    };
    if number < 0.0 { -value } else { value }
}

/// The hyperbolic cosine.
pub(crate) fn cosh(number: f64) -> f64 {
    let size = number.abs();
    let power = exp(size);
    if size > ONE_SIDED {
        return power * 0.5;
    }
    (power + 1.0 / power) * 0.5
}

/// The hyperbolic tangent; a zero is its own.
pub(crate) fn tanh(number: f64) -> f64 {
    let size = number.abs();
    if size > FLAT {
        return 1_f64.copysign(number);
    }
    if size >= 0.625 {
        let value = 1.0 - 2.0 / (exp(2.0 * size) + 1.0);
        return value.copysign(number);
    }
    if number == 0.0 {
        return number;
    }
    let square = number * number;
    let [p0, p1, p2] = TANGENT_ABOVE;
    let [q0, q1, q2] = TANGENT_BELOW;
    let above = (p0 * square + p1) * square + p2;
    let below = ((square + q0) * square + q1) * square + q2;
    number + number * square * above / below
}
