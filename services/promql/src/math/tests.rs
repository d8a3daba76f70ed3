//! The functions against the answers of a Prometheus.

use super::{
    acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, exp, exp2, ldexp, ln, log2, log10,
    pow, sin, sinh, tan, tanh,
};
use crate::math::binary::frexp;

const TABLE: &str = include_str!("../../tests/elementary.txt");

/// What the function of this name gives for these arguments.
fn result(name: &str, arguments: &[f64]) -> f64 {
    let one: fn(f64) -> f64 = match (name, arguments) {
        ("pow", [base, exponent]) => return pow(*base, *exponent),
        ("atan2", [y, x]) => return atan2(*y, *x),
        ("mod", [left, right]) => return left % right,
        ("exp", _) => exp,
        ("exp2", _) => exp2,
        ("ln", _) => ln,
        ("log2", _) => log2,
        ("log10", _) => log10,
        ("sin", _) => sin,
        ("cos", _) => cos,
        ("tan", _) => tan,
        ("asin", _) => asin,
        ("acos", _) => acos,
        ("atan", _) => atan,
        ("sinh", _) => sinh,
        ("cosh", _) => cosh,
        ("tanh", _) => tanh,
        ("asinh", _) => asinh,
        ("acosh", _) => acosh,
        ("atanh", _) => atanh,
        _ => panic!("no function {name}"),
    };
    one(arguments[0])
}

#[test]
fn every_function_gives_the_bits_that_prometheus_gives() {
    let mut name = "";
    let (mut names, mut wrong) = (0, Vec::new());
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        if line.len() < 16 {
            name = line;
            names += 1;
            continue;
        }
        let numbers: Vec<f64> = line
            .split(' ')
            .map(|bits| f64::from_bits(u64::from_str_radix(bits, 16).unwrap()))
            .collect();
        let (expected, arguments) = numbers.split_last().unwrap();
        let found = result(name, arguments);
        if found.to_bits() != expected.to_bits() && !(found.is_nan() && expected.is_nan()) {
            wrong.push(format!("{name} {arguments:?}: {found:?}, not {expected:?}"));
        }
    }
    assert_eq!(names, 20);
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_number_is_put_together_from_its_fraction_and_power() {
    assert_eq!(frexp(12.0), (0.75, 4));
    assert_eq!(frexp(-f64::from_bits(3)), (-0.75, -1072));
    assert_eq!(frexp(f64::NEG_INFINITY), (f64::NEG_INFINITY, 0));
    for number in [1.0, -0.1, 1e300, f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0] {
        let (fraction, power) = frexp(number);
        assert_eq!(
            ldexp(fraction, power).to_bits(),
            number.to_bits(),
            "{number}"
        );
    }
}

#[test]
fn beyond_the_range_of_floats_a_product_is_infinite_or_zero() {
    assert_eq!(ldexp(0.5, 1025), f64::INFINITY);
    assert_eq!(ldexp(-1.0, i64::MAX), f64::NEG_INFINITY);
    assert_eq!(ldexp(-1.0, i64::MIN).to_bits(), (-0.0_f64).to_bits());
    // Halves of the least number go to the even neighbour.
    assert_eq!(ldexp(1.0, -1075), 0.0);
    assert_eq!(ldexp(1.5, -1075), f64::from_bits(1));
    assert_eq!(ldexp(1.5, -1074), f64::from_bits(2));
}

#[test]
fn powers_of_two_have_exact_logarithms() {
    for exponent in -1074..1024 {
        let power = exp2(f64::from(exponent));
        assert_eq!(power, ldexp(1.0, i64::from(exponent)), "{exponent}");
        assert_eq!(log2(power), f64::from(exponent));
    }
}

#[test]
fn great_exponents_are_infinite_before_they_must_be() {
    assert!(exp(709.436).is_finite());
    assert_eq!(exp(709.437), f64::INFINITY);
}
