//! Turns a UCUM unit into the words that Prometheus appends to metric names.

use std::borrow::Cow;

/// The parts of a unit as suffix words; empty where there is none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct UnitWords<'u> {
    /// `bytes` of `By/s`.
    pub(super) main: Cow<'u, str>,
    /// `per_second` of `By/s`.
    pub(super) per: Cow<'u, str>,
}

impl<'u> UnitWords<'u> {
    /// Splits at the first `/` and looks both parts up. Annotations in braces have no word; what is
    /// not in the table is its own word.
    pub(super) fn of(unit: &'u str) -> Self {
        if unit.is_empty() {
            return Self::default();
        }
        let (main, per) = unit.split_once('/').unwrap_or((unit, ""));
        let main = word(main, main_word).into();
        let per = match word(per, per_word) {
            "" => "".into(),
            "second" => "per_second".into(),
            word => format!("per_{word}").into(),
        };
        Self { main, per }
    }

    /// The same words with only characters that a classic metric name may have.
    pub(super) fn escaped(self) -> Self {
        Self {
            main: escape(self.main),
            per: escape(self.per),
        }
    }

    /// Both parts as one word, for metadata.
    pub(super) fn joined(&self) -> String {
        let joined = match (&*self.main, &*self.per) {
            (main, "") => main.to_owned(),
            ("", per) => per.to_owned(),
            (main, per) => format!("{main}_{per}"),
        };
        let joined = joined.strip_prefix('_').unwrap_or(&joined);
        joined.strip_suffix('_').unwrap_or(joined).to_owned()
    }
}

fn word(part: &str, table: fn(&str) -> Option<&'static str>) -> &str {
    let part = part.trim();
    if part.contains(['{', '}']) {
        return "";
    }
    table(part).unwrap_or(part)
}

/// Every character outside `[A-Za-z0-9:]` as `_`, runs as one, one leading `_` gone.
fn escape(word: Cow<'_, str>) -> Cow<'_, str> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b':';
    let plain = |pair: &[u8]| matches!(pair, [a, b] if is_word(*a) || (*a == b'_' && *b != b'_'));
    let bytes = word.as_bytes();
    let ends = |byte: Option<&u8>, also: bool| {
        byte.is_none_or(|byte| is_word(*byte) || (also && *byte == b'_'))
    };
    if ends(bytes.first(), false) && ends(bytes.last(), true) && bytes.windows(2).all(plain) {
        return word;
    }
    let mut escaped = String::with_capacity(word.len());
    for letter in word.chars() {
        if letter.is_ascii_alphanumeric() || letter == ':' {
            escaped.push(letter);
        } else if !escaped.ends_with('_') {
            escaped.push('_');
        }
    }
    match escaped.strip_prefix('_') {
        Some(rest) => rest.to_owned().into(),
        None => escaped.into(),
    }
}

/// Prometheus' table of units, with its spelling (`tibibytes`, key `KBy`).
fn main_word(unit: &str) -> Option<&'static str> {
    Some(match unit {
        "d" => "days",
        "h" => "hours",
        "min" => "minutes",
        "s" => "seconds",
        "ms" => "milliseconds",
        "us" => "microseconds",
        "ns" => "nanoseconds",
        "By" => "bytes",
        "KiBy" => "kibibytes",
        "MiBy" => "mebibytes",
        "GiBy" => "gibibytes",
        "TiBy" => "tibibytes",
        "KBy" => "kilobytes",
        "MBy" => "megabytes",
        "GBy" => "gigabytes",
        "TBy" => "terabytes",
        "m" => "meters",
        "V" => "volts",
        "A" => "amperes",
        "J" => "joules",
        "W" => "watts",
        "g" => "grams",
        "Cel" => "celsius",
        "Hz" => "hertz",
        "1" => "",
        "%" => "percent",
        _ => return None,
    })
}

/// Prometheus' table of units after `/`.
fn per_word(unit: &str) -> Option<&'static str> {
    Some(match unit {
        "s" => "second",
        "m" => "minute",
        "h" => "hour",
        "d" => "day",
        "w" => "week",
        "mo" => "month",
        "y" => "year",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_shows_units_as_words() {
        let word = |unit| UnitWords::of(unit).escaped().joined();
        assert_eq!(word("ms"), "milliseconds");
        assert_eq!(word("By/s"), "bytes_per_second");
        assert_eq!(word("1/s"), "per_second");
        assert_eq!(word("{request}"), "");
        assert_eq!(word("{packet}/s"), "per_second");
        assert_eq!(word("1"), "");
        assert_eq!(word("cores"), "cores");
        assert_eq!(word("°C"), "C");
    }
}
