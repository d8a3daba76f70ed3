//! Files of PromQL evaluations in, a verdict for every evaluation in them out: Prometheus' own corpus, held
//! against a ledger of the failures that are known, and the files in `golden`, which must all pass.
//!
//! The corpus lies beside the repository in `../shared/promqltest`; without it the test says so and passes.
//! `PROMQL_CORPUS=functions.test:120` runs what starts with that, and shows all that fails.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    reason = "a test program: a corpus that cannot be read stops it"
)]

#[path = "corpus/script.rs"]
mod script;
#[path = "corpus/sequence.rs"]
mod sequence;
#[path = "corpus/histograms.rs"]
mod histograms;
#[path = "corpus/expect.rs"]
mod expect;
#[path = "corpus/store.rs"]
mod store;
#[path = "corpus/pinned.rs"]
mod pinned;
#[path = "corpus/run.rs"]
mod run;
#[path = "corpus/compare.rs"]
mod compare;
#[path = "corpus/ledger.rs"]
mod ledger;
#[path = "corpus/golden.rs"]
mod golden;
#[path = "corpus/features.rs"]
mod features;
#[path = "corpus/conformance.rs"]
mod conformance;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ledger::Ledger;
use promql::select::Features;
use run::{CORPUS, Engine};
use script::Command;
use store::Store;

/// What became of the evaluations of one file.
#[derive(Default)]
struct Tally {
    passed: usize,
    /// Line and what went wrong.
    failed: BTreeMap<usize, String>,
}

#[test]
fn every_evaluation_of_the_corpus_passes_unless_the_ledger_says_why_not() {
    let Some(folder) = corpus() else {
        println!("SKIPPED: the corpus is not there");
        return;
    };
    let only = std::env::var("PROMQL_CORPUS").ok();
    let ledger = Ledger::read();
    let mut wrong = Vec::new();
    let (mut passed, mut failed) = (0, 0);
    for path in files(&folder) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if only
            .as_ref()
            .is_some_and(|only| !only.starts_with(&name) && !name.starts_with(only.as_str()))
        {
            continue;
        }
        let tally = file(&std::fs::read_to_string(&path).unwrap(), CORPUS);
        println!(
            "{name:28} {:4} passed {:4} failed",
            tally.passed,
            tally.failed.len()
        );
        passed += tally.passed;
        failed += tally.failed.len();
        if let Some(only) = &only {
            for (line, message) in &tally.failed {
                if !only.contains(':') || *only == format!("{name}:{line}") {
                    println!("  {name}:{line} {message}");
                }
            }
        }
        wrong.extend(ledger.differences(&name, &tally.failed));
    }
    println!("{:28} {passed:4} passed {failed:4} failed", "total");
    if only.is_none() {
        wrong.extend(ledger.unused());
        assert!(
            wrong.is_empty(),
            "{} differences:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    }
}

/// Where the corpus is, if it is there.
fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/promqltest");
    folder.canonicalize().ok()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "test")
        })
        .collect();
    files.sort();
    files
}

fn file(text: &str, features: Features) -> Tally {
    let mut store = Store::default();
    let mut tally = Tally::default();
    for command in script::commands(text) {
        match command {
            Command::Clear => store.clear(),
            Command::Load { with_nhcb, series } => store.load(&series, with_nhcb),
            Command::Eval(eval) => {
                let engine = Engine {
                    store: &store,
                    features,
                };
                let verdict = catch_unwind(AssertUnwindSafe(|| run::eval(&eval, &engine)));
                let verdict = verdict.unwrap_or_else(|_| Err("panicked".to_owned()));
                match verdict {
                    Ok(()) => tally.passed += 1,
                    Err(message) => {
                        tally
                            .failed
                            .insert(eval.line, format!("{}: {message}", eval.expr));
                    }
                }
            }
        }
    }
    tally
}

#[test]
fn what_is_expected_wrongly_is_noticed() {
    let loaded = "load 1m\n  a{x=\"1\"} 1 2 3\n  h {{schema:0 sum:1 count:1 buckets:[1]}}x3\n\n";
    let failures = |eval: &str| file(&format!("{loaded}{eval}\n"), CORPUS).failed.len();
    let instant = |rest: &str| failures(&format!("eval instant at 1m {rest}"));
    assert_eq!(instant("a\n  a{x=\"1\"} 2"), 0);
    assert_eq!(instant("a\n  a{x=\"1\"} 2.00001"), 1);
    assert_eq!(instant("a\n  a{x=\"2\"} 2"), 1);
    assert_eq!(instant("a"), 1);
    assert_eq!(instant("a\n  a{x=\"1\"} 2\n  b 1"), 1);
    assert_eq!(instant("1 + 1\n  3"), 1);
    assert_eq!(instant("a\n  expect fail"), 1);
    assert_eq!(instant("a\n  expect info\n  a{x=\"1\"} 2"), 1);
    assert_eq!(
        instant("rate(a[2m])\n  expect no_info\n  {x=\"1\"} 0.0166666"),
        1
    );
    assert_eq!(instant("h\n  h {{schema:0 sum:1 count:1 buckets:[1]}}"), 0);
    assert_eq!(
        instant("h\n  h {{schema:0 sum:1 count:1 offset:1 buckets:[1]}}"),
        1
    );
    assert_eq!(
        instant("h\n  h {{schema:0 sum:1 count:1 buckets:[1] counter_reset_hint:gauge}}"),
        1
    );
    assert_eq!(
        failures("eval range from 0 to 2m step 1m a\n  a{x=\"1\"} 1 2 3"),
        0
    );
    assert_eq!(
        failures("eval range from 0 to 2m step 1m a\n  a{x=\"1\"} 1 2"),
        1
    );
    assert_eq!(
        failures("eval range from 0 to 2m step 1m a\n  a{x=\"1\"} 1 _ 3"),
        1
    );
}
