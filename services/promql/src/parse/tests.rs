//! What the parser accepts, what it refuses in which words, and that nothing overflows its stack.

mod bounds;
mod dashboards;
mod invalid_operators;
mod invalid_selectors;
mod printed;
mod properties;
mod valid;

use std::sync::LazyLock;

use super::{Options, parse, parse_metric_selector, parse_with};
use crate::ast::{At, Duration, Expr, ExprKind, MatchOp, Matcher};

fn printed(text: &str) -> String {
    match parse(text) {
        Ok(expr) => expr.to_string(),
        Err(error) => format!("{text:?}: {error}"),
    }
}

fn error(text: &str) -> String {
    match parse(text) {
        Ok(expr) => format!("{text:?} is {expr}"),
        Err(error) => error.to_string(),
    }
}

/// The expression without the positions in it, which printing changes.
fn shape(expr: &Expr) -> String {
    static SPANS: LazyLock<regex::Regex> =
        LazyLock::new(|| regex::Regex::new(r"(selector_)?span: \d+\.\.\d+,?").unwrap());
    SPANS.replace_all(&format!("{expr:?}"), "").into_owned()
}

#[test]
fn valid_queries_are_printed_as_prometheus_prints_them() {
    for text in valid::UNCHANGED {
        assert_eq!(printed(text), *text);
    }
    for (text, expected) in printed::PRINTED {
        assert_eq!(printed(text), *expected, "{text:?}");
    }
}

#[test]
fn printed_queries_read_back_as_the_same_expression() {
    let texts = valid::UNCHANGED
        .iter()
        .chain(printed::PRINTED.iter().map(|(text, _)| text));
    for text in texts {
        let expr = parse(text).unwrap();
        let again = parse(&expr.to_string()).unwrap();
        assert_eq!(
            shape(&again),
            shape(&parse(&again.to_string()).unwrap()),
            "{text:?}"
        );
        // Once printed, nothing changes any more.
        assert_eq!(again.to_string(), expr.to_string(), "{text:?}");
    }
}

#[test]
fn mistakes_are_told_in_prometheus_words_at_its_position() {
    for (text, expected) in invalid_selectors::ROWS
        .iter()
        .chain(invalid_operators::ROWS)
    {
        assert_eq!(error(text), *expected, "{text:?}");
    }
}

#[test]
fn the_older_names_of_the_choice_between_durations_are_read() {
    assert_eq!(
        printed("x[min(5m, 1m)] offset max(1m, step())"),
        "x[min_of(5m, 1m)] offset max_of(1m, step())"
    );
    assert_eq!(printed("min(x) + max"), "min(x) + max");
}

