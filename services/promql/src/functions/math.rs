//! Functions of one float: a name becomes what is done to each value.

use crate::number::{go_max, go_min};

/// What is done to one float.
pub(crate) type FloatFn = fn(f64) -> f64;

/// What the function of this name does to a float.
pub(crate) fn function(name: &str) -> Option<FloatFn> {
    Some(match name {
        "abs" => f64::abs,
        "ceil" => f64::ceil,
        "floor" => f64::floor,
        "exp" => f64::exp,
        "sqrt" => f64::sqrt,
        "ln" => f64::ln,
        "log2" => f64::log2,
        "log10" => f64::log10,
        "sin" => f64::sin,
        "cos" => f64::cos,
        "tan" => f64::tan,
        "asin" => f64::asin,
        "acos" => f64::acos,
        "atan" => f64::atan,
        "sinh" => f64::sinh,
        "cosh" => f64::cosh,
        "tanh" => f64::tanh,
        "asinh" => f64::asinh,
        "acosh" => f64::acosh,
        "atanh" => f64::atanh,
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
