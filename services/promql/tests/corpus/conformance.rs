//! The golden files and the crate's own tables in, `CONFORMANCE.md` out: what is supported, how well, and
//! which evaluations prove it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use promql::ast::{AggregateOp, BinaryOp};
use promql::functions::FUNCTIONS;
use promql::parse::{MAX_DEPTH, MAX_DURATION_DEPTH, MAX_QUERY_BYTES, parse};

use crate::features::{self, Feature, Group};
use crate::ledger::Ledger;
use crate::run::CORPUS;
use crate::script::Command;
use crate::{Tally, golden};

/// Where a row's proof stands.
struct Case {
    /// How deep inside the expression the feature stands: the shallower, the plainer the proof.
    depth: usize,
    file: usize,
    line: usize,
}

/// Most proofs that a row lists.
const SHOWN: usize = 3;

/// Headings of the tables, and what stands above each.
const TABLES: [(Group, &str); 7] = [
    (Group::Function, "Functions"),
    (Group::Operator, "Operators"),
    (Group::Aggregation, "Aggregations"),
    (Group::Modifier, "Modifiers"),
    (Group::Selector, "Selectors"),
    (Group::Duration, "Durations"),
    (Group::Literal, "Literals"),
];

const MODIFIERS: [&str; 17] = [
    "by",
    "without",
    "bool",
    "on",
    "ignoring",
    "group_left",
    "group_right",
    "fill",
    "fill_left",
    "fill_right",
    "offset",
    "offset -",
    "@",
    "@ start()",
    "@ end()",
    "anchored",
    "smoothed",
];

const SELECTORS: [&str; 9] = [
    "name",
    "\"quoted name\"",
    "=",
    "!=",
    "=~",
    "!~",
    "[range]",
    "[range:step]",
    "[range:]",
];

const DURATIONS: [&str; 14] = [
    "duration", "number", "+", "-", "*", "/", "%", "^", "unary -", "( )", "step()", "range()",
    "min_of", "max_of",
];

const LITERALS: [&str; 4] = ["number", "duration", "string", "( )"];

/// Modifiers, operators and aggregations that Prometheus 3 keeps behind a switch.
const EXPERIMENTAL: [Feature; 7] = [
    (Group::Modifier, "fill"),
    (Group::Modifier, "fill_left"),
    (Group::Modifier, "fill_right"),
    (Group::Modifier, "anchored"),
    (Group::Modifier, "smoothed"),
    (Group::Aggregation, "limitk"),
    (Group::Aggregation, "limit_ratio"),
];

/// Where the answer is knowingly not Prometheus'.
const DEVIATIONS: [(Feature, &str); 3] = [
    (
        (Group::Literal, "string"),
        "a text is UTF-8: an escape that makes other bytes, such as `\\xff`, is refused",
    ),
    (
        (Group::Function, "label_replace"),
        "a label value of more than 64 KiB is an error",
    ),
    (
        (Group::Function, "label_join"),
        "a label value of more than 64 KiB is an error",
    ),
];

/// Where the part begins that can be checked only beside the corpus.
const CORPUS_HEADING: &str = "## Prometheus' own corpus";

/// All rows in order.
fn rows() -> Vec<Feature> {
    let functions = FUNCTIONS.iter().map(|one| (Group::Function, one.name));
    let operators = BinaryOp::ALL.iter().map(|op| op.symbol());
    let operators = operators.chain(["unary -", "unary +"]);
    let aggregations = AggregateOp::ALL.iter().map(|op| op.name());
    functions
        .chain(operators.map(|name| (Group::Operator, name)))
        .chain(aggregations.map(|name| (Group::Aggregation, name)))
        .chain(MODIFIERS.map(|name| (Group::Modifier, name)))
        .chain(SELECTORS.map(|name| (Group::Selector, name)))
        .chain(DURATIONS.map(|name| (Group::Duration, name)))
        .chain(LITERALS.map(|name| (Group::Literal, name)))
        .collect()
}

/// The passing golden evaluations that use each feature, the plainest first.
fn proofs(files: &[(String, String)]) -> BTreeMap<Feature, Vec<Case>> {
    let mut proofs: BTreeMap<Feature, Vec<Case>> = BTreeMap::new();
    for (file, (_, text)) in files.iter().enumerate() {
        let tally = crate::file(text, CORPUS);
        for command in crate::script::commands(text) {
            let Command::Eval(eval) = command else {
                continue;
            };
            let line = eval.line;
            // A refusal proves nothing about what is refused.
            if tally.failed.contains_key(&line) || eval.expect.fail.is_some() {
                continue;
            }
            let mut found = features::of(&parse(&eval.expr).unwrap()).0;
            found.sort();
            found.dedup_by_key(|(feature, _)| *feature);
            for (feature, depth) in found {
                proofs
                    .entry(feature)
                    .or_default()
                    .push(Case { depth, file, line });
            }
        }
    }
    for cases in proofs.values_mut() {
        cases.sort_by_key(|case| case.depth);
    }
    proofs
}

fn is_experimental(feature: Feature) -> bool {
    match feature.0 {
        Group::Function => FUNCTIONS
            .iter()
            .any(|one| one.name == feature.1 && one.experimental),
        Group::Duration => feature.1 != "duration",
        _ => EXPERIMENTAL.contains(&feature),
    }
}

