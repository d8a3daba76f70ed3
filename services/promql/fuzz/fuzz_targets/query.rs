//! Any bytes in: the parser must answer without panicking, and what it accepts must print to what it accepts.

#![no_main]

use libfuzzer_sys::fuzz_target;
use promql::parse::{parse, parse_metric_selector};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let _ = parse_metric_selector(&text);
    let Ok(expr) = parse(&text) else { return };
    let printed = expr.to_string();
    let again = parse(&printed).expect("what is printed parses");
    assert_eq!(again.to_string(), printed);
    parse(&promql::format::pretty(&expr)).expect("what is laid out parses");
});
