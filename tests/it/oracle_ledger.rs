//! A list of known differences, `case ## reason` → what it does not name, and what it names in vain.

use std::collections::BTreeMap;

/// Cases that may differ.
pub(crate) struct Ledger {
    entries: BTreeMap<String, String>,
}

impl Ledger {
    /// Reads the text of a ledger.
    pub(crate) fn read(text: &str) -> Self {
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let entries = lines.map(|line| {
            let (case, reason) = line
                .split_once(" ## ")
                .unwrap_or_else(|| panic!("the ledger gives no reason: {line}"));
            (case.to_owned(), reason.to_owned())
        });
        Self {
            entries: entries.collect(),
        }
    }

    /// Fails unless the cases that differ are the ones listed. Answers how many these are.
    pub(crate) fn settle(&self, differing: &BTreeMap<String, String>) -> usize {
        let unlisted = differing
            .iter()
            .filter(|(case, _)| !self.entries.contains_key(*case))
            .map(|(case, what)| format!("differs: {case}\n    {what}"));
        let vain = self
            .entries
            .keys()
            .filter(|case| !differing.contains_key(*case))
            .map(|case| format!("listed but equal: {case}"));
        let wrong: Vec<String> = unlisted.chain(vain).collect();
        assert!(
            wrong.is_empty(),
            "{} against the ledger:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
        differing.len()
    }
}

#[test]
fn a_ledger_is_held_in_both_directions() {
    let ledger = Ledger::read("# words\na ## because\n");
    let differing = |case: &str| BTreeMap::from([(case.to_owned(), "x".to_owned())]);
    assert_eq!(ledger.settle(&differing("a")), 1);
    for wrong in [differing("b"), BTreeMap::new()] {
        assert!(std::panic::catch_unwind(|| ledger.settle(&wrong)).is_err());
    }
}