#[test]
fn literals_that_are_not_utf8_are_refused() {
    let expected = r#"1:5: parse error: error unquoting string "\"\\xff\"": invalid UTF-8"#;
    assert_eq!(error(r#"x{a="\xff"}"#), expected);
    assert_eq!(printed(r#""\xc3\xa9\303\251""#), "\"éé\"");
}

#[test]
fn a_selector_is_read_with_its_name_last() {
    let matcher = |name: &str, op, value: &str| Matcher {
        name: name.into(),
        op,
        value: value.into(),
    };
    assert_eq!(
        parse_metric_selector(r#"up{job=~"a|b", "x.y"!="z"}"#).unwrap(),
        [
            matcher("job", MatchOp::Regex, "a|b"),
            matcher("x.y", MatchOp::NotEqual, "z"),
            matcher("__name__", MatchOp::Equal, "up"),
        ]
    );
    let quoted = parse_metric_selector(r#"{"a.b"}"#).unwrap();
    assert_eq!(quoted, [matcher("__name__", MatchOp::Equal, "a.b")]);
    assert_eq!(parse_metric_selector("{}").unwrap(), []);
}

#[test]
fn what_is_no_selector_is_refused_as_one() {
    let error = |text| parse_metric_selector(text).unwrap_err().to_string();
    assert_eq!(
        error(""),
        "unknown position: parse error: unexpected end of input"
    );
    assert_eq!(error("up[5m]"), "1:3: parse error: unexpected \"[\"");
    assert_eq!(error("sum(up)"), "1:4: parse error: unexpected \"(\"");
    assert_eq!(error("1"), "1:1: parse error: unexpected number \"1\"");
    assert_eq!(
        error("{a=b}"),
        "1:4: parse error: unexpected identifier \"b\" in label matching, expected string"
    );
}

#[test]
fn experimental_parts_can_be_turned_off() {
    let off = Options {
        functions: false,
        duration_expressions: false,
        extended_selectors: false,
        fill: false,
    };
    let error = |text| parse_with(text, off).unwrap_err().to_string();
    let durations = "experimental duration expression is not enabled";
    assert_eq!(
        error("info(x)"),
        "1:1: parse error: function \"info\" is not enabled"
    );
    assert_eq!(
        error("limitk(1, x)"),
        "1:1: parse error: limitk() is experimental and must be enabled with \
         --enable-feature=promql-experimental-functions"
    );
    assert_eq!(
        error("x[5m + 1m]"),
        format!("1:3: parse error: {durations}")
    );
    assert_eq!(error("x[step()]"), format!("1:3: parse error: {durations}"));
    assert_eq!(error("x[(5m)]"), format!("1:4: parse error: {durations}"));
    assert_eq!(
        error("x offset -step()"),
        format!("1:10: parse error: {durations}")
    );
    assert_eq!(
        error("x[min_of(1m, 2m)]"),
        format!("1:10: parse error: {durations}")
    );
    assert_eq!(
        error("x[5m] anchored"),
        "1:1: parse error: anchored modifier is experimental and not enabled"
    );
    assert_eq!(
        error("x smoothed"),
        "1:1: parse error: smoothed modifier is experimental and not enabled"
    );
    assert_eq!(
        error("a + fill (1) b"),
        "1:1: parse error: binop fill modifiers are experimental and not enabled"
    );
    for stable in [
        "x[5m] offset -1m",
        "x[-(-5)]",
        "fill + anchored",
        "rate(x[5m:1m] @ start())",
    ] {
        assert_eq!(
            parse_with(stable, off).is_ok(),
            stable != "x[-(-5)]",
            "{stable:?}"
        );
    }
}

#[test]
fn spans_cover_what_prometheus_counts_to_an_expression() {
    let text = r#"sum by (a) (rate(x{a="b"}[5m] offset 1m)) / (2)"#;
    let covered = |span: &std::ops::Range<usize>| text.get(span.clone()).unwrap();
    let ExprKind::Binary(binary) = parse(text).unwrap().kind else {
        panic!("not an operator")
    };
    assert_eq!(
        covered(&binary.left.span),
        r#"sum by (a) (rate(x{a="b"}[5m] offset 1m))"#
    );
    assert_eq!(covered(&binary.right.span), "(2)");
    let ExprKind::Aggregate(aggregate) = binary.left.kind else {
        panic!("not an aggregation")
    };
    let ExprKind::Call(call) = aggregate.expr.kind else {
        panic!("not a call")
    };
    assert_eq!(covered(&call.args[0].span), r#"x{a="b"}[5m] offset 1m"#);
    let ExprKind::Matrix(matrix) = &call.args[0].kind else {
        panic!("not a range")
    };
    assert_eq!(covered(&matrix.selector_span), r#"x{a="b"}"#);
}

#[test]
fn durations_become_milliseconds_and_times_are_rounded() {
    let ExprKind::Matrix(matrix) = parse("x[1h30m] offset -1.5 @ 1.0005").unwrap().kind else {
        panic!("not a range")
    };
    assert_eq!(matrix.range, Duration::Millis(5_400_000));
    assert_eq!(
        matrix.selector.modifiers.offset,
        Some(Duration::Millis(-1500))
    );
    assert_eq!(matrix.selector.modifiers.at, Some(At::Time(1001)));
}
