//! An expression in, text out: on one line as Prometheus' `String()`, or laid out as its prettifier does.

mod pretty;
pub(crate) mod quote;

pub use pretty::pretty;

use std::fmt::{self, Display, Formatter, Write};

use crate::ast::{
    Aggregate, At, Binary, Cardinality, Duration, DurationExpr, DurationKind, Expr, ExprKind,
    MatchOp, Matcher, Matching, MatrixSelector, Modifiers, Smoothing, Subquery, VectorSelector,
};
use crate::labels::METRIC_NAME;
use quote::quote;

impl Display for Expr {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Number(value) => out.write_str(&go_number(*value)),
            ExprKind::Seconds(value) => out.write_str(&seconds(*value)),
            ExprKind::String(text) => out.write_str(&quote(text)),
            ExprKind::Paren(expr) => write!(out, "({expr})"),
            ExprKind::Unary { negate, expr } => write!(out, "{}{expr}", sign(*negate)),
            ExprKind::Binary(binary) => {
                write!(out, "{} {} {}", binary.left, operator(binary), binary.right)
            }
            ExprKind::Aggregate(aggregate) => write_aggregate(aggregate, out),
            ExprKind::Call(call) => {
                write!(out, "{}(", call.function.name)?;
                for (position, arg) in call.args.iter().enumerate() {
                    out.write_str(if position > 0 { ", " } else { "" })?;
                    write!(out, "{arg}")?;
                }
                out.write_char(')')
            }
            ExprKind::Vector(selector) => write_vector(selector, out),
            ExprKind::Matrix(matrix) => write_matrix(matrix, out),
            ExprKind::Subquery(subquery) => {
                write!(out, "{}{}", subquery.expr, subquery_suffix(subquery))
            }
        }
    }
}

fn sign(negate: bool) -> char {
    if negate { '-' } else { '+' }
}

fn write_aggregate(aggregate: &Aggregate, out: &mut Formatter<'_>) -> fmt::Result {
    out.write_str(&aggregate_head(aggregate))?;
    out.write_char('(')?;
    if let Some(param) = &aggregate.param {
        write!(out, "{param}, ")?;
    }
    write!(out, "{})", aggregate.expr)
}

/// `sum by (a, b) `.
fn aggregate_head(aggregate: &Aggregate) -> String {
    let name = aggregate.op.name();
    let labels = label_list(&aggregate.labels);
    match aggregate.without {
        true => format!("{name} without ({labels}) "),
        false if aggregate.labels.is_empty() => name.to_owned(),
        false => format!("{name} by ({labels}) "),
    }
}

/// An operator and all its modifiers.
fn operator(binary: &Binary) -> String {
    let mut out = binary.op.symbol().to_owned();
    if binary.returns_bool {
        out.push_str(" bool");
    }
    if let Some(matching) = &binary.matching {
        push_matching(&mut out, matching);
    }
    out
}

fn push_matching(out: &mut String, matching: &Matching) {
    let grouped = match matching.card {
        Cardinality::ManyToOne => Some("left"),
        Cardinality::OneToMany => Some("right"),
        Cardinality::OneToOne | Cardinality::ManyToMany => None,
    };
    if !matching.labels.is_empty() || matching.on || grouped.is_some() {
        let word = if matching.on { "on" } else { "ignoring" };
        out.push_str(&format!(" {word} ({})", label_list(&matching.labels)));
    }
    if let Some(side) = grouped {
        out.push_str(&format!(
            " group_{side} ({})",
            label_list(&matching.include)
        ));
    }
    match (matching.fill_left, matching.fill_right) {
        (Some(left), Some(right)) if left == right => {
            out.push_str(&format!(" fill ({})", go_value(left)));
        }
        (left, right) => {
            for (side, value) in [("left", left), ("right", right)] {
                if let Some(value) = value {
                    out.push_str(&format!(" fill_{side} ({})", go_value(value)));
                }
            }
        }
    }
}

fn label_list(labels: &[String]) -> String {
    let names: Vec<String> = labels.iter().map(|label| label_name(label)).collect();
    names.join(", ")
}

/// A label name, quoted where it would not be read back without quotes.
fn label_name(name: &str) -> String {
    let plain = name
        .bytes()
        .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    let starts = name
        .bytes()
        .next()
        .is_some_and(|byte| !byte.is_ascii_digit());
    if plain && starts {
        name.to_owned()
    } else {
        quote(name)
    }
}

fn write_vector(selector: &VectorSelector, out: &mut Formatter<'_>) -> fmt::Result {
    write_selected(selector, out)?;
    out.write_str(&at_suffix(&selector.modifiers))?;
    out.write_str(smoothing_suffix(selector.smoothing))?;
    out.write_str(&offset_suffix(&selector.modifiers))
}

fn write_matrix(matrix: &MatrixSelector, out: &mut Formatter<'_>) -> fmt::Result {
    let selector = &matrix.selector;
    write_selected(selector, out)?;
    write!(out, "[{}]", duration(&matrix.range))?;
    out.write_str(smoothing_suffix(selector.smoothing))?;
    out.write_str(&at_suffix(&selector.modifiers))?;
    out.write_str(&offset_suffix(&selector.modifiers))
}

