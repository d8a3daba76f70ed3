//! A number becomes the one whose hyperbolic sine, cosine or tangent it is.
//!
//! The methods are those of FreeBSD's `s_asinh.c`, `e_acosh.c` and `e_atanh.c`: logarithms, each form where it
//! loses the fewest digits.

use std::f64::consts::LN_2;

use super::ln;
use super::logarithm::ln_1p;

/// `2^28`: from here on `√(x² ± 1)` is x.
const GREAT: f64 = 268_435_456.0;

/// The inverse hyperbolic sine.
pub(crate) fn asinh(number: f64) -> f64 {
    if !number.is_finite() {
        return number;
    }
    let size = if number < 0.0 { -number } else { number };
    let value = if size > GREAT {
        ln(size) + LN_2
    } else if size > 2.0 {
        ln(2.0 * size + 1.0 / ((size * size + 1.0).sqrt() + size))
    } else if size < 1.0 / GREAT {
        size
    } else {
        let square = size * size;
        ln_1p(size + square / (1.0 + (1.0 + square).sqrt()))
    };
    if number < 0.0 { -value } else { value }
}

/// The inverse hyperbolic cosine; below one there is none.
pub(crate) fn acosh(number: f64) -> f64 {
    if number < 1.0 || number.is_nan() {
        return f64::NAN;
    }
    if number == 1.0 {
        return 0.0;
    }
    if number >= GREAT {
        return ln(number) + LN_2;
    }
    if number > 2.0 {
        return ln(2.0 * number - 1.0 / (number + (number * number - 1.0).sqrt()));
    }
    let above_one = number - 1.0;
    ln_1p(above_one + (2.0 * above_one + above_one * above_one).sqrt())
}

/// The inverse hyperbolic tangent, infinite at one; beyond it there is none.
pub(crate) fn atanh(number: f64) -> f64 {
    let size = number.abs();
    if size > 1.0 || number.is_nan() {
        return f64::NAN;
    }
    if size == 1.0 {
        return f64::INFINITY.copysign(number);
    }
    let value = if size < 1.0 / GREAT {
        size
    } else if size < 0.5 {
        let double = size + size;
        0.5 * ln_1p(double + double * size / (1.0 - size))
    } else {
        0.5 * ln_1p((size + size) / (1.0 - size))
    };
    value.copysign(number)
}
