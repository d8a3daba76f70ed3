//! Times and durations as Prometheus' HTTP API writes them → milliseconds, or Prometheus' error text.

/// The earliest time that Prometheus can name, milliseconds since the epoch.
pub(crate) const MIN_TIME: i64 = (i64::MIN / 1000 + 62_135_596_801) * 1000;
/// The latest time that Prometheus can name, milliseconds since the epoch.
pub(crate) const MAX_TIME: i64 = (i64::MAX / 1000 - 62_135_596_801) * 1000 + 999;

/// How Prometheus writes [`MIN_TIME`] and [`MAX_TIME`]; no calendar parser takes these years.
const MIN_TEXT: &str = "-292273086-05-16T16:47:06Z";
const MAX_TEXT: &str = "292277025-08-18T07:12:54.999999999Z";

/// A point in time: seconds since the epoch, with a fraction rounded to milliseconds, or RFC 3339.
pub(crate) fn parse_time(text: &str) -> Result<i64, String> {
    if let Ok(seconds) = text.parse::<f64>()
        && seconds.is_finite()
    {
        return Ok(millis(seconds).clamp(MIN_TIME, MAX_TIME));
    }
    if is_go_rfc3339(text)
        && let Ok(time) = text.parse::<jiff::Timestamp>()
    {
        let floor = time.as_nanosecond().div_euclid(1_000_000);
        return i64::try_from(floor).map_err(|_| not_a_time(text));
    }
    match text {
        MIN_TEXT => Ok(MIN_TIME),
        MAX_TEXT => Ok(MAX_TIME),
        _ => Err(not_a_time(text)),
    }
}

/// Whether a text has the form of RFC 3339 that Prometheus reads, which is stricter than others: a capital
/// `T`, a capital `Z` or an offset, no leap second.
fn is_go_rfc3339(text: &str) -> bool {
    let bytes = text.as_bytes();
    let zone = |zone: &[u8]| matches!(zone, [b'Z'] | [b'+' | b'-', _, _, b':', _, _]);
    let tail = bytes.get(19..).unwrap_or_default();
    let fraction = tail
        .iter()
        .skip(1)
        .take_while(|digit| digit.is_ascii_digit());
    let tail = match tail.first() {
        Some(b'.' | b',') => tail.get(fraction.count() + 1..).unwrap_or_default(),
        _ => tail,
    };
    bytes.get(10) == Some(&b'T') && bytes.get(17) != Some(&b'6') && zone(tail)
}

fn not_a_time(text: &str) -> String {
    format!("cannot parse {text:?} to a valid timestamp")
}

/// Whole seconds apart from their fraction, so that the rounding sees the fraction alone.
#[expect(
    clippy::cast_possible_truncation,
    reason = "float casts saturate, and the caller clamps"
)]
fn millis(seconds: f64) -> i64 {
    let whole = seconds.trunc() as i64;
    let rest = (seconds.fract() * 1000.0).round() as i64;
    whole.saturating_mul(1000).saturating_add(rest)
}

/// A duration in milliseconds: a number of seconds, or `1d2h`, `5m`, `300ms`.
pub(crate) fn parse_duration(text: &str) -> Result<i64, String> {
    let refused = || format!("cannot parse {text:?} to a valid duration");
    if let Ok(seconds) = text.parse::<f64>() {
        let nanos = seconds * 1e9;
        // The bounds of i64 as floats; the upper one is 2^63 and is out.
        if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_807.0).contains(&nanos) {
            return Err(format!("{}. It overflows int64", refused()));
        }
        #[expect(clippy::cast_possible_truncation, reason = "checked above")]
        return Ok(nanos as i64 / 1_000_000);
    }
    words(text).ok_or_else(refused)
}

/// A duration as Prometheus writes its own settings: `5m`, `1h30m`, `0s`.
pub(crate) fn duration_text(duration: std::time::Duration) -> String {
    let mut left = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    if left == 0 {
        return "0s".to_owned();
    }
    let mut out = String::new();
    for (unit, millis) in UNITS {
        // Years and weeks only where nothing is left over.
        let skipped = matches!(unit, "y" | "w") && left % millis != 0;
        if !skipped && left >= millis {
            out.push_str(&format!("{}{unit}", left / millis));
            left %= millis;
        }
    }
    out
}

