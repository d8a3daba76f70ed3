//! An angle becomes the octant that it lies in and its distance from that octant's nearer even end.
//!
//! Below `2^29` by Cody and Waite's three-part π/4; above by the method of Payne and Hanek (K. C. Ng, "Argument
//! reduction for huge arguments: good to the last bit", 1992), with as many digits of 4/π as it takes.

use std::f64::consts::{FRAC_1_PI, FRAC_PI_4};

use super::binary::{EXPONENT_AT, exponent};

/// From here on three parts of π/4 are not precise enough.
const GREAT: f64 = 536_870_912.0;
/// π/4 in three parts; the first two have so few digits that their products with an octant are exact.
const PI_4_PARTS: [f64; 3] = [
    0.785_398_125_648_498_5,
    3.774_894_707_930_798e-8,
    2.695_151_429_079_059_5e-15,
];
/// The binary digits of 4/π, 64 at a time; the first word is what stands before the point.
const DIGITS: [u64; 20] = [
    0x0000_0000_0000_0001,
    0x45f3_06dc_9c88_2a53,
    0xf84e_afa3_ea69_bb81,
    0xb6c5_2b32_7887_2083,
    0xfca2_c757_bd77_8ac3,
    0x6e48_dc74_849b_a5c0,
    0x0c92_5dd4_13a3_2439,
    0xfc3b_d639_6253_4e7d,
    0xd104_6bea_5d76_8909,
    0xd338_e04d_68be_fc82,
    0x7323_ac73_06a6_73e9,
    0x3908_bf17_7bf2_5076,
    0x3ff1_2fff_bc0b_301f,
    0xde5e_2316_b414_da3e,
    0xda6c_fd9e_4f96_136e,
    0x9e8c_7ecd_3cbf_d45a,
    0xea4f_758f_d7cb_e2f6,
    0x7a0e_73ef_14a5_25d4,
    0xd7f6_bf62_3f1a_ba10,
    0xac06_608d_f8f6_d757,
];

/// The octant, even, from 0 to 6, and the angle that is left, in `[-π/4, π/4]`; for a finite angle that is
/// not negative.
pub(super) fn octant(angle: f64) -> (u64, f64) {
    if angle >= GREAT {
        return great(angle);
    }
    let mut octant = (angle * (4.0 * FRAC_1_PI)).trunc();
    if octant % 2.0 == 1.0 {
        octant += 1.0;
    }
    let [high, middle, low] = PI_4_PARTS;
    let rest = ((angle - octant * high) - octant * middle) - octant * low;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an integer from 0 to 7"
    )]
    let octant = (octant % 8.0) as u64;
    (octant, rest)
}

/// As [`octant`], for great angles.
fn great(angle: f64) -> (u64, f64) {
    let mantissa = angle.to_bits() & ((1 << EXPONENT_AT) - 1) | 1 << EXPONENT_AT;
    // The angle is mantissa · 2^power. Digits of 4/π that make whole turns with it are not looked at.
    let first = u64::try_from(exponent(angle) - i64::from(EXPONENT_AT) + 61).unwrap_or(0);
    let product = high_product(mantissa, first);
    let octant = word(product >> 125);
    let fraction = normal_fraction(word(product << 3 >> 64), word(product));
    let (octant, fraction) = if octant % 2 == 1 {
        ((octant + 1) % 8, fraction - 1.0)
    } else {
        (octant, fraction)
    };
    (octant, fraction * FRAC_PI_4)
}

/// The upper 128 bits, modulo whole turns, of the mantissa times 192 digits of 4/π from bit `first` on.
fn high_product(mantissa: u64, first: u64) -> u128 {
    let start = usize::try_from(first / 64).unwrap_or(0);
    let digit = |at: usize| u128::from(DIGITS.get(at).copied().unwrap_or(0));
    let digits = |at: usize| {
        let two = digit(start + at) << 64 | digit(start + at + 1);
        (two << (first % 64)) >> 64
    };
    let mantissa = u128::from(mantissa);
    let low = (digits(2) * mantissa) >> 64;
    let middle = digits(1) * mantissa;
    let high = (digits(0) * mantissa) << 64;
    high.wrapping_add(middle).wrapping_add(low)
}

/// The float below one whose binary digits after the point are `high`, filled up from the top of `low`.
///
/// The first three digits of `low` end `high` already, so that a fraction with twelve or more leading zeros
/// repeats them; that is Go's reading of the method, and shows in the last bits beside multiples of π/2.
fn normal_fraction(high: u64, low: u64) -> f64 {
    let zeros = high.leading_zeros();
    let filled = high.checked_shl(zeros + 1).unwrap_or(0)
        | 63_u32
            .checked_sub(zeros)
            .map_or(0, |by| low.checked_shr(by).unwrap_or(0));
    f64::from_bits(u64::from(1022 - zeros) << EXPONENT_AT | filled >> (64 - EXPONENT_AT))
}

/// The lower half.
fn word(digits: u128) -> u64 {
    u64::try_from(digits & u128::from(u64::MAX)).unwrap_or(0)
}
