//! Queries meant to hurt in, a short refusal or a plain answer out, without the memory they ask for.

#![expect(
    clippy::unwrap_used,
    reason = "a test program: what cannot be set up stops it"
)]

#[path = "hostile/ask.rs"]
mod ask;
#[path = "hostile/values.rs"]
mod values;

use std::cell::Cell;

use promql::error::EvalError;
use promql::eval::{evaluate, evaluate_with};
use promql::labels::Labels;
use promql::parse::parse;
use promql::select::{Params, Plan};
use promql::series::{Floats, Series, SeriesSet};

use ask::{TOO_MANY, answer, instant, on_a_small_stack, peak_kib, series};

#[test]
fn megabytes_of_query_are_refused_by_their_length() {
    let refusal = "1:1: parse error: query is too long: 1048576 bytes, at most 65536 are allowed";
    for text in ["x", "(", "-", "{", "\"", "["] {
        assert_eq!(instant(&text.repeat(1 << 20)), refusal);
    }
}

#[test]
fn a_hundred_thousand_levels_are_refused() {
    on_a_small_stack(|| {
        let nested = |levels: usize| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
        assert_eq!(
            instant(&nested(100_000)),
            "1:1: parse error: query is too long: 200001 bytes, at most 65536 are allowed"
        );
        for text in [nested(30_000), "(".repeat(60_000)] {
            let answer = instant(&text);
            let refusal = "expression is nested too deeply: at most 200 levels are allowed";
            assert!(answer.ends_with(refusal), "{answer}");
        }
    });
}

#[test]
fn monstrous_regexes_are_refused() {
    on_a_small_stack(|| {
        for (regex, refusal) in [
            ("(".repeat(50_000), "missing closing )"),
            (
                format!("{}{}", "(".repeat(30_000), ")".repeat(30_000)),
                "expression nests too deeply",
            ),
            (
                "x{1000}{1000}".to_owned(),
                "invalid nested repetition operator",
            ),
            ("(x{1000}){1000}".to_owned(), "invalid repeat count"),
            ("((x{100}){100}){100}".to_owned(), "invalid repeat count"),
            ("x{1001}".to_owned(), "invalid repeat count"),
            ("x{99999999999999999999}".to_owned(), "invalid repeat count"),
            (r"(?:\\pL{1000}x){1}".repeat(100), "expression too large"),
        ] {
            let answer = instant(&format!("x{{b=~\"{regex}\"}}"));
            let start = format!("1:3: parse error: error parsing regexp: {refusal}: `");
            assert!(answer.starts_with(&start), "{answer:.200}");
        }
    });
}

#[test]
fn thousands_of_great_regexes_are_refused_together() {
    let matchers = |count: usize, regex: &str| vec![format!("b=~\"{regex}\""); count].join(",");
    let answer = instant(&format!("x{{{}}}", matchers(3000, r"\\pL{100}")));
    let refusal = "error parsing regexp: the regexes of the query are too large together: `";
    assert!(answer.contains(refusal), "{answer:.200}");
    // Thousands of small ones are no harm.
    assert_eq!(instant(&format!("x{{{}}}", matchers(3000, ".*"))), "3");
}

#[test]
fn a_billion_steps_are_refused_before_anything_is_allocated() {
    let before = peak_kib();
    for query in [
        "1",
        "-1",
        "time()",
        "vector(1)",
        "x",
        "x @ 1",
        "-x",
        "x + x",
        "x > 1",
        "x or y",
        "sum(x)",
        "topk(1, x)",
        "count_values(\"v\", x)",
        "rate(x[5m])",
        "rate(x[5m] anchored)",
        "x smoothed",
        "absent(y)",
        "info(x)",
        "timestamp(x)",
        "max_over_time(x[1h:1m])",
    ] {
        let params = Params::range(0, 1_000_000_000_000, 1000);
        assert_eq!(answer(query, params), TOO_MANY, "{query}");
    }
    let all_of_time = Params::range(i64::MIN, i64::MAX, 1);
    assert_eq!(answer("x", all_of_time), TOO_MANY);
    assert!(peak_kib() - before < 64 * 1024, "{} KiB", peak_kib());
}

