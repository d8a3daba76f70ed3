//! Numbers in, Prometheus' way of comparing, rounding and writing them out.

use std::fmt::Write;

/// The greater number: NaN wins over everything but +Inf, as in the language Prometheus is written in.
pub(crate) fn go_max(left: f64, right: f64) -> f64 {
    if left == f64::INFINITY || right == f64::INFINITY {
        f64::INFINITY
    } else if left.is_nan() || right.is_nan() {
        f64::NAN
    } else if left == 0.0 && right == 0.0 {
        if left.is_sign_negative() { right } else { left }
    } else if left > right {
        left
    } else {
        right
    }
}

/// The lesser number: NaN wins over everything but -Inf.
pub(crate) fn go_min(left: f64, right: f64) -> f64 {
    if left == f64::NEG_INFINITY || right == f64::NEG_INFINITY {
        f64::NEG_INFINITY
    } else if left.is_nan() || right.is_nan() {
        f64::NAN
    } else if left == 0.0 && right == 0.0 {
        if left.is_sign_negative() { left } else { right }
    } else if left < right {
        left
    } else {
        right
    }
}

/// Milliseconds as seconds.
pub(crate) fn seconds(millis: i64) -> f64 {
    millis as f64 / 1000.0
}

/// A length of time in milliseconds as seconds: whole seconds and the rest are converted apart, which
/// can differ from [`seconds`] in the last bit.
pub(crate) fn span_seconds(millis: i64) -> f64 {
    let nanos = (millis % 1000) * 1_000_000;
    (millis / 1000) as f64 + nanos as f64 / 1e9
}

/// A count as a number; counts of samples in memory are far below 2^53.
pub(crate) fn count(items: usize) -> f64 {
    items as f64
}

/// A number cut to an integer; what does not fit becomes the nearest that does, NaN becomes the
/// smallest (what the conversion instruction of amd64 gives).
pub(crate) fn truncate(value: f64) -> i64 {
    if value.is_nan() || value >= 9_223_372_036_854_775_808.0 {
        return i64::MIN;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the cast saturates, which is what is wanted"
    )]
    let cut = value as i64;
    cut
}

/// The shortest text without an exponent that reads back as the same number.
pub(crate) fn plain(value: f64) -> String {
    special(value).unwrap_or_else(|| {
        let Digits {
            sign,
            digits,
            point,
        } = shortest(value);
        format!("{sign}{}", plain_digits(&digits, point))
    })
}

/// The shortest text that reads back as the same number, with an exponent from 1e+06 on and below
/// 1e-04; `%g` in Prometheus' messages.
pub(crate) fn general(value: f64) -> String {
    special(value).unwrap_or_else(|| exponent_form(&shortest(value), 6))
}

/// At most `places` significant digits; `%.2g` in Prometheus' messages.
pub(crate) fn rounded(value: f64, places: usize) -> String {
    let precision = places.saturating_sub(1);
    special(value).unwrap_or_else(|| {
        let digits = Digits::read(&format!("{value:.precision$e}"));
        let (len, limit) = (size(digits.digits.len()), size(places));
        let limit = if limit > len && len >= digits.point {
            len
        } else {
            limit
        };
        exponent_form(&digits, limit)
    })
}

/// A finite number as text: `0.digits` times ten to the power of `point`.
struct Digits {
    sign: &'static str,
    /// Without zeros at either end; `0` for zero.
    digits: String,
    point: i32,
}

/// The fewest digits that read back as the same number; of several the nearest, of two as near the even.
fn shortest(value: f64) -> Digits {
    Digits::read(ryu::Buffer::new().format_finite(value))
}

