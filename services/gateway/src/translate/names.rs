//! Turns an OTLP metric name into the name that Prometheus knows it by.
//!
//! Behaviour of Prometheus' `otlptranslator`, pinned by `tests/data/otlp_names.json`.

use std::borrow::Cow;

use auth::translation::NamingStrategy;
use smallvec::SmallVec;

use super::units::UnitWords;

/// What a name's suffixes depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Suffix {
    /// A gauge: `_ratio` where its unit is exactly `1`.
    Ratio,
    /// A monotonic sum: `_total`.
    Total,
    /// Anything else: the unit only.
    Unit,
}

/// The Prometheus name of a metric; `None` when nothing usable is left of it.
pub(super) fn metric_name<'n>(
    name: &'n str,
    unit: &str,
    suffix: Suffix,
    strategy: NamingStrategy,
) -> Option<Cow<'n, str>> {
    if name.is_empty() {
        return None;
    }
    let suffix = if suffix == Suffix::Ratio && unit != "1" {
        Suffix::Unit
    } else {
        suffix
    };
    match strategy {
        NamingStrategy::UnderscoreEscapingWithSuffixes => {
            let unit = UnitWords::of(unit).escaped();
            appended(name, &unit, suffix)
                .or_else(|| checked(with_suffixes(name, &unit, suffix), name).map(Cow::Owned))
        }
        NamingStrategy::UnderscoreEscapingWithoutSuffixes => {
            checked(without_suffixes(name), name).map(Cow::Owned)
        }
        NamingStrategy::NoUtf8EscapingWithSuffixes => {
            Some(unescaped(name, &UnitWords::of(unit), suffix).into())
        }
        NamingStrategy::NoTranslation => Some(name.into()),
    }
}

impl Suffix {
    fn word(self) -> &'static str {
        match self {
            Self::Ratio => "ratio",
            Self::Total => "total",
            Self::Unit => "",
        }
    }
}

/// What [`with_suffixes`] gives, for the many names that are valid as they are and get no more than an end;
/// `None` for the others.
fn appended<'n>(name: &'n str, unit: &UnitWords<'_>, suffix: Suffix) -> Option<Cow<'n, str>> {
    if !is_plain(name.as_bytes()) {
        return None;
    }
    let words = || name.as_bytes().split(|byte| *byte == b'_');
    let has = |word: &str| words().any(|other| other == word.as_bytes());
    let (main, per) = ends(unit, has);
    let last = suffix.word();
    if last.is_empty() || !has(last) {
        let new = [main, per, last];
        if new.iter().all(|word| word.is_empty()) {
            return Some(name.into());
        }
        // A unit that is spelled like the suffix would have to be moved.
        if !last.is_empty() && (main == last || per == last) {
            return None;
        }
        let mut full = String::with_capacity(name.len() + main.len() + per.len() + last.len() + 3);
        full.push_str(name);
        for word in new.into_iter().filter(|word| !word.is_empty()) {
            full.push('_');
            full.push_str(word);
        }
        return Some(full.into());
    }
    let once = words().filter(|word| *word == last.as_bytes()).count() == 1;
    let at_end = words().next_back() == Some(last.as_bytes());
    (once && at_end && main.is_empty() && per.is_empty()).then(|| name.into())
}

/// Whether a name is words with one underscore between them, and does not begin with a digit.
fn is_plain(name: &[u8]) -> bool {
    let mut after = b'_';
    for byte in name {
        if !(is_word(*byte) || (*byte == b'_' && after != b'_')) {
            return false;
        }
        after = *byte;
    }
    after != b'_' && !name.first().is_some_and(u8::is_ascii_digit)
}

/// The words of a unit that a name which `has` other words gets.
fn ends<'u>(unit: &'u UnitWords<'_>, has: impl Fn(&str) -> bool) -> (&'u str, &'u str) {
    let new = |word: &'u str| {
        if word.is_empty() || has(word) {
            ""
        } else {
            word
        }
    };
    let per = if unit.per == "per_" {
        ""
    } else {
        new(&unit.per)
    };
    let main = new(&unit.main);
    if per.is_empty() {
        (main, per)
    } else {
        (main.strip_suffix('_').unwrap_or(main), per)
    }
}

/// The words of a name; more of them than usual go to the heap.
type Words<'n> = SmallVec<[&'n str; 16]>;

/// The words of the name between underscores, then those of the unit that it does not have yet.
fn with_suffixes(name: &str, unit: &UnitWords<'_>, suffix: Suffix) -> String {
    let separates = |letter: char| !u8::try_from(letter).is_ok_and(is_word);
    let mut words: Words<'_> = name
        .split(separates)
        .filter(|word| !word.is_empty())
        .collect();
    let (main, per) = ends(unit, |word| words.contains(&word));
    words.extend([main, per].into_iter().filter(|word| !word.is_empty()));
    if suffix != Suffix::Unit {
        words.retain(|word| **word != *suffix.word());
        words.push(suffix.word());
    }
    words.join("_")
}

