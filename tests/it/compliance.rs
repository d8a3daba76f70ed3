//! The queries of the PromQL compliance suite, asked of the gateway and of Prometheus about the same data.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::oracle::{say, shared};
use tests::otlp;

use crate::compliance_data as data;
use crate::oracle_compare::{Pair, Question, differences};
use crate::oracle_ledger::Ledger;

/// The values that a placeholder of a template stands for.
const VARIANTS: [(&str, &str); 15] = [
    ("range", "1s 15s 1m 5m 15m 1h"),
    ("offset", "1m 5m 10m"),
    ("simpleAggrOp", "sum avg max min count stddev stdvar"),
    (
        "simpleTimeAggrOp",
        "sum avg max min count stddev stdvar absent last",
    ),
    ("topBottomOp", "topk bottomk"),
    ("quantile", "-0.5 0.1 0.5 0.75 0.95 0.90 0.99 1 1.5"),
    ("arithBinOp", "+ - * / % ^"),
    ("compBinOp", "== != < > <= >="),
    ("binOp", "+ - * / % ^ == != < > <= >="),
    (
        "simpleMathFunc",
        "abs ceil floor exp sqrt ln log2 log10 round",
    ),
    ("extrapolatedRateFunc", "delta rate increase"),
    ("clampFunc", "clamp_min clamp_max"),
    ("instantRateFunc", "idelta irate"),
    (
        "dateFunc",
        "day_of_month day_of_week days_in_month hour minute month year",
    ),
    ("smoothingFactor", "0.1 0.5 0.8"),
];

/// Replaces every `{{.name}}` by each of its values.
fn expand(template: &str) -> Vec<String> {
    let Some((before, rest)) = template.split_once("{{.") else {
        return vec![template.to_owned()];
    };
    let (name, after) = rest.split_once("}}").unwrap();
    let (_, values) = VARIANTS
        .iter()
        .find(|(known, _)| *known == name)
        .unwrap_or_else(|| panic!("unknown placeholder {name:?}"));
    // A name stands for the same value wherever it occurs.
    let placeholder = format!("{{{{.{name}}}}}");
    values
        .split(' ')
        .flat_map(|value| {
            expand(&format!(
                "{before}{value}{}",
                after.replace(&placeholder, value)
            ))
        })
        .collect()
}

/// The text of a YAML scalar.
fn unquoted(scalar: &str) -> String {
    match scalar.strip_prefix('\'') {
        Some(rest) => rest.strip_suffix('\'').unwrap().replace("''", "'"),
        None => scalar
            .trim_matches('"')
            .replace("\\\"", "\"")
            .replace("\\\\", "\\"),
    }
}

/// All queries of the suite; `None` where it is not there.
fn queries() -> Option<Vec<String>> {
    let path = shared("promql-compliance")?.join("promql-test-queries.yml");
    let text = std::fs::read_to_string(path).unwrap();
    let queries: Vec<String> = text
        .lines()
        .filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("query: "))
        .flat_map(|scalar| expand(&unquoted(scalar)))
        .collect();
    assert_eq!(queries.len(), 539);
    Some(queries)
}

fn question(query: &str) -> Question {
    Question::Range {
        query: query.to_owned(),
        start: data::START,
        end: data::END,
        step: 10_000,
    }
}

#[tokio::test]
async fn the_compliance_queries_answer_as_prometheus_does_however_histograms_are_pushed() {
    let Some(queries) = queries() else { return };
    let Some(pair) = Pair::start(&data::tracks()).await else {
        return;
    };
    let questions: Vec<Question> = queries.iter().map(|query| question(query)).collect();
    let found = pair.differences(&questions).await;
    let differing: BTreeMap<String, String> = found
        .into_iter()
        .map(|(position, what)| (queries[position].clone(), what))
        .collect();
    let equal = queries.len() - differing.len();
    let listed = Ledger::read(include_str!("compliance_ledger.txt")).settle(&differing);
    say(&format!(
        "compliance: {equal} of {} equal, {listed} in the ledger",
        queries.len()
    ));
    whole(&pair).await;
}

/// The same histograms, pushed whole: what reads them must not notice.
async fn whole(pair: &Pair) {
    let ingest = pair.stack.ingest_with(&pair.spare.ingest);
    for points in data::whole().chunks(200) {
        let request = otlp::request(&[], &[histogram(points)]);
        ingest.all(&request).await;
    }
    let queries = [
        "demo_api_request_duration_seconds_bucket",
        "demo_api_request_duration_seconds_bucket{le=~\"0.*\"}",
        "demo_api_request_duration_seconds_count",
        "demo_api_request_duration_seconds_sum",
        "{__name__=~\"demo_api_request_duration_seconds_.+\"}",
        "histogram_quantile(0.9, {__name__=~\"demo_api_request_duration_seconds_.+\"})",
        "count_values(\"value\", demo_api_request_duration_seconds_bucket)",
        "histogram_quantile(0.5, rate(demo_api_request_duration_seconds_bucket[1m]))",
        "histogram_quantile(0.99, sum by (le) (rate(demo_api_request_duration_seconds_bucket[5m])))",
        "rate(demo_api_request_duration_seconds_sum[1m]) / rate(demo_api_request_duration_seconds_count[1m])",
        "increase(demo_api_request_duration_seconds_bucket[15m])",
        "resets(demo_api_request_duration_seconds_count[1h])",
    ];
    let questions = queries.map(question);
    let ask = pair.stack.ask_with(&pair.spare.tenant, &pair.spare.query);
    let found = differences(&ask, &pair.oracle.ask(), &questions).await;
    let lines: Vec<String> = found
        .into_iter()
        .map(|(position, what)| format!("{}: {what}", queries[position]))
        .collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

fn histogram(points: &[data::Whole]) -> Value {
    let points: Vec<Value> = points
        .iter()
        .map(|point| {
            let pairs: Vec<(&str, &str)> = point
                .labels
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            let mut value =
                otlp::observations(&pairs, point.ts, point.sum, &data::BOUNDS, &point.counts);
            value["startTimeUnixNano"] = json!("0");
            value
        })
        .collect();
    otlp::histogram("demo_api_request_duration_seconds", "", &points)
}
