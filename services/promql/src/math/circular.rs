//! An angle in radians becomes its sine, cosine or tangent.
//!
//! The methods are those of Cephes 2.8 (`sin.c`, `tan.c`, S. L. Moshier): in `[-π/4, π/4]` polynomials for sine
//! and cosine and a rational function for the tangent; the octant says which of them, and the sign.

use super::reduction::octant;

const SINE: [f64; 6] = [
    1.589_623_015_765_465_6e-10,
    -2.505_074_776_285_780_7e-8,
    2.755_731_362_138_572_2e-6,
    -1.984_126_982_958_954e-4,
    8.333_333_333_322_118e-3,
    -0.166_666_666_666_666_3,
];
const COSINE: [f64; 6] = [
    -1.135_853_652_138_768_2e-11,
    2.087_570_084_197_473e-9,
    -2.755_731_417_929_674e-7,
    2.480_158_728_885_170_4e-5,
    -1.388_888_888_887_305_6e-3,
    0.041_666_666_666_666_595,
];
const TANGENT_ABOVE: [f64; 3] = [
    -13_093.693_918_138_379,
    1.153_516_648_385_874_2e6,
    -1.795_652_519_764_848_8e7,
];
const TANGENT_BELOW: [f64; 4] = [
    13_681.296_347_069_296,
    -1.320_892_344_402_109_7e6,
    2.500_838_018_233_579e7,
    -5.386_957_559_294_546_4e7,
];

/// The sine; a zero is its own.
pub(crate) fn sin(angle: f64) -> f64 {
    if angle == 0.0 {
        return angle;
    }
    if !angle.is_finite() {
        return f64::NAN;
    }
    let (octant, rest) = octant(angle.abs());
    let (swapped, negative) = (octant % 4 == 2, octant > 3);
    let value = if swapped { cosine(rest) } else { sine(rest) };
    signed(value, negative != (angle < 0.0))
}

/// The cosine.
pub(crate) fn cos(angle: f64) -> f64 {
    if !angle.is_finite() {
        return f64::NAN;
    }
    let (octant, rest) = octant(angle.abs());
    let (swapped, negative) = (octant % 4 == 2, octant == 2 || octant == 4);
    let value = if swapped { sine(rest) } else { cosine(rest) };
    signed(value, negative)
}

/// The tangent; a zero is its own.
pub(crate) fn tan(angle: f64) -> f64 {
    if angle == 0.0 {
        return angle;
    }
    if !angle.is_finite() {
        return f64::NAN;
    }
    let (octant, rest) = octant(angle.abs());
    let square = rest * rest;
    let mut value = rest;
    if square > 1e-14 {
        let [p0, p1, p2] = TANGENT_ABOVE;
        let [q1, q2, q3, q4] = TANGENT_BELOW;
        let above = square * ((p0 * square + p1) * square + p2);
        let below = (((square + q1) * square + q2) * square + q3) * square + q4;
        value = rest + rest * (above / below);
    }
    if octant % 4 == 2 {
        value = -1.0 / value;
    }
    signed(value, angle < 0.0)
}

fn signed(value: f64, negative: bool) -> f64 {
    if negative { -value } else { value }
}

/// The sine of an angle in `[-π/4, π/4]`.
fn sine(angle: f64) -> f64 {
    let square = angle * angle;
    angle + angle * square * polynomial(&SINE, square)
}

/// The cosine of an angle in `[-π/4, π/4]`.
fn cosine(angle: f64) -> f64 {
    let square = angle * angle;
    1.0 - 0.5 * square + square * square * polynomial(&COSINE, square)
}

/// The polynomial with these coefficients, the one of the highest power first.
fn polynomial(coefficients: &[f64; 6], at: f64) -> f64 {
    let [first, others @ ..] = coefficients;
    others.iter().fold(*first, |sum, next| sum * at + next)
}