impl Digits {
    /// Reads `-12.50e3` and the like.
    fn read(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let (sign, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => ("-", rest),
            None => ("", mantissa),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let zeros = size(all.len() - significant.len());
        let digits = significant.trim_end_matches('0');
        if digits.is_empty() {
            return Self {
                sign,
                digits: "0".to_owned(),
                point: 1,
            };
        }
        let point = size(whole.len()) - zeros + exponent.parse().unwrap_or(0);
        Self {
            sign,
            digits: digits.to_owned(),
            point,
        }
    }
}

/// A length of text as an exponent.
fn size(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(i32::MAX)
}

fn special(value: f64) -> Option<String> {
    let text = if value.is_nan() {
        "NaN"
    } else if value == f64::INFINITY {
        "+Inf"
    } else if value == f64::NEG_INFINITY {
        "-Inf"
    } else {
        return None;
    };
    Some(text.to_owned())
}

/// Plain notation for exponents from -4 to below `limit`, else an exponent of at least two digits.
fn exponent_form(digits: &Digits, limit: i32) -> String {
    let Digits {
        sign,
        digits,
        point,
    } = digits;
    let exponent = point - 1;
    if exponent >= -4 && exponent < limit {
        return format!("{sign}{}", plain_digits(digits, *point));
    }
    let (first, rest) = digits.split_at(1);
    let dot = if rest.is_empty() { "" } else { "." };
    let direction = if exponent < 0 { '-' } else { '+' };
    format!(
        "{sign}{first}{dot}{rest}e{direction}{:02}",
        exponent.unsigned_abs()
    )
}

/// Digits with the decimal point after the first `point` of them.
fn plain_digits(digits: &str, point: i32) -> String {
    match usize::try_from(point) {
        Ok(0) | Err(_) => {
            let zeros = "0".repeat(point.unsigned_abs() as usize);
            format!("0.{zeros}{digits}")
        }
        Ok(point) if point >= digits.len() => {
            let zeros = "0".repeat(point - digits.len());
            format!("{digits}{zeros}")
        }
        Ok(point) => {
            let (whole, fraction) = digits.split_at(point);
            format!("{whole}.{fraction}")
        }
    }
}

/// A float as a label value: like [`general`], with `.0` where there is neither point nor exponent.
pub(crate) fn label_value(value: f64) -> String {
    let mut text = general(value);
    if value.is_finite() && !text.contains(['.', 'e']) {
        text.push_str(".0");
    }
    text
}

/// A text in double quotes as Prometheus' messages show it.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if printable(c) => out.push(c),
            _ => {
                let code = u32::from(c);
                let _fits = match code {
                    0..0x80 => write!(out, "\\x{code:02x}"),
                    0x80..0x1_0000 => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
    out
}

fn printable(c: char) -> bool {
    c == ' ' || c == '\'' || !c.is_whitespace() && c.escape_debug().len() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_wins_except_over_the_infinity_in_question() {
        assert!(go_max(f64::NAN, 1.0).is_nan());
        assert_eq!(go_max(f64::NAN, f64::INFINITY), f64::INFINITY);
        assert_eq!(go_min(f64::NEG_INFINITY, f64::NAN), f64::NEG_INFINITY);
        assert!(go_min(-0.0, 0.0).is_sign_negative());
        assert!(go_max(-0.0, 0.0).is_sign_positive());
    }

    #[test]
    fn general_switches_to_exponents_as_percent_g_does() {
        let cases = [
            (0.0, "0"),
            (1.5, "1.5"),
            (100_000.0, "100000"),
            (1e6, "1e+06"),
            (1_234_567.0, "1.234567e+06"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-0.1, "-0.1"),
            (f64::INFINITY, "+Inf"),
            (1e-100, "1e-100"),
        ];
        for (value, text) in cases {
            assert_eq!(general(value), text);
        }
    }

    #[test]
    fn plain_never_has_an_exponent_and_prefers_even_digits() {
        let cases = [
            (1e21, "1000000000000000000000"),
            (1e-7, "0.0000001"),
            (-0.0, "-0"),
            (1_000_000_000_178_444.2, "1000000000178444.2"),
            (0.1, "0.1"),
            (1230.0, "1230"),
        ];
        for (value, text) in cases {
            assert_eq!(plain(value), text);
        }
    }

    #[test]
    fn rounded_keeps_significant_digits_only() {
        let cases = [
            (100.0, "1e+02"),
            (20.0, "20"),
            (1.234, "1.2"),
            (0.0456, "0.046"),
            (99.9, "1e+02"),
            (5.0, "5"),
        ];
        for (value, text) in cases {
            assert_eq!(rounded(value, 2), text);
        }
    }

    #[test]
    fn label_values_always_look_like_floats() {
        assert_eq!(label_value(1.0), "1.0");
        assert_eq!(label_value(0.95), "0.95");
        assert_eq!(label_value(1e30), "1e+30");
        assert_eq!(label_value(f64::NAN), "NaN");
    }

    #[test]
    fn quoting_escapes_what_cannot_be_printed() {
        assert_eq!(
            quote("a\"b\\c\n\u{1}é\u{a0}"),
            "\"a\\\"b\\\\c\\n\\x01é\\u00a0\""
        );
        assert_eq!(quote("it's"), "\"it's\"");
    }

    #[test]
    fn truncation_never_wraps() {
        assert_eq!(truncate(-1.9), -1);
        assert_eq!(truncate(f64::NAN), i64::MIN);
        assert_eq!(truncate(1e300), i64::MIN);
    }
}
