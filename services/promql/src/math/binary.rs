//! A float becomes its fraction and its power of two, and these become a float.

/// Where the exponent begins in the bits of a float.
pub(super) const EXPONENT_AT: u32 = 52;
/// The bits of the exponent, shifted to the right end.
const EXPONENT: u64 = 0x7ff;
/// What the stored exponent is greater by than the true one.
pub(super) const BIAS: i64 = 1023;
/// The bits that a float of the same sign and fraction has at exponent zero.
const WITHOUT_EXPONENT: u64 = !(EXPONENT << EXPONENT_AT);

/// `2^power` for a power from -1022 to 1023.
pub(super) fn power_of_two(power: i64) -> f64 {
    let stored = u64::try_from(power.clamp(1 - BIAS, BIAS) + BIAS).unwrap_or(0);
    f64::from_bits(stored << EXPONENT_AT)
}

/// The power of two that the bits of a normal number name.
pub(super) fn exponent(number: f64) -> i64 {
    i64::try_from(number.to_bits() >> EXPONENT_AT & EXPONENT).unwrap_or(0) - BIAS
}

/// The number with the power of two of its bits replaced by `power`, from -1022 to 1023.
pub(super) fn with_exponent(number: f64, power: i64) -> f64 {
    f64::from_bits(number.to_bits() & WITHOUT_EXPONENT | power_of_two(power).to_bits())
}

/// A finite number as a normal one and the power of two that this must be multiplied by.
fn normalize(number: f64) -> (f64, i64) {
    if number.abs() < f64::MIN_POSITIVE {
        (number * power_of_two(52), -52)
    } else {
        (number, 0)
    }
}

/// The fraction in `[½, 1)`, with the sign of the number, and the power of two whose product is the number;
/// zeros, infinities and NaN are their own fraction, with power 0.
pub(super) fn frexp(number: f64) -> (f64, i64) {
    if number == 0.0 || !number.is_finite() {
        return (number, 0);
    }
    let (normal, shift) = normalize(number);
    (with_exponent(normal, -1), exponent(normal) + 1 + shift)
}

/// `fraction · 2^power`, rounded once: beyond the greatest number infinite, far below the least one zero.
pub(crate) fn ldexp(fraction: f64, power: i64) -> f64 {
    if fraction == 0.0 || !fraction.is_finite() {
        return fraction;
    }
    let (normal, shift) = normalize(fraction);
    let power = power.saturating_add(shift + exponent(normal));
    if power < -1075 {
        return 0_f64.copysign(fraction);
    }
    if power > BIAS {
        return f64::INFINITY.copysign(fraction);
    }
    if power < 1 - BIAS {
        // Subnormal: the exact product first, so that only the last one rounds.
        return power_of_two(-53) * with_exponent(normal, power + 53);
    }
    with_exponent(normal, power)
}