fn row(feature: Feature, cases: &[Case], files: &[(String, String)]) -> String {
    let deviation = DEVIATIONS.iter().find(|(known, _)| *known == feature);
    let state = match (cases, deviation) {
        ([], _) => "**missing**".to_owned(),
        (_, Some((_, text))) => format!("exact, but {text}"),
        (_, None) => "exact".to_owned(),
    };
    let shown = cases.iter().take(SHOWN);
    let mut proof: Vec<String> = shown
        .map(|case| format!("{}:{}", files[case.file].0, case.line))
        .collect();
    if cases.len() > SHOWN {
        proof.push(format!("{} more", cases.len() - SHOWN));
    }
    let trial = if is_experimental(feature) { "yes" } else { "" };
    format!(
        "| `{}` | {state} | {trial} | {} |\n",
        feature.1,
        proof.join(", ")
    )
}

/// The page up to the part about the corpus.
fn page(files: &[(String, String)], proofs: &BTreeMap<Feature, Vec<Case>>) -> String {
    let mut page = "# What of PromQL is answered, and what proves it\n\n\
        Written by the test `the_conformance_page_is_up_to_date` (`UPDATE=1 cargo test -p promql --test corpus`); do \
        not edit.\nThe measure is Prometheus 3: values, labels, errors and remarks. Experimental there means behind a \
        switch there; here\neverything is on. Proofs are evaluations in `tests/golden`, the plainest first.\n"
        .to_owned();
    for (group, heading) in TABLES {
        page.push_str(&format!("\n## {heading}\n\n"));
        page.push_str("| | state | experimental there | proven by |\n| --- | --- | --- | --- |\n");
        for feature in rows().into_iter().filter(|feature| feature.0 == group) {
            let cases = proofs.get(&feature).map_or(&[][..], Vec::as_slice);
            page.push_str(&row(feature, cases, files));
        }
    }
    page.push_str(&bounds());
    page
}

/// What is refused here and not there, so that no query can exhaust a process.
fn bounds() -> String {
    format!(
        "\n## Bounds\n\nRefused with an error that says so:\n\n\
         - a query of more than {MAX_QUERY_BYTES} bytes, nested more than {MAX_DEPTH} levels deep, or {MAX_DURATION_DEPTH} in a \
         duration;\n\
         - more steps, in the query or in a subquery, than it may hold samples, before any is computed;\n\
         - regexes that compile to more than 32 MiB together;\n\
         - a label value of more than 64 KiB made by `label_replace` or `label_join`.\n\n\
         Of warnings and infos the first 1,000 different ones are kept.\n"
    )
}

/// The part about the corpus.
fn corpus_part(folder: &Path) -> String {
    let ledger = Ledger::read();
    let mut part = format!(
        "{CORPUS_HEADING}\n\nEvaluations of each file, run in all their forms. Checked only where the corpus is at hand.\n\n\
         | file | pass | fail |\n| --- | ---: | ---: |\n"
    );
    let (mut passed, mut failed) = (0, 0);
    for path in crate::files(folder) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Tally {
            passed: pass,
            failed: fail,
        } = crate::file(&std::fs::read_to_string(&path).unwrap(), CORPUS);
        part.push_str(&format!("| {name} | {pass} | {} |\n", fail.len()));
        passed += pass;
        failed += fail.len();
    }
    part.push_str(&format!("| **all** | {passed} | {failed} |\n"));
    for (place, reason) in ledger.entries() {
        part.push_str(&format!("\n`{place}` fails: {reason}.\n"));
    }
    part
}

fn written() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("CONFORMANCE.md")
}

#[test]
fn the_conformance_page_is_up_to_date() {
    let files = golden::texts();
    let now = page(&files, &proofs(&files));
    let before = std::fs::read_to_string(written()).unwrap_or_default();
    let (before_page, before_corpus) = match before.split_once(&format!("\n{CORPUS_HEADING}")) {
        Some((page, rest)) => (page, format!("{CORPUS_HEADING}{rest}")),
        None => (before.as_str(), String::new()),
    };
    let corpus = match crate::corpus() {
        Some(folder) => corpus_part(&folder),
        None => before_corpus.clone(),
    };
    if std::env::var_os("UPDATE").is_some() {
        return std::fs::write(written(), format!("{now}\n{corpus}")).unwrap();
    }
    let advice = "CONFORMANCE.md is out of date: run this test with UPDATE=1";
    for (before, now) in before_page.lines().zip(now.lines()) {
        assert_eq!(before, now, "{advice}");
    }
    assert!(before_page == now, "{advice}");
    assert!(before_corpus == corpus, "{advice}");
}

#[test]
fn every_part_of_the_language_is_proven_by_a_golden_evaluation() {
    let rows = rows();
    let proofs = proofs(&golden::texts());
    let missing: Vec<_> = rows
        .iter()
        .filter(|row| !proofs.contains_key(row))
        .collect();
    assert!(missing.is_empty(), "no golden evaluation uses {missing:?}");
    let unknown: Vec<_> = proofs.keys().filter(|used| !rows.contains(used)).collect();
    assert!(unknown.is_empty(), "no row of the page for {unknown:?}");
}

#[test]
fn a_part_without_a_proof_is_called_missing() {
    let feature = (Group::Function, "no_such_function");
    assert_eq!(
        row(feature, &[], &[]),
        "| `no_such_function` | **missing** |  |  |\n"
    );
}
