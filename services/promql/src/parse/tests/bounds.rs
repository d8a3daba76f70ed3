//! Hostile nesting is refused before it can overflow a thread's stack.

use super::super::{MAX_DEPTH, MAX_QUERY_BYTES, parse, parse_metric_selector};

/// Threads of an async runtime have this much.
const STACK: usize = 2 * 1024 * 1024;

fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap()
}

/// Ways to nest: what stands before, what stands in the middle, what stands behind, per level.
const NESTINGS: [(&str, &str, &str); 14] = [
    ("(", "x", ")"),
    ("sum(", "x", ")"),
    ("-", "x", ""),
    ("- -", "x", ""),
    ("", "x", "+x"),
    ("x+", "x", ""),
    ("", "x", "^x"),
    ("", "x", " or x"),
    ("x * (", "x", ")"),
    ("", "x", "[1m:]"),
    ("rate(", "x", "[1m:])"),
    ("abs(", "x", ")"),
    ("topk(1, ", "x", ")"),
    ("a or b and c == d + e * f ^ (", "x", ")"),
];

fn nested((before, middle, behind): (&str, &str, &str), levels: usize) -> String {
    format!("{}{middle}{}", before.repeat(levels), behind.repeat(levels))
}

#[test]
fn the_deepest_expressions_are_parsed_printed_cloned_and_dropped_on_a_small_stack() {
    on_a_small_stack(|| {
        for nesting in NESTINGS {
            // The deepest that is accepted: each way of nesting counts its levels differently.
            let deepest = (1..=MAX_DEPTH)
                .rev()
                .map(|levels| nested(nesting, levels))
                .find_map(|text| parse(&text).ok().map(|expr| (text, expr)));
            let Some((text, expr)) = deepest else {
                assert_eq!(
                    nesting.2, "[1m:]",
                    "only nested subqueries do not fit each other"
                );
                continue;
            };
            assert_eq!(expr, expr.clone());
            assert_eq!(
                parse(&expr.to_string()).unwrap().to_string(),
                expr.to_string(),
                "{text}"
            );
            assert!(!crate::format::pretty(&expr).is_empty());
        }
    });
}

#[test]
fn deeper_expressions_are_refused_with_a_clear_error() {
    for nesting in NESTINGS {
        for levels in [MAX_DEPTH + 1, 2000] {
            let text = nested(nesting, levels);
            let error = on_a_small_stack(move || parse(&text).unwrap_err());
            let expected = "expression is nested too deeply: at most 200 levels are allowed";
            assert_eq!(error.message, expected, "{nesting:?} {levels}");
        }
    }
}

#[test]
fn deep_durations_are_refused_with_a_clear_error() {
    for nesting in [
        ("(", "1", ")"),
        ("-", "step()", ""),
        ("", "1", "+1"),
        ("", "1", "^1"),
        ("min_of(1,", "1", ")"),
    ] {
        for (place, levels) in [
            ("x[", 3000),
            ("x[", 60),
            ("x[1h:", 100),
            ("x offset (", 200),
        ] {
            let end = if place.starts_with("x[") { "]" } else { ")" };
            let text = format!("{place}{}{end}", nested(nesting, levels));
            let error = on_a_small_stack(move || parse(&text).unwrap_err());
            assert!(
                error.message.starts_with("expression is nested too deeply"),
                "{nesting:?}: {error}"
            );
        }
    }
    let deepest = format!("x[{}]", nested(("(1+", "1", ")"), 15));
    assert!(on_a_small_stack(move || parse(&deepest).is_ok()));
}

#[test]
fn unclosed_nesting_is_refused_without_reading_on() {
    for text in [
        "(".repeat(10_000),
        "sum(".repeat(10_000),
        "x[(".to_owned(),
        "{".repeat(10_000),
        "-".repeat(60_000),
    ] {
        assert!(on_a_small_stack(move || parse(&text).is_err()));
    }
}

#[test]
fn long_queries_are_refused_by_their_length() {
    let longest = format!("x{}", " ".repeat(MAX_QUERY_BYTES - 1));
    assert!(parse(&longest).is_ok());
    let error = parse(&format!("{longest} ")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "1:1: parse error: query is too long: 65537 bytes, at most 65536 are allowed"
    );
    assert!(parse_metric_selector(&format!("{longest} ")).is_err());
}

#[test]
fn many_arguments_and_matchers_are_no_nesting() {
    let arguments = vec!["\"a\""; 10_000].join(",");
    assert!(parse(&format!("label_join(x, \"a\", {arguments})")).is_ok());
    let matchers = vec!["a=\"b\""; 8000].join(",");
    assert!(parse(&format!("x{{{matchers}}}")).is_ok());
}
