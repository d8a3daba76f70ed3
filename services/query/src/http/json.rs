//! Numbers, times, texts and labels → the JSON that Prometheus writes, byte for byte.

use std::io::Write;

use promql::histogram::Histogram;
use promql::labels::Labels;

/// Where JSON is written; writing to memory does not fail.
pub(crate) type Out = Vec<u8>;

/// A sample's value in quotes: shortest digits that read back equal, an exponent only below 1e-6 and
/// from 1e21 on.
pub(crate) fn value(out: &mut Out, value: f64) {
    out.push(b'"');
    number(out, value);
    out.push(b'"');
}

/// A number without quotes in the notation of [`value`].
pub(crate) fn number(out: &mut Out, value: f64) {
    let size = value.abs();
    if size != 0.0 && value.is_finite() && !(1e-6..1e21).contains(&size) {
        exponent(out, value);
    } else {
        plain(out, value);
    }
}

/// A number without an exponent, however long it gets.
pub(crate) fn plain(out: &mut Out, value: f64) {
    if value.is_nan() {
        out.extend_from_slice(b"NaN");
    } else if value.is_infinite() {
        out.extend_from_slice(if value > 0.0 { b"+Inf" } else { b"-Inf" });
    } else {
        // Of two shortest texts as near the buffer takes the even one, as Prometheus does; the standard
        // library's formatter does not.
        let mut buffer = ryu::Buffer::new();
        let text = buffer.format_finite(value);
        match text.split_once('e') {
            None => out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes()),
            Some((mantissa, power)) => spread(out, mantissa, power.parse().unwrap_or_default()),
        }
    }
}

/// `1.25` and a power of ten as a plain decimal.
fn spread(out: &mut Out, mantissa: &str, power: i32) {
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let shift = usize::try_from(power.unsigned_abs()).unwrap_or_default();
    if power < 0 {
        let zeros = shift.saturating_sub(whole.len());
        written(
            out,
            format_args!("{sign}0.{:0>zeros$}{whole}{fraction}", ""),
        );
    } else {
        let zeros = shift.saturating_sub(fraction.len());
        written(out, format_args!("{sign}{whole}{fraction}{:0>zeros$}", ""));
    }
}

/// `1e+21`, `1.5e-07`: a sign and at least two digits of exponent.
fn exponent(out: &mut Out, value: f64) {
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(value);
    // Numbers this large or small always come with an exponent.
    let (digits, power) = text.split_once('e').unwrap_or((text, "0"));
    let digits = digits.strip_suffix(".0").unwrap_or(digits);
    let (sign, power) = match power.strip_prefix('-') {
        Some(power) => ('-', power),
        None => ('+', power),
    };
    written(out, format_args!("{digits}e{sign}{power:0>2}"));
}

fn written(out: &mut Out, text: std::fmt::Arguments<'_>) {
    // A vector takes every write; there is no error to report.
    drop(out.write_fmt(text));
}

/// A sample's time: whole seconds, and exactly three digits of milliseconds where there are any.
pub(crate) fn timestamp(out: &mut Out, millis: i64) {
    if millis < 0 {
        out.push(b'-');
    }
    let size = millis.unsigned_abs();
    digits(out, size / 1000);
    if !size.is_multiple_of(1000) {
        written(out, format_args!(".{:03}", size % 1000));
    }
}

/// A whole number: timestamps are half of what is written, so this is not left to a formatter.
fn digits(out: &mut Out, mut number: u64) {
    let mut buffer = [b'0'; 20];
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] += u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&buffer[at..]);
}

/// The time of a scalar or a string: seconds as a number, shortest digits.
pub(crate) fn scalar_time(out: &mut Out, millis: i64) {
    #[expect(
        clippy::cast_precision_loss,
        reason = "Prometheus divides as floats too"
    )]
    number(out, millis as f64 / 1000.0);
}

/// A text in quotes.
pub(crate) fn string(out: &mut Out, text: &str) {
    out.push(b'"');
    let mut done = 0;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0..0x20 => b"",
            _ => continue,
        };
        out.extend_from_slice(&bytes[done..at]);
        if escape.is_empty() {
            written(out, format_args!("\\u{byte:04x}"));
        } else {
            out.extend_from_slice(escape);
        }
        done = at + 1;
    }
    out.extend_from_slice(&bytes[done..]);
    out.push(b'"');
}

/// Labels as an object, in the order of their names.
pub(crate) fn labels(out: &mut Out, labels: &Labels) {
    out.push(b'{');
    for (position, (name, text)) in labels.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        string(out, name);
        out.push(b':');
        string(out, text);
    }
    out.push(b'}');
}

