//! A number becomes its logarithm.
//!
//! [`ln`] follows FreeBSD's `e_log.c` and [`ln_1p`] its `s_log1p.c`: the number is taken apart into
//! `2^k · (1 + f)` with `√½ ≤ 1 + f < √2`, and ln(1 + f) comes from a polynomial in `(f / (2 + f))²`.

use std::f64::consts::{FRAC_1_SQRT_2, LOG2_E, LOG10_E, SQRT_2};

use super::binary::{exponent, frexp, power_of_two, with_exponent};
use super::{LN_2_HIGH, LN_2_LOW};

/// The coefficients of the polynomial, from the first power on.
const SERIES: [f64; 7] = [
    0.666_666_666_666_673_5,
    0.399_999_999_994_094_2,
    0.285_714_287_436_623_9,
    0.222_221_984_321_497_84,
    0.181_835_721_616_180_5,
    0.153_138_376_992_093_73,
    0.147_981_986_051_165_86,
];
/// `√2 - 1`.
const SQRT_2_LESS_1: f64 = 0.414_213_562_373_095_03;
/// `√½ - 1`.
const SQRT_HALF_LESS_1: f64 = -0.292_893_218_813_452_5;

/// The natural logarithm. The bits of a subnormal number are read as if it were normal.
pub(crate) fn ln(number: f64) -> f64 {
    if number == 0.0 {
        return f64::NEG_INFINITY;
    }
    if number < 0.0 {
        return f64::NAN;
    }
    if !number.is_finite() {
        return number;
    }
    let (mut fraction, mut power) = (with_exponent(number, -1), exponent(number) + 1);
    if fraction <= FRAC_1_SQRT_2 {
        fraction *= 2.0;
        power -= 1;
    }
    let power = float(power);
    let f = fraction - 1.0;
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let [l1, l2, l3, l4, l5, l6, l7] = SERIES;
    let odd = s2 * (l1 + s4 * (l3 + s4 * (l5 + s4 * l7)));
    let even = s4 * (l2 + s4 * (l4 + s4 * l6));
    let half_square = 0.5 * f * f;
    let small = s * (half_square + (odd + even)) + power * LN_2_LOW;
    power * LN_2_HIGH - ((half_square - small) - f)
}

/// The binary logarithm, exact for powers of two.
pub(crate) fn log2(number: f64) -> f64 {
    let (fraction, power) = frexp(number);
    if fraction == 0.5 {
        return float(power - 1);
    }
    ln(fraction) * LOG2_E + float(power)
}

/// The decimal logarithm.
pub(crate) fn log10(number: f64) -> f64 {
    ln(number) * LOG10_E
}

/// An exponent as a float.
fn float(power: i64) -> f64 {
    i32::try_from(power).map_or(f64::NAN, f64::from)
}

/// `1 + x` as `2^power · (1 + f)`.
struct Parts {
    power: i64,
    f: f64,
    /// What `1 + x` lost in rounding, relative to it.
    lost: f64,
    /// `f` is zero or has a magnitude below `2^-20`.
    tiny: bool,
}

/// The natural logarithm of `1 + x`.
pub(super) fn ln_1p(x: f64) -> f64 {
    if x < -1.0 || x.is_nan() {
        return f64::NAN;
    }
    if x == -1.0 {
        return f64::NEG_INFINITY;
    }
    if x == f64::INFINITY {
        return x;
    }
    let size = x.abs();
    if size < power_of_two(-54) {
        return x;
    }
    if size < power_of_two(-29) {
        return x - x * x * 0.5;
    }
    let parts = if SQRT_HALF_LESS_1 < x && x < SQRT_2_LESS_1 {
        Parts {
            power: 0,
            f: x,
            lost: 0.0,
            tiny: false,
        }
    } else {
        one_more(x)
    };
    of_parts(&parts)
}

/// Takes `1 + x` apart.
fn one_more(x: f64) -> Parts {
    let (sum, lost) = if x.abs() < power_of_two(53) {
        let sum = 1.0 + x;
        let lost = if exponent(sum) > 0 {
            1.0 - (sum - x)
        } else {
            x - (sum - 1.0)
        };
        (sum, lost / sum)
    } else {
        (x, 0.0)
    };
    let (power, mantissa) = (exponent(sum), with_exponent(sum, 0));
    if mantissa < SQRT_2 {
        let tiny = mantissa == 1.0;
        Parts {
            power,
            f: mantissa - 1.0,
            lost,
            tiny,
        }
    } else {
        // Tiny: less than four units of the last place below two.
        let f = with_exponent(sum, -1) - 1.0;
        Parts {
            power: power + 1,
            f,
            lost,
            tiny: f > -2.0 * f64::EPSILON,
        }
    }
}

/// The logarithm of what was taken apart.
fn of_parts(parts: &Parts) -> f64 {
    let Parts { f, lost, tiny, .. } = *parts;
    let power = float(parts.power);
    let half_square = 0.5 * f * f;
    if tiny {
        if f == 0.0 {
            return if parts.power == 0 {
                0.0
            } else {
                power * LN_2_HIGH + (lost + power * LN_2_LOW)
            };
        }
        let rest = half_square * (1.0 - 0.666_666_666_666_666_6 * f);
        if parts.power == 0 {
            return f - rest;
        }
        return power * LN_2_HIGH - ((rest - (power * LN_2_LOW + lost)) - f);
    }
    let s = f / (2.0 + f);
    let z = s * s;
    let [l1, l2, l3, l4, l5, l6, l7] = SERIES;
    let rest = z * (l1 + z * (l2 + z * (l3 + z * (l4 + z * (l5 + z * (l6 + z * l7))))));
    if parts.power == 0 {
        return f - (half_square - s * (half_square + rest));
    }
    power * LN_2_HIGH - ((half_square - (s * (half_square + rest) + (power * LN_2_LOW + lost))) - f)
}
