//! Functions of one float: a name becomes what is done to each value.

use crate::math;
use crate::number::{go_max, go_min};

/// What is done to one float.
pub(crate) type FloatFn = fn(f64) -> f64;

/// What the function of this name does to a float.
pub(crate) fn function(name: &str) -> Option<FloatFn> {
    Some(match name {
        "abs" => f64::abs,
        "ceil" => f64::ceil,
        "floor" => f64::floor,
        "exp" => math::exp,
        "sqrt" => f64::sqrt,
        "ln" => math::ln,
        "log2" => math::log2,
        "log10" => math::log10,
        "sin" => math::sin,
        "cos" => math::cos,
        "tan" => math::tan,
        "asin" => math::asin,
        "acos" => math::acos,
        "atan" => math::atan,
        "sinh" => math::sinh,
        "cosh" => math::cosh,
        "tanh" => math::tanh,
        "asinh" => math::asinh,
        "acosh" => math::acosh,
        "atanh" => math::atanh,
        "rad" => |value| value * std::f64::consts::PI / 180.0,
        "deg" => |value| value * 180.0 / std::f64::consts::PI,
        "sgn" => sign,
        _ => return None,
    })
}

fn sign(value: f64) -> f64 {
    if value < 0.0 {
        -1.0
    } else if value > 0.0 {
        1.0
    } else {
        value
    }
}

/// `round`: to the nearest multiple, halves up.
pub(crate) fn round(value: f64, nearest: f64) -> f64 {
    let inverse = 1.0 / nearest;
    (value * inverse + 0.5).floor() / inverse
}

/// `clamp`.
pub(crate) fn clamp(value: f64, min: f64, max: f64) -> f64 {
    go_max(min, go_min(max, value))
}
