//! The text of a number or duration in, its value out, by the rules of Go's `strconv` and Prometheus' own
//! durations.

use crate::format::quote::quote;

/// The value of a number token: decimal, hexadecimal with `0x`, octal with a leading `0`, `Inf` or `NaN`.
///
/// # Errors
///
/// The text of the error, without a position.
pub(super) fn number(text: &str) -> Result<f64, String> {
    if let Some(value) = integer(text) {
        return Ok(value);
    }
    let fail = |what: &str| {
        Err(format!(
            "error parsing number: strconv.ParseFloat: parsing {}: {what}",
            quote(text)
        ))
    };
    match text.to_ascii_lowercase().as_str() {
        "inf" => return Ok(f64::INFINITY),
        "nan" => return Ok(f64::NAN),
        _ => {}
    }
    if text.starts_with("0x") || text.starts_with("0X") || !underscores_separate_digits(text) {
        return fail("invalid syntax");
    }
    match text.replace('_', "").parse::<f64>() {
        Ok(value) if value.is_infinite() => fail("value out of range"),
        Ok(value) => Ok(value),
        Err(_) => fail("invalid syntax"),
    }
}

/// A whole number that fits 64 bits, with the base that its prefix says.
fn integer(text: &str) -> Option<f64> {
    if !underscores_separate_digits(text) {
        return None;
    }
    let digits = text.replace('_', "");
    let lower = digits.to_ascii_lowercase();
    let (base, digits) = if let Some(rest) = lower.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = lower.strip_prefix('0').filter(|rest| !rest.is_empty()) {
        (8, rest)
    } else {
        (10, lower.as_str())
    };
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "rounding to the nearest float is the meaning of the number"
    )]
    i64::from_str_radix(digits, base)
        .ok()
        .map(|value| value as f64)
}

/// Whether every `_` stands between two digits; a base prefix counts as one.
fn underscores_separate_digits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at)).is_some_and(|byte| {
            byte.is_ascii_digit()
                || (hexadecimal && (byte.is_ascii_hexdigit() || matches!(byte, b'x' | b'X')))
        })
    };
    bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'_')
        .all(|(at, _)| digit(at.checked_sub(1)) && digit(Some(at + 1)))
}

/// Units in the order in which a duration must name them, with their nanoseconds.
const UNITS: [(&str, u64); 7] = [
    ("y", 365 * 86_400_000_000_000),
    ("w", 7 * 86_400_000_000_000),
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
];

/// The seconds of a duration token such as `1h30m`.
///
/// # Errors
///
/// The text of the error, without a position.
pub(super) fn duration(text: &str) -> Result<f64, String> {
    let invalid = || format!("not a valid duration string: {}", quote(text));
    let overflow = || "duration out of range".to_owned();
    let mut nanos: u64 = 0;
    let mut next_unit = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (digits, tail) = split_where(rest, |byte| !byte.is_ascii_digit());
        let (unit, tail) = split_where(tail, |byte| byte.is_ascii_digit());
        let count: u64 = digits.parse().map_err(|_| invalid())?;
        let Some(at) = UNITS.iter().position(|(name, _)| *name == unit) else {
            return Err(format!(
                "unknown unit {} in duration {}",
                quote(unit),
                quote(text)
            ));
        };
        if at < next_unit {
            return Err(invalid());
        }
        next_unit = at + 1;
        let (_, scale) = UNITS[at];
        // Prometheus keeps durations as signed 64-bit nanoseconds.
        let part = count.checked_mul(scale).ok_or_else(overflow)?;
        nanos = nanos
            .checked_add(part)
            .filter(|sum| i64::try_from(*sum).is_ok())
            .ok_or_else(overflow)?;
        rest = tail;
    }
    let (whole, part) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    #[expect(clippy::cast_precision_loss, reason = "both are far below 2^53")]
    Ok(whole as f64 + part as f64 / 1e9)
}

fn split_where(text: &str, stop: impl Fn(u8) -> bool) -> (&str, &str) {
    let at = text.bytes().position(stop).unwrap_or(text.len());
    text.split_at_checked(at).unwrap_or((text, ""))
}
