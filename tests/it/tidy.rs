//! The source tree keeps its rules.

use std::path::{Path, PathBuf};

use regex::Regex;

/// Longest source file, lines.
const MAX_LINES: usize = 400;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Every Rust source: path from the root, text.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for top in [
        "services", "schemas", "proto", "loadtest", "deploy", "tests",
    ] {
        collect(&root().join(top), &mut found);
    }
    assert!(found.len() > 50, "the sources were not found");
    found
}

fn collect(folder: &Path, found: &mut Vec<(String, String)>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.map(|entry| entry.unwrap().path()) {
        let hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_dir() && !hidden {
            collect(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let name = path
                .strip_prefix(root())
                .unwrap()
                .to_string_lossy()
                .into_owned();
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The paths of the sources that break a rule.
fn breaking(rule: impl Fn(&str, &str) -> bool) -> Vec<String> {
    sources()
        .into_iter()
        .filter(|(path, text)| rule(path, text))
        .map(|(path, _)| path)
        .collect()
}

/// The part of a file before its unit tests.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap()
}

/// Whether a whole file is unit tests.
fn is_tests(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs")
}

#[test]
fn no_source_file_is_longer_than_400_lines() {
    let long = breaking(|_, text| text.lines().count() > MAX_LINES);
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn every_source_file_opens_by_saying_what_it_is() {
    let silent = breaking(|_, text| !text.starts_with("//! "));
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn modules_are_named_after_their_files_and_for_what_they_do() {
    let vague = Regex::new(r"/(mod|common|utils?|helpers?|misc)(\.rs|/)").unwrap();
    let bad = breaking(|path, _| vague.is_match(path));
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn sql_is_written_in_few_places() {
    let sql = Regex::new(
        r"\b(SELECT\s+[\w*?({]|INSERT\s+INTO|CREATE\s+(TABLE|DATABASE|MATERIALIZED)|ALTER\s+TABLE|DROP\s+(TABLE|DATABASE)|DELETE\s+FROM)",
    )
    .unwrap();
    let allowed = |path: &str| {
        path.starts_with("schemas/")
            || path.starts_with("services/query/src/fetch/sql")
            || path.starts_with("services/control/src/store")
            // The engine is ClickHouse: statements are what it is given.
            || path.starts_with("services/embedded/")
            || is_tests(path)
    };
    let code = Regex::new(r"(?m)^\s*//.*$").unwrap();
    let found = breaking(|path, text| {
        !allowed(path) && sql.is_match(&code.replace_all(without_tests(text), ""))
    });
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn promql_stays_pure() {
    let allowed = [
        "memchr",
        "regex",
        "regex-syntax",
        "ryu",
        "smallvec",
        "thiserror",
        "xxhash-rust",
        "serde",
    ];
    let manifest = std::fs::read_to_string(root().join("services/promql/Cargo.toml")).unwrap();
    let dependencies = manifest
        .split("[dependencies]")
        .nth(1)
        .unwrap()
        .split("\n[")
        .next()
        .unwrap();
    for line in dependencies
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
    {
        let name = line.split(['.', ' ', '=']).next().unwrap();
        assert!(allowed.contains(&name), "promql must not depend on {name}");
    }
    let clock = Regex::new(r"\basync\b|SystemTime|Instant::now|std::(fs|net|env)|tokio").unwrap();
    let comment = Regex::new(r"(?m)//.*$").unwrap();
    let bad = breaking(|path, text| {
        path.starts_with("services/promql/src/")
            && !is_tests(path)
            && clock.is_match(&comment.replace_all(without_tests(text), ""))
    });
    assert!(bad.is_empty(), "{bad:?}");
}

/// The standard library's have other last bits than Prometheus', and other ones on other machines.
#[test]
fn promql_takes_elementary_functions_from_its_own_module() {
    let names = "exp|exp2|exp_m1|ln|ln_1p|log|log2|log10|powf|powi|cbrt|hypot|sin|cos|tan|sin_cos|\
        asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh";
    let theirs = Regex::new(&format!(r"\.({names})\(|f(32|64)::({names})\b")).unwrap();
    let bad = breaking(|path, text| {
        path.starts_with("services/promql/src/")
            && !is_tests(path)
            && theirs.is_match(without_tests(text))
    });
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn translation_does_no_io_and_reads_no_clock() {
    let clock =
        Regex::new(r"\basync fn|SystemTime|Instant::now|std::(fs|net|env)|tokio|Timestamp::now")
            .unwrap();
    let bad = breaking(|path, text| {
        path.starts_with("services/gateway/src/translate")
            && !is_tests(path)
            && clock.is_match(without_tests(text))
    });
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn tasks_are_started_in_one_place() {
    let spawn = Regex::new(r"tokio::(task::)?spawn\(").unwrap();
    let bad =
        breaking(|path, text| spawn.is_match(text) && path != "services/runtime/src/tasks.rs");
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn unsafe_code_is_in_the_embedded_engine_only() {
    let bad = breaking(|path, text| {
        !path.starts_with("services/embedded/")
            && text.lines().any(|line| {
                let line = line.trim_start();
                !line.starts_with("//") && (line.contains("unsafe {") || line.contains("unsafe fn"))
            })
            && path != "tests/it/tidy.rs"
    });
    assert!(bad.is_empty(), "{bad:?}");
}