/// Whether a byte, as a character, is part of a word.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b':'
}

/// Runs of invalid characters as one underscore, at the ends as none.
fn without_suffixes(name: &str) -> String {
    let invalid = |letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, ':' | '_'));
    let parts: Vec<&str> = name
        .split(invalid)
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("_")
}

/// The name byte for byte with suffixes; only its end decides whether it has them already.
fn unescaped(name: &str, unit: &UnitWords<'_>, suffix: Suffix) -> String {
    let mut name = match suffix {
        Suffix::Ratio => without_end(name, "ratio"),
        Suffix::Total => without_end(name, "total"),
        Suffix::Unit => name,
    };
    if !unit.per.is_empty() {
        name = without_end(name, &unit.per);
    }
    let mut full = name.to_owned();
    let mut append = |word: &str| {
        full.push('_');
        full.push_str(word);
    };
    if !unit.main.is_empty() && !name.ends_with(&*unit.main) {
        append(&unit.main);
    }
    if !unit.per.is_empty() {
        append(&unit.per);
    }
    match suffix {
        Suffix::Total => append("total"),
        Suffix::Ratio => append("ratio"),
        Suffix::Unit => {}
    }
    full
}

/// `name` without `end` and the one character before it, whatever that is; unchanged when nothing
/// would be left.
fn without_end<'n>(name: &'n str, end: &str) -> &'n str {
    let Some(rest) = name.strip_suffix(end) else {
        return name;
    };
    let mut letters = rest.chars();
    letters.next_back();
    if letters.as_str().is_empty() {
        name
    } else {
        letters.as_str()
    }
}

/// Guards a leading digit; refuses what has no letter left.
fn checked(mut name: String, original: &str) -> Option<String> {
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert(0, '_');
    }
    let hollow = name.bytes().all(|byte| byte == b'_') && name != original;
    (!name.is_empty() && !hollow).then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Vector {
        name: String,
        unit: String,
        r#type: String,
        monotonic: bool,
        strategy: NamingStrategy,
        expected: Option<String>,
    }

    fn vectors() -> Vec<Vector> {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/data/otlp_names.json"
        );
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn every_naming_vector_gives_its_expected_name() {
        let vectors = vectors();
        assert_eq!(vectors.len(), 261);
        for vector in vectors {
            let suffix = match vector.r#type.as_str() {
                "gauge" => Suffix::Ratio,
                "sum" if vector.monotonic => Suffix::Total,
                _ => Suffix::Unit,
            };
            assert_eq!(
                metric_name(&vector.name, &vector.unit, suffix, vector.strategy).as_deref(),
                vector.expected.as_deref(),
                "{:?} of {} {:?} with unit {:?}",
                vector.strategy,
                vector.r#type,
                vector.name,
                vector.unit
            );
        }
    }

    #[test]
    fn a_delimiter_of_several_bytes_is_cut_as_one_character() {
        let strategy = NamingStrategy::NoUtf8EscapingWithSuffixes;
        let name = metric_name("aétotal", "", Suffix::Total, strategy);
        assert_eq!(name.as_deref(), Some("a_total"));
    }

    #[test]
    fn a_metric_without_a_name_is_refused_whatever_its_unit() {
        for strategy in [
            NamingStrategy::UnderscoreEscapingWithSuffixes,
            NamingStrategy::UnderscoreEscapingWithoutSuffixes,
            NamingStrategy::NoUtf8EscapingWithSuffixes,
            NamingStrategy::NoTranslation,
        ] {
            assert_eq!(metric_name("", "By", Suffix::Unit, strategy), None);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn a_short_cut_leads_to_the_same_name(
            words in proptest::collection::vec(
                prop::sample::select(vec!["a", "total", "ratio", "bytes", "per", "second", "x:", "7", "_", ".", "é"]),
                1..6,
            ),
            unit in prop::sample::select(vec!["", "1", "By", "s", "By/s", "a/b_", "total", "/s", "1/total", "é", "x_"]),
            between in prop::sample::select(vec!["_", "", "."]),
            suffix in prop::sample::select(vec![Suffix::Unit, Suffix::Total, Suffix::Ratio]),
        ) {
            let name = words.join(between);
            let unit = UnitWords::of(unit).escaped();
            if let Some(short) = appended(&name, &unit, suffix) {
                let long = checked(with_suffixes(&name, &unit, suffix), &name);
                prop_assert_eq!(Some(&*short), long.as_deref());
            }
        }
    }
}
