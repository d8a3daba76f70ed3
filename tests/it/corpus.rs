//! Prometheus' own corpus, loaded through the gateway and asked over HTTP: the files of the stable language,
//! as far as they need numbers only.

use std::collections::BTreeMap;

use tests::oracle::{say, shared};
use tests::stack::Stack;

use crate::corpus_http::{Tenant, Verdicts, sections};
use crate::oracle_compare::roomy;
use crate::oracle_ledger::Ledger;
use crate::script::commands;

/// The files of the stable language.
const FILES: [&str; 13] = [
    "aggregators",
    "at_modifier",
    "collision",
    "functions",
    "histograms",
    "literals",
    "name_label_dropping",
    "operators",
    "range_queries",
    "selectors",
    "staleness",
    "subquery",
    "trig_functions",
];

#[tokio::test]
async fn the_corpus_passes_over_http_unless_the_ledger_says_why_not() {
    let Some(folder) = shared("promqltest") else {
        return;
    };
    let files: Vec<_> = FILES
        .iter()
        .map(|name| {
            let text = std::fs::read_to_string(folder.join(format!("{name}.test"))).unwrap();
            (*name, sections(commands(&text)))
        })
        .collect();
    let count: usize = files.iter().map(|(_, sections)| sections.len()).sum();
    let mut stack = Stack::prepare();
    // Samples are loaded behind queries: their series must be seen at once.
    stack.set("SLUICE__QUERY__CATALOGUE__TTL", "1ms");
    // A tenant for each stretch between two `clear`.
    let keys = stack.fill(|directory| -> Vec<_> {
        (0..count)
            .map(|number| roomy(directory, &format!("section-{number}")))
            .collect()
    });
    stack.run().await;
    let mut tenants = keys.iter().map(|keys| Tenant::new(&stack, keys));
    let (mut total, mut differing) = (Verdicts::default(), BTreeMap::new());
    for (name, sections) in files {
        let mut verdicts = Verdicts::default();
        for section in sections {
            tenants.next().unwrap().run(section, &mut verdicts).await;
        }
        say(&format!(
            "{name}: {} passed, {} failed, {} need native histograms",
            verdicts.passed,
            verdicts.failed.len(),
            verdicts.left_out
        ));
        total.passed += verdicts.passed;
        total.left_out += verdicts.left_out;
        for (line, what) in verdicts.failed {
            differing.insert(format!("{name}.test:{line}"), what);
        }
    }
    say(&format!(
        "corpus over HTTP: {} of {} passed, {} left out",
        total.passed,
        total.passed + differing.len(),
        total.left_out
    ));
    Ledger::read(include_str!("corpus_ledger.txt")).settle(&differing);
}
