//! The queries of the PromQL compliance suite in, proof that all of them parse out.
//!
//! The suite lies beside the repository in `../shared/promql-compliance`; without it the test says so and
//! passes.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    reason = "a test program: a suite that cannot be read stops it"
)]

use std::path::Path;

use promql::parse::parse;

const BINARY: &str = "+ - * / % ^ == != < > <= >=";

/// The values that a placeholder of a template stands for.
fn variants(name: &str) -> Vec<&'static str> {
    let values = match name {
        "range" => "1s 15s 1m 5m 15m 1h",
        "offset" => "1m 5m 10m",
        "simpleAggrOp" => "sum avg max min count stddev stdvar",
        "simpleTimeAggrOp" => "sum avg max min count stddev stdvar absent last",
        "topBottomOp" => "topk bottomk",
        "quantile" => "-0.5 0.1 0.5 0.75 0.95 0.90 0.99 1 1.5",
        "arithBinOp" => "+ - * / % ^",
        "compBinOp" => "== != < > <= >=",
        "binOp" => BINARY,
        "simpleMathFunc" => "abs ceil floor exp sqrt ln log2 log10 round",
        "extrapolatedRateFunc" => "delta rate increase",
        "clampFunc" => "clamp_min clamp_max",
        "instantRateFunc" => "idelta irate",
        "dateFunc" => "day_of_month day_of_week days_in_month hour minute month year",
        other => panic!("unknown placeholder {other:?}"),
    };
    values.split(' ').collect()
}

/// Replaces every `{{.name}}` by each of its values.
fn expand(template: &str) -> Vec<String> {
    let Some(start) = template.find("{{.") else {
        return vec![template.to_owned()];
    };
    let end = start + template[start..].find("}}").unwrap();
    let placeholder = &template[start..end + 2];
    let name = &template[start + 3..end];
    variants(name)
        .into_iter()
        .flat_map(|value| expand(&template.replace(placeholder, value)))
        .collect()
}

/// The text of a YAML scalar in quotes.
fn unquoted(scalar: &str) -> String {
    match scalar.strip_prefix('\'') {
        Some(rest) => rest.strip_suffix('\'').unwrap().replace("''", "'"),
        None => scalar
            .trim_matches('"')
            .replace("\\\"", "\"")
            .replace("\\\\", "\\"),
    }
}

#[test]
fn every_query_of_the_compliance_suite_parses() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/promql-compliance/promql-test-queries.yml");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!(
            "SKIPPED: the compliance suite is not there: {}",
            path.display()
        );
        return;
    };
    let templates = text
        .lines()
        .filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("query: "))
        .map(unquoted);
    let queries: Vec<String> = templates.flat_map(|template| expand(&template)).collect();
    assert_eq!(queries.len(), 539);
    for query in &queries {
        match parse(query) {
            Ok(expr) => assert_eq!(
                parse(&expr.to_string()).unwrap().to_string(),
                expr.to_string()
            ),
            // The one query that must already fail here.
            Err(error) => assert_eq!(
                (query.as_str(), error.message.as_str()),
                (
                    "{__name__=~\".*\"}",
                    "vector selector must contain at least one non-empty matcher"
                )
            ),
        }
    }
}
