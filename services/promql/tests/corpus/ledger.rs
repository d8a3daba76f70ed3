//! The list of known failures: `file:line reason`, held against what fails in both directions.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Ledger {
    entries: BTreeMap<String, String>,
    met: RefCell<BTreeSet<String>>,
}

impl Ledger {
    pub(crate) fn read() -> Self {
        let lines = include_str!("ledger.txt").lines().map(str::trim);
        let entries = lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| {
                let (place, reason) = line.split_once(' ').unwrap_or((line, ""));
                assert!(
                    !reason.trim().is_empty(),
                    "the ledger gives no reason for {place}"
                );
                (place.to_owned(), reason.trim().to_owned())
            });
        Self {
            entries: entries.collect(),
            met: RefCell::default(),
        }
    }

    /// Places and reasons.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&String, &String)> {
        self.entries.iter()
    }

    /// Failures of a file that are not listed, and listed ones that pass.
    pub(crate) fn differences(&self, file: &str, failed: &BTreeMap<usize, String>) -> Vec<String> {
        let mut wrong = Vec::new();
        for (line, message) in failed {
            let place = format!("{file}:{line}");
            if self.entries.contains_key(&place) {
                self.met.borrow_mut().insert(place);
            } else {
                wrong.push(format!("fails: {place} {message}"));
            }
        }
        wrong
    }

    /// Entries that no failure met: they pass now, or name no evaluation.
    pub(crate) fn unused(&self) -> Vec<String> {
        let met = self.met.borrow();
        let unused = self.entries.keys().filter(|place| !met.contains(*place));
        unused
            .map(|place| format!("listed but does not fail: {place}"))
            .collect()
    }
}