/// The units of a duration in the only order they may come in, with their milliseconds.
const UNITS: [(&str, i64); 7] = [
    ("y", 365 * 86_400_000),
    ("w", 7 * 86_400_000),
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1000),
    ("ms", 1),
];

/// `1d2h` and the like; every unit at most once, the larger first.
fn words(text: &str) -> Option<i64> {
    if text.is_empty() {
        return None;
    }
    let mut rest = text;
    let mut units = UNITS.iter();
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let (_, millis) = units.find(|(name, _)| *name == unit)?;
        total = total.checked_add(number.parse::<i64>().ok()?.checked_mul(*millis)?)?;
        rest = tail;
    }
    // Prometheus counts in nanoseconds.
    total.checked_mul(1_000_000)?;
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_with_a_fraction_rounded_to_milliseconds() {
        for (text, millis) in [
            ("0", 0),
            ("1700000000", 1_700_000_000_000),
            ("1700000000.5", 1_700_000_000_500),
            ("1700000000.0004", 1_700_000_000_000),
            ("1700000000.0006", 1_700_000_000_001),
            ("1700000000.123456", 1_700_000_000_123),
            ("-1.5", -1500),
            ("1.7e9", 1_700_000_000_000),
            ("1700000000000", 1_700_000_000_000_000),
            ("1e300", MAX_TIME),
        ] {
            assert_eq!(parse_time(text), Ok(millis), "{text}");
        }
    }

    #[test]
    fn times_are_rfc_3339_too() {
        for (text, millis) in [
            ("2015-07-01T20:10:51.781Z", 1_435_781_451_781),
            ("2015-07-01T20:10:51Z", 1_435_781_451_000),
            ("2015-07-01T22:10:51+02:00", 1_435_781_451_000),
            ("2015-07-01T20:10:51.7819Z", 1_435_781_451_781),
            (MIN_TEXT, MIN_TIME),
            (MAX_TEXT, MAX_TIME),
        ] {
            assert_eq!(parse_time(text), Ok(millis), "{text}");
        }
    }

    #[test]
    fn durations_are_written_as_prometheus_writes_its_flags() {
        for (millis, text) in [
            (300_000, "5m"),
            (120_000, "2m"),
            (0, "0s"),
            (5_400_500, "1h30m500ms"),
            (14 * 86_400_000, "2w"),
            (8 * 86_400_000, "8d"),
        ] {
            assert_eq!(
                duration_text(std::time::Duration::from_millis(millis)),
                text
            );
        }
    }

    #[test]
    fn what_is_no_time_is_quoted_back() {
        for text in [
            "",
            "foo",
            "30s",
            "NaN",
            "Inf",
            "2015-07-01",
            "2015-07-01T20:10:51",
            "2015-07-01t20:10:51Z",
            "2015-07-01T20:10:51z",
            "2015-07-01 20:10:51Z",
            "2015-07-01T20:10:60Z",
            "2015-07-01T24:00:00Z",
        ] {
            assert_eq!(
                parse_time(text),
                Err(format!("cannot parse {text:?} to a valid timestamp"))
            );
        }
    }

    #[test]
    fn durations_are_seconds_or_words() {
        for (text, millis) in [
            ("15", 15_000),
            ("0.5", 500),
            ("-5", -5000),
            ("0", 0),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("1d", 86_400_000),
            ("1w", 604_800_000),
            ("1y", 31_536_000_000),
            ("250ms", 250),
            ("1m500ms", 60_500),
        ] {
            assert_eq!(parse_duration(text), Ok(millis), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_quoted_back() {
        for text in [
            "",
            "foo",
            "1s1m",
            "10ns",
            "10us",
            "1m1m",
            "-5m",
            "5 m",
            "999999999999y",
        ] {
            assert_eq!(
                parse_duration(text),
                Err(format!("cannot parse {text:?} to a valid duration"))
            );
        }
        let text = parse_duration("1e20").unwrap_err();
        assert_eq!(
            text,
            "cannot parse \"1e20\" to a valid duration. It overflows int64"
        );
    }
}