/// A list of texts.
pub(crate) fn strings<T: AsRef<str>>(out: &mut Out, texts: impl IntoIterator<Item = T>) {
    out.push(b'[');
    for (position, text) in texts.into_iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        string(out, text.as_ref());
    }
    out.push(b']');
}

/// A native histogram: count, sum and the populated buckets as `[bounds code, lower, upper, count]`.
pub(crate) fn histogram(out: &mut Out, histogram: &Histogram) {
    out.extend_from_slice(b"{\"count\":");
    value(out, histogram.count);
    out.extend_from_slice(b",\"sum\":");
    value(out, histogram.sum);
    let mut any = false;
    for bucket in histogram.buckets().filter(|bucket| bucket.count != 0.0) {
        out.extend_from_slice(if any { b"," } else { b",\"buckets\":[" });
        any = true;
        written(out, format_args!("[{},", bucket.boundaries()));
        value(out, bucket.lower);
        out.push(b',');
        value(out, bucket.upper);
        out.push(b',');
        value(out, bucket.count);
        out.push(b']');
    }
    if any {
        out.push(b']');
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn text(write: impl FnOnce(&mut Out)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_written_as_prometheus_writes_them() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e-6, "0.000001"),
            (1.25e-5, "0.0000125"),
            (9.9e-7, "9.9e-07"),
            (1e-7, "1e-07"),
            (-1e-7, "-1e-07"),
            (5e-324, "5e-324"),
            (1e20, "100000000000000000000"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (1e21, "1e+21"),
            (1.5e21, "1.5e+21"),
            (f64::MAX, "1.7976931348623157e+308"),
            (1e15, "1000000000000000"),
            (999_999_999_999_999.9, "999999999999999.9"),
            // Halfway between two texts: the even one.
            (1_354_908_925_789_882.0 + 0.25, "1354908925789882.2"),
            (1_272_860_600_091_176.0 + 0.75, "1272860600091176.8"),
            (1_700_000_000.123, "1700000000.123"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
        ] {
            assert_eq!(text(|out| value(out, number)), format!("\"{expected}\""));
        }
    }

    #[test]
    fn sample_times_have_three_digits_or_none() {
        for (millis, expected) in [
            (1_700_000_000_500, "1700000000.500"),
            (1_700_000_060_050, "1700000060.050"),
            (1_700_000_001_000, "1700000001"),
            (1, "0.001"),
            (0, "0"),
            (i64::MIN, "-9223372036854775.808"),
            (-1, "-0.001"),
            (-1500, "-1.500"),
        ] {
            assert_eq!(text(|out| timestamp(out, millis)), expected);
        }
    }

    #[test]
    fn scalar_times_are_the_shortest_number() {
        assert_eq!(
            text(|out| scalar_time(out, 1_700_000_000_500)),
            "1700000000.5"
        );
        assert_eq!(
            text(|out| scalar_time(out, 1_700_000_000_000)),
            "1700000000"
        );
    }

    #[test]
    fn scalars_never_have_an_exponent() {
        assert_eq!(text(|out| plain(out, 1e21)), "1000000000000000000000");
        assert_eq!(text(|out| plain(out, 1e-7)), "0.0000001");
    }

    #[test]
    fn texts_are_escaped_and_read_back() {
        for sample in [
            "",
            "a\"b\\c",
            "tab\tline\nreturn\r",
            "\u{1}\u{1f}",
            "ü漢🎈",
            "</script>&",
        ] {
            let json = text(|out| string(out, sample));
            assert_eq!(
                serde_json::from_str::<String>(&json).unwrap(),
                sample,
                "{json}"
            );
        }
    }

    #[test]
    fn a_histogram_lists_its_populated_buckets_with_bounds() {
        let custom = Histogram::from_explicit(Arc::from([1.0, 5.0]), &[2, 0, 3], 5, 42.5).unwrap();
        assert_eq!(
            text(|out| histogram(out, &custom)),
            r#"{"count":"5","sum":"42.5","buckets":[[3,"-Inf","1","2"],[0,"5","+Inf","3"]]}"#
        );
        assert_eq!(
            text(|out| histogram(out, &Histogram::default())),
            r#"{"count":"0","sum":"0"}"#
        );
    }

    #[test]
    fn labels_are_an_object_in_name_order() {
        let set = Labels::from_pairs([("b", "2"), ("__name__", "up"), ("A", "x")]);
        assert_eq!(
            text(|out| labels(out, &set)),
            r#"{"A":"x","__name__":"up","b":"2"}"#
        );
    }
}
