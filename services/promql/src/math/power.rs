//! A base and an exponent become their power, by Go's own method.
//!
//! The exponent is split into a whole number, whose power comes from repeated squaring of the base's fraction
//! while its powers of two are counted apart, and a rest of at most a half, whose power comes from [`exp`] and [`ln`].

use super::binary::{frexp, ldexp};
use super::{exp, ln};

/// Powers of two beyond this overflow whatever follows; they stop being doubled.
const DECIDED: i64 = 1 << 12;
/// From here on a float is an even number, too great for an i64.
const HUGE: f64 = 9_223_372_036_854_775_808.0;

/// `base^exponent`; NaN for a negative base and an exponent that is not whole. The special cases are those
/// of IEEE 754-2008.
pub(crate) fn pow(base: f64, exponent: f64) -> f64 {
    if exponent == 0.0 || base == 1.0 {
        return 1.0;
    }
    if exponent == 1.0 {
        return base;
    }
    if base.is_nan() || exponent.is_nan() {
        return f64::NAN;
    }
    if base == 0.0 {
        return of_zero(base, exponent);
    }
    if exponent.is_infinite() {
        return to_the_huge(base, exponent);
    }
    if base.is_infinite() {
        return of_infinity(base, exponent);
    }
    if exponent == 0.5 {
        return base.sqrt();
    }
    if exponent == -0.5 {
        return 1.0 / base.sqrt();
    }
    finite(base, exponent)
}

/// A power of a zero; the exponent is neither zero nor NaN.
fn of_zero(base: f64, exponent: f64) -> f64 {
    let size = if exponent < 0.0 { f64::INFINITY } else { 0.0 };
    if is_odd(exponent) {
        size.copysign(base)
    } else {
        size
    }
}

/// A power of an infinity; the exponent is finite and not zero.
fn of_infinity(base: f64, exponent: f64) -> f64 {
    if base < 0.0 {
        return of_zero(-0.0, -exponent);
    }
    if exponent < 0.0 { 0.0 } else { f64::INFINITY }
}

/// A power with an exponent so great that it is even and decides all but the base's neighbourhood of one.
fn to_the_huge(base: f64, exponent: f64) -> f64 {
    if base == -1.0 {
        1.0
    } else if (base.abs() < 1.0) == (exponent > 0.0) {
        0.0
    } else {
        f64::INFINITY
    }
}

/// Whether the number is an odd integer.
fn is_odd(number: f64) -> bool {
    (number % 2.0).abs() == 1.0
}

/// A power of finite numbers.
fn finite(base: f64, exponent: f64) -> f64 {
    let mut whole = exponent.abs().trunc();
    let mut rest = exponent.abs() - whole;
    if rest != 0.0 && base < 0.0 {
        return f64::NAN;
    }
    if whole >= HUGE {
        return to_the_huge(base, exponent);
    }
    let mut fraction = 1.0;
    if rest != 0.0 {
        if rest > 0.5 {
            rest -= 1.0;
            whole += 1.0;
        }
        fraction = exp(rest * ln(base));
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "an integer from 0 to below 2^63"
    )]
    let (fraction, twos) = squared(fraction, base, whole as i64);
    if exponent < 0.0 {
        ldexp(1.0 / fraction, -twos)
    } else {
        ldexp(fraction, twos)
    }
}

/// `start · base^times` as a fraction and the power of two to multiply it by.
fn squared(start: f64, base: f64, times: i64) -> (f64, i64) {
    let (mut fraction, mut twos) = (start, 0);
    let (mut square, mut square_twos) = frexp(base);
    let mut left = times;
    while left != 0 {
        if square_twos.abs() > DECIDED {
            twos += square_twos;
            break;
        }
        if left & 1 == 1 {
            fraction *= square;
            twos += square_twos;
        }
        square *= square;
        square_twos *= 2;
        if square < 0.5 {
            square += square;
            square_twos -= 1;
        }
        left >>= 1;
    }
    (fraction, twos)
}