#[test]
fn giant_subqueries_are_refused_before_anything_is_allocated() {
    let before = peak_kib();
    for query in [
        "x[10y:1ms]",
        "sum_over_time(x[10y:1ms])",
        "absent_over_time(y[10y:1ms])",
        "max_over_time(vector(1)[10y:1ms])",
        "max_over_time(max_over_time(x[1h:1s])[10y:1s])",
        "sum_over_time(x[292y:1ms] @ 9223372036854775)",
    ] {
        assert_eq!(instant(query), TOO_MANY, "{query}");
    }
    assert!(peak_kib() - before < 64 * 1024, "{} KiB", peak_kib());
    // One step in a great window is no harm.
    assert_eq!(instant("count_over_time(x[10y:250y])"), "");
}

#[test]
fn scalars_that_wait_for_their_other_side_count_as_well() {
    let waiting = format!("{}time(){}", "(time() + ".repeat(60), ")".repeat(60));
    let params = Params {
        max_samples: 1_000_000,
        ..Params::range(0, 100_000, 1)
    };
    assert_eq!(answer("time() + (time() + time())", params), "1 series");
    assert_eq!(answer(&waiting, params), TOO_MANY);
}

#[test]
fn label_values_do_not_grow_without_end() {
    let doubled = (0..60).fold("x".to_owned(), |inner, _| {
        format!(r#"label_replace({inner}, "a", "$1$1", "a", "(.*)")"#)
    });
    assert_eq!(
        instant(&doubled),
        "label_replace() makes a label value of 131072 bytes or more, at most 65536 are allowed"
    );
    let tripled = (0..60).fold("x".to_owned(), |inner, _| {
        format!(r#"label_join({inner}, "a", "", "a", "a", "a")"#)
    });
    assert_eq!(
        instant(&tripled),
        "label_join() makes a label value of 177147 bytes or more, at most 65536 are allowed"
    );
    assert_eq!(
        instant(r#"label_replace(x, "a", "$1$1", "a", "(.*)")"#),
        "3"
    );
}

/// Scenario: windows of an hour slide over one dense series, which takes long; the client leaves.
/// Guarantees: the evaluation notices in the middle of the series, on both ways that windows are read.
#[test]
fn a_single_long_series_can_be_cancelled_in_its_middle() {
    for query in ["max_over_time(x[1h])", "quantile_over_time(0.5, x[1h])"] {
        let ts: Vec<i64> = (0..10_000).map(|at| at * 1000).collect();
        let floats = Floats {
            values: vec![1.0; ts.len()],
            ts,
            starts: Vec::new(),
        };
        let series = Series {
            labels: Labels::from_pairs([("__name__", "x")]),
            floats,
            ..Series::default()
        };
        let params = Params::range(0, 10_000_000, 1000);
        let plan = Plan::new(parse(query).unwrap(), params).unwrap();
        let asked = Cell::new(0);
        let leave_at = |limit: usize| {
            asked.set(0);
            let set = SeriesSet {
                series: vec![series.clone()],
            };
            evaluate_with(&plan, vec![set], &|| {
                asked.set(asked.get() + 1);
                asked.get() > limit
            })
        };
        assert!(leave_at(usize::MAX).is_ok());
        assert!(asked.get() > 100, "{query}: asked {} times", asked.get());
        assert_eq!(leave_at(50).unwrap_err(), EvalError::Cancelled);
        assert!(asked.get() < 60, "{query}: asked {} times", asked.get());
    }
}

#[test]
fn remarks_are_bounded_however_many_steps_make_them() {
    let params = Params::range(600_000, 1_600_000, 100);
    let plan = Plan::new(parse("quantile_over_time(time(), x[5m])").unwrap(), params).unwrap();
    let answer = evaluate(&plan, vec![series(600_000)]).unwrap();
    assert_eq!(answer.warnings.len(), 1000);
}
