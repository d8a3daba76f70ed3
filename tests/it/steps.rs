//! What many tests compare: values with tolerance, a range query with the instant queries at its steps.

use std::collections::BTreeMap;

use tests::ask::{Ask, Labels, Matrix, Vector, labels};

/// Relative difference that rounding may leave; everything else is an error.
const ROUNDING: f64 = 1e-12;

/// An instant vector that a test expects: labels and value of each series.
pub(crate) type Expected<'a> = &'a [(&'a [(&'a str, &'a str)], f64)];

/// Fails unless `query` gives exactly the label sets of `expected` with their values.
pub(crate) async fn gives(ask: &Ask, query: &str, at: i64, expected: Expected<'_>) {
    let found = ask.instant(query, at).await;
    let wanted: BTreeMap<Labels, f64> = expected
        .iter()
        .map(|(pairs, value)| (labels(pairs.iter().copied()), *value))
        .collect();
    assert_eq!(
        wanted.len(),
        expected.len(),
        "{query}: the test lists a label set twice"
    );
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        wanted.keys().collect::<Vec<_>>(),
        "{query}: {found:?}"
    );
    for ((set, (time, text)), value) in found.iter().zip(wanted.values()) {
        assert_eq!(*time, at, "{query}: a value of another time");
        assert!(
            same(text, *value),
            "{query}: {set:?} is {text}, not {value}"
        );
    }
}

fn same(text: &str, wanted: f64) -> bool {
    let found: f64 = text.parse().unwrap();
    if wanted.is_nan() {
        return text == "NaN";
    }
    found == wanted || (found - wanted).abs() <= ROUNDING * wanted.abs()
}

/// Fails unless a range query of `query` over `times` (evenly spaced) gives at each of them what the
/// instant query gives, to the last digit. Answers the number of values compared.
pub(crate) async fn range_equals_instants(ask: &Ask, query: &str, times: &[i64]) -> usize {
    let step = times[1] - times[0];
    let end = times[times.len() - 1];
    let mut by_time = turned(ask.range(query, times[0], end, step).await);
    let mut compared = 0;
    for &time in times {
        let instant = ask.instant(query, time).await;
        let ranged = by_time.remove(&time).unwrap_or_default();
        assert_eq!(ranged, instant, "{query} at {time}");
        compared += instant.len();
    }
    assert!(
        by_time.is_empty(),
        "{query}: values between the steps: {by_time:?}"
    );
    compared
}

/// A matrix, by time.
fn turned(matrix: Matrix) -> BTreeMap<i64, Vector> {
    let mut by_time: BTreeMap<i64, Vector> = BTreeMap::new();
    for (set, samples) in matrix {
        for (time, value) in samples {
            by_time
                .entry(time)
                .or_default()
                .insert(set.clone(), (time, value));
        }
    }
    by_time
}
