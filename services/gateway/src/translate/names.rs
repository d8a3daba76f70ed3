//! Turns an OTLP metric name into the name that Prometheus knows it by.
//!
//! Behaviour of Prometheus' `otlptranslator`, pinned by `tests/data/otlp_names.json`.

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
pub(super) fn metric_name(
    name: &str,
    unit: &str,
    suffix: Suffix,
    strategy: NamingStrategy,
) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    let suffix = if suffix == Suffix::Ratio && unit != "1" {
        Suffix::Unit
    } else {
        suffix
    };
    match strategy {
        NamingStrategy::UnderscoreEscapingWithSuffixes => checked(
            with_suffixes(name, &UnitWords::of(unit).escaped(), suffix),
            name,
        ),
        NamingStrategy::UnderscoreEscapingWithoutSuffixes => checked(without_suffixes(name), name),
        NamingStrategy::NoUtf8EscapingWithSuffixes => {
            Some(unescaped(name, &UnitWords::of(unit), suffix))
        }
        NamingStrategy::NoTranslation => Some(name.to_owned()),
    }
}

/// The words of a name; more of them than usual go to the heap.
type Words<'n> = SmallVec<[&'n str; 16]>;

/// The words of the name between underscores, then those of the unit that it does not have yet.
fn with_suffixes(name: &str, unit: &UnitWords<'_>, suffix: Suffix) -> String {
    let separates = |letter: char| !(letter.is_ascii_alphanumeric() || letter == ':');
    let mut words: Words<'_> = name
        .split(separates)
        .filter(|word| !word.is_empty())
        .collect();
    let has = |word: &str| words.contains(&word);
    let per = if unit.per == "per_" || has(&unit.per) {
        ""
    } else {
        &unit.per
    };
    let main = if has(&unit.main) { "" } else { &unit.main };
    let main = if per.is_empty() {
        main
    } else {
        main.strip_suffix('_').unwrap_or(main)
    };
    words.extend([main, per].into_iter().filter(|word| !word.is_empty()));
    match suffix {
        Suffix::Total => move_to_end(&mut words, "total"),
        Suffix::Ratio => move_to_end(&mut words, "ratio"),
        Suffix::Unit => {}
    }
    words.join("_")
}

fn move_to_end(words: &mut Words<'_>, word: &'static str) {
    words.retain(|other| **other != *word);
    words.push(word);
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
                metric_name(&vector.name, &vector.unit, suffix, vector.strategy),
                vector.expected,
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
}
