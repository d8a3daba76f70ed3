//! The golden files in, proof that all their evaluations hold out, under the switches that the corpus assumes
//! and under the defaults of a server.

use std::path::{Path, PathBuf};

use promql::select::Features;

use crate::run::CORPUS;

/// Files about what a server has switched off.
const SWITCHED_ON: [&str; 1] = ["start_timestamps.test"];

/// Name and text of each file.
pub(crate) fn texts() -> Vec<(String, String)> {
    crate::files(&folder())
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// All that fails, as `file:line message`.
fn failures(files: &[(String, String)], features: Features) -> (usize, Vec<String>) {
    let mut passed = 0;
    let mut wrong = Vec::new();
    for (name, text) in files {
        let tally = crate::file(text, features);
        passed += tally.passed;
        let failed = tally.failed.iter();
        wrong.extend(failed.map(|(line, message)| format!("{name}:{line} {message}")));
    }
    (passed, wrong)
}

#[test]
fn every_golden_evaluation_holds() {
    let files = texts();
    assert!(!files.is_empty());
    let (passed, wrong) = failures(&files, CORPUS);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{passed} golden evaluations in {} files", files.len());
}

#[test]
fn every_golden_evaluation_holds_on_a_server_with_default_switches() {
    let mut files = texts();
    files.retain(|(name, _)| !SWITCHED_ON.contains(&name.as_str()));
    let (_, wrong) = failures(&files, Features::default());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
