//! Queries that want too much.

use serde_json::json;

use crate::rows::{NOON, Rows};
use crate::service::Service;

fn many(rows: &mut Rows) {
    for id in 1..=20 {
        let samples: Vec<(i64, f64)> = (0..10).map(|n| (n * 10, 1.0)).collect();
        rows.number(("a", "m", id), &[("id", &id.to_string())], &samples);
    }
}

#[tokio::test]
async fn a_query_over_its_budget_of_samples_is_refused_in_prometheus_words() {
    let service = Service::with(|config| config.max_samples = 150, many).await;
    let time = (NOON / 1000 + 90).to_string();
    let (status, answer) = service
        .answer("query", &[("query", "sum(m)"), ("time", &time)])
        .await;
    assert_eq!(status, 422);
    assert_eq!(
        answer,
        json!({
            "status": "error", "errorType": "execution",
            "error": "query processing would load too many samples into memory in query execution",
        })
    );
}

#[tokio::test]
async fn a_query_over_its_budget_of_series_says_how_many_it_may_have() {
    let service = Service::with(|config| config.max_series = 10, many).await;
    let time = (NOON / 1000 + 90).to_string();
    let (status, answer) = service
        .answer("query", &[("query", "m"), ("time", &time)])
        .await;
    assert_eq!(status, 422);
    assert_eq!(
        answer["error"],
        "the query selects more than 10 series; narrow its label matchers"
    );
    let (status, _) = service
        .answer("query", &[("query", r#"m{id="3"}"#), ("time", &time)])
        .await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn a_query_without_time_ends_with_a_timeout() {
    let service = Service::start(many).await;
    let (status, answer) = service
        .answer("query", &[("query", "m"), ("timeout", "0")])
        .await;
    assert_eq!((status, &answer["errorType"]), (503, &json!("timeout")));
    assert_eq!(answer["error"], "query timed out in query execution");
}

/// Names added up as a balanced tree, which nests least.
fn sum_of(names: std::ops::Range<usize>) -> String {
    if names.len() == 1 {
        return format!("m{}", names.start);
    }
    let middle = usize::midpoint(names.start, names.end);
    format!(
        "({}+{})",
        sum_of(names.start..middle),
        sum_of(middle..names.end)
    )
}

#[tokio::test]
async fn a_query_of_thousands_of_selectors_is_refused_before_anything_is_looked_up() {
    let service = Service::start(|_| {}).await;
    let query = sum_of(0..5000);
    for (path, form) in [
        ("query", vec![("query", query.as_str())]),
        (
            "query_range",
            vec![
                ("query", &query),
                ("start", "0"),
                ("end", "9"),
                ("step", "1"),
            ],
        ),
        ("query_exemplars", vec![("query", &query)]),
    ] {
        let (status, answer) = service.answer(path, &form).await;
        assert_eq!((status, &answer["errorType"]), (422, &json!("execution")));
        assert_eq!(
            answer["error"],
            "the query has 5000 selectors, more than 500 of which differ; select several metrics or label \
             values with one regular expression, or ask in several queries",
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_bound_of_selectors_is_a_setting() {
    let service = Service::with(|config| config.max_selectors = 20, |_| {}).await;
    for (query, status) in [
        (sum_of(0..21), 422),
        (sum_of(0..20), 200),
        (format!("{} + {0}", sum_of(0..20)), 200),
    ] {
        let (found, answer) = service.answer("query", &[("query", &query)]).await;
        assert_eq!(found, status, "{answer}");
    }
}
