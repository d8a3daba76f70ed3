//! Every naming vector, pushed with a key of its strategy and read back.

use auth::translation::NamingStrategy;
use serde::Deserialize;
use serde_json::{Value, json};
use tests::ask::{Vector, labels};
use tests::clock::this_second;
use tests::otlp;
use tests::stack::Stack;

/// A row of `data/otlp_names.json`.
#[derive(Deserialize)]
struct Row {
    name: String,
    unit: String,
    #[serde(rename = "type")]
    kind: Kind,
    monotonic: bool,
    strategy: NamingStrategy,
    /// `None`: must be rejected.
    expected: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Gauge,
    Sum,
    Histogram,
    ExpHistogram,
    Summary,
}

const STRATEGIES: [NamingStrategy; 4] = [
    NamingStrategy::UnderscoreEscapingWithSuffixes,
    NamingStrategy::UnderscoreEscapingWithoutSuffixes,
    NamingStrategy::NoUtf8EscapingWithSuffixes,
    NamingStrategy::NoTranslation,
];

#[tokio::test]
async fn all_261_vectors_read_back_under_the_names_that_the_spec_gives_them() {
    let rows: Vec<Row> = serde_json::from_str(include_str!("../data/otlp_names.json")).unwrap();
    assert_eq!(rows.len(), 261);
    let (stack, (keys, strategy_keys)) = Stack::with(|directory| {
        let keys = directory.tenant("names");
        let per_strategy = STRATEGIES.map(|strategy| directory.ingest_naming("names", strategy));
        (keys, per_strategy)
    })
    .await;
    let ask = stack.ask_with(&keys.tenant, &keys.query);
    let at = this_second();

    let mut expected = Vector::new();
    for (strategy, key) in STRATEGIES.iter().zip(&strategy_keys) {
        let ours: Vec<(usize, &Row)> = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.strategy == *strategy)
            .collect();
        let metrics: Vec<Value> = ours
            .iter()
            .map(|(case, row)| metric(*case, row, at))
            .collect();
        let answer = stack
            .ingest_with(key)
            .json(&otlp::request(&[], &metrics))
            .await;
        check_rejects(*strategy, &ours, &answer.partial());
        for (case, row) in ours {
            expect(&mut expected, case, row, at);
        }
    }

    let found = ask.instant("{case=~\".+\"}", at).await;
    for (set, sample) in &expected {
        assert_eq!(found.get(set), Some(sample), "{set:?}");
    }
    assert_eq!(found.len(), expected.len(), "more series than were pushed");
}

/// Counts by hand what a strategy's push must lose, and compares.
fn check_rejects(strategy: NamingStrategy, rows: &[(usize, &Row)], partial: &(i64, String)) {
    let unnamed = rows
        .iter()
        .filter(|(_, row)| row.expected.is_none())
        .count();
    let unsupported = rows.iter().filter(|(_, row)| !row.kind.is_stored()).count();
    let (count, message) = partial;
    assert_eq!(
        usize::try_from(*count).unwrap(),
        unnamed + unsupported,
        "{strategy:?}: {message}"
    );
    for (points, reason) in [
        (unnamed, "invalid_metric_name"),
        (unsupported, "unsupported_type"),
    ] {
        let noun = if points == 1 { "point" } else { "points" };
        let sentence = format!("{points} {noun} rejected: {reason};");
        assert_eq!(
            points > 0,
            message.contains(&sentence),
            "{strategy:?}: {message}"
        );
    }
}

impl Kind {
    /// Whether this version stores such points.
    fn is_stored(self) -> bool {
        !matches!(self, Self::ExpHistogram | Self::Summary)
    }
}

/// The metric of a vector, one point, told apart by label `case`.
fn metric(case: usize, row: &Row, at: i64) -> Value {
    let case = case.to_string();
    let tag: otlp::Pairs<'_> = &[("case", &case)];
    let value: f64 = case.parse().unwrap();
    match row.kind {
        Kind::Gauge => otlp::gauge(&row.name, &row.unit, &[otlp::number(tag, at, value)]),
        Kind::Sum => {
            let points = [otlp::number(tag, at, value)];
            otlp::sum(&row.name, &row.unit, &points, row.monotonic)
        }
        Kind::Histogram => {
            let points = [otlp::observations(tag, at, value, &[2.5], &[1, 2])];
            otlp::histogram(&row.name, &row.unit, &points)
        }
        Kind::ExpHistogram => json!({
            "name": row.name, "unit": row.unit,
            "exponentialHistogram": {"aggregationTemporality": 2, "dataPoints": [{
                "attributes": otlp::attributes(tag), "timeUnixNano": otlp::nanos(at),
                "count": "1", "sum": value, "scale": 0, "zeroCount": "1",
            }]},
        }),
        Kind::Summary => json!({
            "name": row.name, "unit": row.unit,
            "summary": {"dataPoints": [{
                "attributes": otlp::attributes(tag), "timeUnixNano": otlp::nanos(at),
                "count": "1", "sum": value, "quantileValues": [{"quantile": 0.5, "value": value}],
            }]},
        }),
    }
}

/// The series that a stored vector must give.
fn expect(into: &mut Vector, case: usize, row: &Row, at: i64) {
    let Some(name) = row.expected.as_deref().filter(|_| row.kind.is_stored()) else {
        return;
    };
    let case = case.to_string();
    let mut add = |suffix: &str, le: Option<&str>, value: &str| {
        let name = format!("{name}{suffix}");
        let mut set = labels([("__name__", name.as_str()), ("case", &case)]);
        set.extend(labels(le.map(|bound| ("le", bound))));
        into.insert(set, (at, value.to_owned()));
    };
    if !matches!(row.kind, Kind::Histogram) {
        add("", None, &case);
        return;
    }
    add("_bucket", Some("2.5"), "1");
    add("_bucket", Some("+Inf"), "3");
    add("_count", None, "3");
    add("_sum", None, &case);
}
