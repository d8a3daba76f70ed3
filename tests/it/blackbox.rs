//! The mistakes that other PromQL systems have made, each of which must not happen here: the tables of
//! `blackbox_tables`, and what only the HTTP API can show.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tests::ask::{Ask, failure, labels, seconds, success};
use tests::clock::{MINUTE, this_second};
use tests::otlp;
use tests::stack::Stack;

use crate::blackbox_tables::{COMBINING, COMPUTING, Case, SELECTING};
use crate::corpus_http::{Tenant, Verdicts, sections};
use crate::oracle_compare::roomy;
use crate::script::commands;

/// Cases that are tests of the HTTP API, below.
const OF_THE_API: [u32; 12] = [2, 6, 9, 10, 28, 29, 30, 35, 43, 44, 45, 46];

#[test]
fn every_case_is_in_a_table_or_a_test_of_the_api() {
    let tables = [SELECTING, COMPUTING, COMBINING].concat();
    let found: BTreeSet<u32> = tables
        .iter()
        .map(|(number, ..)| *number)
        .chain(OF_THE_API)
        .collect();
    assert_eq!(found, (1..=48).collect());
}

#[tokio::test]
async fn selectors_and_windows_make_none_of_the_known_mistakes() {
    table(SELECTING).await;
}

#[tokio::test]
async fn functions_make_none_of_the_known_mistakes() {
    table(COMPUTING).await;
}

#[tokio::test]
async fn operators_and_aggregations_make_none_of_the_known_mistakes() {
    table(COMBINING).await;
}

async fn table(cases: &[Case]) {
    let mut stack = Stack::prepare();
    stack.set("SLUICE__QUERY__CATALOGUE__TTL", "1ms");
    let parts: Vec<_> = cases
        .iter()
        .map(|(number, rule, script)| (number, rule, sections(commands(script))))
        .collect();
    let count: usize = parts.iter().map(|(.., sections)| sections.len()).sum();
    let keys = stack.fill(|directory| -> Vec<_> {
        (0..count)
            .map(|number| roomy(directory, &format!("case-{number}")))
            .collect()
    });
    stack.run().await;
    let mut keys = keys.iter();
    let mut wrong = Vec::new();
    for (number, rule, sections) in parts {
        let mut verdicts = Verdicts::default();
        for section in sections {
            let tenant = Tenant::new(&stack, keys.next().unwrap());
            tenant.run(section, &mut verdicts).await;
        }
        assert!(verdicts.passed + verdicts.failed.len() > 0, "{number}");
        assert_eq!(verdicts.left_out, 0, "{number}");
        for what in verdicts.failed.values() {
            wrong.push(format!("case {number}, {rule}: {what}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Cases 2, 6, 9, 10, 28, 29, 30, 35, 43, 44, 45 and 46.
#[tokio::test]
async fn the_api_makes_none_of_the_known_mistakes() {
    let stack = Stack::start().await;
    let at = this_second();
    let points = |name: &'static str| {
        ["1", "2", "3"].map(|a| otlp::number(&[("a", a), (name, "v")], at - MINUTE, 0.1))
    };
    let metrics = [
        otlp::gauge("first", "By", &points("only_first")),
        otlp::gauge("second", "", &points("only_second")),
    ];
    stack.ingest().all(&otlp::request(&[], &metrics)).await;
    let ask = stack.ask();
    label_endpoints(&ask, at).await;
    forms(&ask).await;
    limits_and_metadata(&ask).await;
    repeats(&ask, at).await;
}

/// 2: `match[]` is honoured by `/labels`; 9, 28, 29, 46: the metric browser's questions are answered;
/// 10, 35: only what exists in the days asked for.
async fn label_endpoints(ask: &Ask, at: i64) {
    let only = ask
        .strings("/api/v1/labels", &[("match[]", "first_bytes")])
        .await;
    assert_eq!(only, ["__name__", "a", "only_first"], "case 2");
    let all = ask.strings("/api/v1/labels", &[]).await;
    assert_eq!(
        all,
        ["__name__", "a", "only_first", "only_second"],
        "cases 9 and 28"
    );
    let names = ask.strings("/api/v1/label/__name__/values", &[]).await;
    assert_eq!(names, ["first_bytes", "second"], "cases 9 and 46");
    let values = ask
        .strings("/api/v1/label/a/values", &[("match[]", "second")])
        .await;
    assert_eq!(values, ["1", "2", "3"], "case 29");
    let none = ask.strings("/api/v1/label/unknown/values", &[]).await;
    assert_eq!(none, Vec::<String>::new(), "case 29");
    let before = [
        ("start", &*seconds(at - 5 * 24 * 60 * MINUTE)),
        ("end", &*seconds(at - 3 * 24 * 60 * MINUTE)),
    ];
    let none = ask.strings("/api/v1/label/a/values", &before).await;
    assert_eq!(none, Vec::<String>::new(), "cases 10 and 35");
}

/// 6, 45: forms in bodies are read; without a selector the words are Prometheus'.
async fn forms(ask: &Ask) {
    let form = [("match[]", "first_bytes{a=\"1\"}")];
    let found = success(&ask.post("/api/v1/series", &form).await, "case 6");
    let set = labels([("__name__", "first_bytes"), ("a", "1"), ("only_first", "v")]);
    assert_eq!(found, serde_json::json!([set]), "case 6");
    let found = success(&ask.post("/api/v1/labels", &form).await, "case 45");
    assert_eq!(
        found,
        serde_json::json!(["__name__", "a", "only_first"]),
        "case 45"
    );
    let wrong = ask
        .post("/api/v1/series", &[("match", "first_bytes")])
        .await;
    assert_eq!(wrong.status, 400, "case 45");
    let words = (
        "bad_data".to_owned(),
        "no match[] parameter provided".to_owned(),
    );
    assert_eq!(failure(&wrong), words, "case 45");
}

/// 43: a limit of 0 is none; 44: metadata honours its parameters.
async fn limits_and_metadata(ask: &Ask) {
    let all = [("match[]", "first_bytes"), ("limit", "0")];
    let found = success(&ask.get("/api/v1/series", &all).await, "case 43");
    assert_eq!(found.as_array().unwrap().len(), 3, "case 43");
    let found = ask
        .strings("/api/v1/label/a/values", &[("limit", "0")])
        .await;
    assert_eq!(found, ["1", "2", "3"], "case 43");
    let of = async |parameters: &[(&str, &str)]| -> BTreeMap<String, Value> {
        let data = ask.data("/api/v1/metadata", parameters).await;
        serde_json::from_value(data).unwrap()
    };
    let found = of(&[("metric", "first_bytes")]).await;
    assert_eq!(found.keys().collect::<Vec<_>>(), ["first_bytes"], "case 44");
    assert_eq!(found["first_bytes"][0]["unit"], "bytes", "case 44");
    assert_eq!(of(&[("limit", "1")]).await.len(), 1, "case 44");
    assert_eq!(of(&[]).await.len(), 2, "case 44");
}

/// 30: many queries at once give what one gives.
async fn repeats(ask: &Ask, at: i64) {
    let query = "sum(first_bytes) + avg(second)";
    let one = ask.evaluate(query, at).await;
    // 0.1 three times, compensated, and 0.1.
    assert_eq!(one["result"][0]["value"][1], "0.4", "case 30");
    let many = futures::future::join_all((0..20).map(|_| ask.evaluate(query, at))).await;
    for other in many {
        assert_eq!(other, one, "case 30");
    }
}