/// Name and matchers.
fn write_selected(selector: &VectorSelector, out: &mut Formatter<'_>) -> fmt::Result {
    let name = selector.name.as_deref().unwrap_or_default();
    let is_name = |matcher: &&Matcher| {
        let own =
            matcher.name == METRIC_NAME && matcher.op == MatchOp::Equal && matcher.value == name;
        own && !name.is_empty()
    };
    let mut matchers: Vec<String> = selector
        .matchers
        .iter()
        .filter(|matcher| !is_name(matcher))
        .map(matcher_text)
        .collect();
    matchers.sort();
    out.write_str(name)?;
    // Prometheus prints nothing at all for `{}`, which would not read back.
    if matchers.is_empty() && !name.is_empty() {
        return Ok(());
    }
    write!(out, "{{{}}}", matchers.join(","))
}

fn matcher_text(matcher: &Matcher) -> String {
    let op = match matcher.op {
        MatchOp::Equal => "=",
        MatchOp::NotEqual => "!=",
        MatchOp::Regex => "=~",
        MatchOp::NotRegex => "!~",
    };
    format!("{}{op}{}", label_name(&matcher.name), quote(&matcher.value))
}

/// `[1h:5m] @ 5.000 offset 1m`.
fn subquery_suffix(subquery: &Subquery) -> String {
    let step = subquery.step.as_ref().map(duration).unwrap_or_default();
    let range = duration(&subquery.range);
    let (at, offset) = (
        at_suffix(&subquery.modifiers),
        offset_suffix(&subquery.modifiers),
    );
    format!("[{range}:{step}]{at}{offset}")
}

fn at_suffix(modifiers: &Modifiers) -> String {
    match modifiers.at {
        None => String::new(),
        Some(At::Start) => " @ start()".to_owned(),
        Some(At::End) => " @ end()".to_owned(),
        Some(At::Time(millis)) => {
            let (sign, millis) = (if millis < 0 { "-" } else { "" }, millis.unsigned_abs());
            format!(" @ {sign}{}.{:03}", millis / 1000, millis % 1000)
        }
    }
}

fn smoothing_suffix(smoothing: Smoothing) -> &'static str {
    match smoothing {
        Smoothing::None => "",
        Smoothing::Anchored => " anchored",
        Smoothing::Smoothed => " smoothed",
    }
}

fn offset_suffix(modifiers: &Modifiers) -> String {
    modifiers
        .offset
        .as_ref()
        .map(|offset| format!(" offset {}", duration(offset)))
        .unwrap_or_default()
}

fn duration(duration: &Duration) -> String {
    match duration {
        Duration::Millis(millis) => self::millis(*millis),
        Duration::Expr(expr) => duration_expr(expr),
    }
}

fn duration_expr(expr: &DurationExpr) -> String {
    match &expr.kind {
        DurationKind::Number(value) => go_number(*value),
        DurationKind::Seconds(value) => seconds(*value),
        DurationKind::Step => "step()".to_owned(),
        DurationKind::Range => "range()".to_owned(),
        DurationKind::Negate(inner) => format!("-{}", duration_expr(inner)),
        DurationKind::Paren(inner) => format!("({})", duration_expr(inner)),
        DurationKind::Binary { op, left, right } => {
            format!(
                "{} {} {}",
                duration_expr(left),
                op.symbol(),
                duration_expr(right)
            )
        }
        DurationKind::Min(left, right) => {
            format!("min_of({}, {})", duration_expr(left), duration_expr(right))
        }
        DurationKind::Max(left, right) => {
            format!("max_of({}, {})", duration_expr(left), duration_expr(right))
        }
    }
}

/// Seconds as a duration, cut off to whole milliseconds.
fn seconds(value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a parsed duration fits 64-bit nanoseconds"
    )]
    let nanos = (value * 1e9) as i64;
    millis(nanos / 1_000_000)
}

/// A duration in the fewest units; years and weeks only where nothing is left over.
fn millis(value: i64) -> String {
    const UNITS: [(&str, u64, bool); 7] = [
        ("y", 365 * 86_400_000, true),
        ("w", 7 * 86_400_000, true),
        ("d", 86_400_000, false),
        ("h", 3_600_000, false),
        ("m", 60_000, false),
        ("s", 1000, false),
        ("ms", 1, false),
    ];
    let mut rest = value.unsigned_abs();
    if rest == 0 {
        return "0s".to_owned();
    }
    let mut out = if value < 0 {
        "-".to_owned()
    } else {
        String::new()
    };
    for (unit, scale, exact) in UNITS {
        let count = rest / scale;
        if count > 0 && (!exact || rest.is_multiple_of(scale)) {
            out.push_str(&format!("{count}{unit}"));
            rest -= count * scale;
        }
    }
    out
}

/// The shortest text that reads back as the same number, without an exponent.
fn go_number(value: f64) -> String {
    if value == f64::INFINITY {
        return "+Inf".to_owned();
    }
    if value == f64::NEG_INFINITY {
        return "-Inf".to_owned();
    }
    format!("{value}")
}

/// As [`go_number`], with an exponent below 1e-4 and from 1e21 on (Go's `%v`).
fn go_value(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || size == 0.0 || (1e-4..1e21).contains(&size) {
        return go_number(value);
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent
        .strip_prefix('-')
        .map_or(('+', exponent), |rest| ('-', rest));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// Six digits behind the point (Go's `%f`).
pub(crate) fn go_fixed(value: f64) -> String {
    if value.is_finite() {
        format!("{value:.6}")
    } else {
        go_number(value)
    }
}
