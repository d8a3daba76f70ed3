//! The notation of series becomes labels and samples: `name{a="b"} 1+2x3 _ stale {{sum:1}}`.

use std::sync::Arc;

use promql::ast::{ExprKind, MatchOp};
use promql::histogram::Histogram;
use promql::labels::Labels;
use promql::parse::{parse, parse_metric_selector};
use promql::series::STALE_NAN;

use crate::histograms;
use crate::script::duration;

/// One value.
#[derive(Clone, Debug)]
pub(crate) enum Sample {
    Float(f64),
    /// A histogram, and whether its text named a reset hint.
    Histogram(Arc<Histogram>, bool),
}

/// Splits a line behind the name and labels of its series.
pub(crate) fn split_series(line: &str) -> (&str, &str) {
    let mut quote = None;
    let mut depth = 0;
    let mut escaped = false;
    for (at, character) in line.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some('"' | '\'') if character == '\\' => escaped = true,
            Some(open) if character == open => quote = None,
            Some(_) => {}
            None => match character {
                '"' | '\'' | '`' => quote = Some(character),
                '{' => depth += 1,
                '}' => depth -= 1,
                _ if depth == 0 && character.is_whitespace() => {
                    return (&line[..at], line[at..].trim());
                }
                _ => {}
            },
        }
    }
    (line, "")
}

/// The labels of a series, which are written as equality matchers.
pub(crate) fn labels(metric: &str) -> Labels {
    let matchers =
        parse_metric_selector(metric).unwrap_or_else(|error| panic!("{metric:?}: {error}"));
    assert!(
        matchers.iter().all(|matcher| matcher.op == MatchOp::Equal),
        "{metric:?}"
    );
    Labels::from_pairs(
        matchers
            .into_iter()
            .map(|matcher| (matcher.name, matcher.value)),
    )
}

/// The text of a quoted literal.
pub(crate) fn quoted(literal: &str) -> String {
    match parse(literal).map(|expr| expr.kind) {
        Ok(ExprKind::String(text)) => text,
        other => panic!("not a string: {literal:?}: {other:?}"),
    }
}

/// A whole line that is a number.
pub(crate) fn number(text: &str) -> Option<f64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return i64::from_str_radix(digits, 16)
            .ok()
            .map(|value| value as f64);
    }
    text.parse().ok()
}

/// A number or a duration without sign.
fn unsigned(text: &str) -> f64 {
    text.parse()
        .unwrap_or_else(|_| duration(text) as f64 / 1000.0)
}

/// The values of a series in order; `None` is a gap.
pub(crate) fn values(text: &str) -> Vec<Option<Sample>> {
    let mut values = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = if rest.starts_with("{{") {
            histograms::end(rest)
        } else {
            word_end(rest)
        };
        let (item, tail) = rest.split_at(end);
        values.extend(self::item(item));
        rest = tail.trim_start();
    }
    values
}

fn word_end(text: &str) -> usize {
    text.find(char::is_whitespace).unwrap_or(text.len())
}

fn item(text: &str) -> Vec<Option<Sample>> {
    if text.starts_with("{{") {
        return histograms::item(text);
    }
    if text == "_" {
        return vec![None];
    }
    if let Some(count) = text.strip_prefix("_x") {
        return vec![None; count.parse().unwrap()];
    }
    if text == "stale" {
        return vec![Some(Sample::Float(f64::from_bits(STALE_NAN)))];
    }
    let (body, repeats) = repeats(text);
    let (first, delta) = split_delta(body);
    let mut value = signed(first);
    let delta = if delta.is_empty() { 0.0 } else { signed(delta) };
    let mut values = Vec::new();
    for _ in 0..=repeats {
        values.push(Some(Sample::Float(value)));
        value += delta;
    }
    values
}

fn signed(text: &str) -> f64 {
    match text.strip_prefix('-') {
        Some(rest) => -unsigned(rest),
        None => unsigned(text.strip_prefix('+').unwrap_or(text)),
    }
}

/// What stands before `xN`, and N.
pub(crate) fn repeats(text: &str) -> (&str, usize) {
    match text.rsplit_once('x') {
        Some((body, count)) => (body, count.parse().unwrap()),
        None => (text, 0),
    }
}

/// Splits `a+b` and `a-b`; a sign at the start or behind an `e` belongs to its number.
fn split_delta(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let at = (1..bytes.len())
        .find(|at| matches!(bytes[*at], b'+' | b'-') && !matches!(bytes[at - 1], b'e' | b'E'));
    text.split_at(at.unwrap_or(text.len()))
}

/// Start times as offsets from the samples' times in milliseconds.
pub(crate) fn start_times(text: &str) -> Vec<Option<i64>> {
    let mut times = Vec::new();
    for item in text.split_whitespace() {
        if item == "_" {
            times.push(None);
        } else if let Some(count) = item.strip_prefix("_x") {
            times.extend(vec![None; count.parse::<usize>().unwrap()]);
        } else {
            let (body, repeats) = repeats(item);
            let (first, delta) = split_delta(body);
            let mut time = duration(first);
            let delta = if delta.is_empty() { 0 } else { duration(delta) };
            for _ in 0..=repeats {
                times.push(Some(time));
                time += delta;
            }
        }
    }
    times
}
