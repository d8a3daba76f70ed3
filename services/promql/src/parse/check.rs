//! A parsed expression in, the same expression with its types proven to fit, or the first that does not.

use super::{Failure, regex};
use crate::ast::{
    Aggregate, AggregateOp, Binary, Call, Cardinality, Expr, ExprKind, MatchOp, Matcher, ValueType,
    VectorSelector,
};
use crate::format::quote::quote;
use crate::labels::METRIC_NAME;

type Checked = Result<ValueType, Failure>;

/// Checks an expression and all inside it, children first, and settles how the sides of operators match.
pub(super) fn check(expr: &mut Expr, text: &str) -> Checked {
    let own = expr.value_type();
    let at = expr.span.start;
    match &mut expr.kind {
        ExprKind::Number(_) | ExprKind::Seconds(_) | ExprKind::String(_) => {}
        ExprKind::Paren(inner) => {
            check(inner, text)?;
        }
        ExprKind::Unary { expr, .. } => {
            let found = check(expr, text)?;
            if !is_value(found) {
                return fail(
                    at,
                    format!(
                        "unary expression only allowed on expressions of type scalar or instant vector, got {}",
                        quote(found.documented())
                    ),
                );
            }
        }
        ExprKind::Binary(binary) => check_binary(binary, at, text)?,
        ExprKind::Aggregate(aggregate) => check_aggregate(aggregate, text)?,
        ExprKind::Call(call) => check_call(call, at, text)?,
        ExprKind::Vector(selector) => check_selector(selector, at, true)?,
        ExprKind::Matrix(matrix) => check_selector(&matrix.selector, at, true)?,
        ExprKind::Subquery(subquery) => {
            let found = check(&mut subquery.expr, text)?;
            if found != ValueType::Vector {
                let found = found.name();
                return fail(
                    at,
                    format!("subquery is only allowed on instant vector, got {found} instead"),
                );
            }
        }
    }
    Ok(own)
}

fn fail<T>(at: usize, message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::new(at, message))
}

fn is_value(found: ValueType) -> bool {
    matches!(found, ValueType::Scalar | ValueType::Vector)
}

fn expect(found: ValueType, wanted: ValueType, at: usize, place: &str) -> Result<(), Failure> {
    if found == wanted {
        return Ok(());
    }
    let (wanted, found) = (wanted.documented(), found.documented());
    fail(
        at,
        format!("expected type {wanted} in {place}, got {found}"),
    )
}

fn check_binary(binary: &mut Binary, at: usize, text: &str) -> Result<(), Failure> {
    let left = check(&mut binary.left, text)?;
    let right = check(&mut binary.right, text)?;
    let op = binary.op;
    if binary.returns_bool && !op.is_comparison() {
        return fail(
            operator_at(binary, text),
            "bool modifier can only be used on comparison operators",
        );
    }
    let scalars = left == ValueType::Scalar && right == ValueType::Scalar;
    if op.is_comparison() && !binary.returns_bool && scalars {
        return fail(
            operator_at(binary, text),
            "comparisons between scalars must use BOOL modifier",
        );
    }
    check_group_labels(binary, text)?;
    for (side, found) in [(&binary.left, left), (&binary.right, right)] {
        if !is_value(found) {
            let message = "binary expression must contain only scalar and instant vector types";
            return fail(side.span.start, message);
        }
    }
    let vectors = left == ValueType::Vector && right == ValueType::Vector;
    check_matching(binary, at, vectors)?;
    if !vectors && op.is_set() {
        let op = quote(op.symbol());
        return fail(
            at,
            format!("set operator {op} not allowed in binary scalar expression"),
        );
    }
    Ok(())
}

fn check_group_labels(binary: &Binary, text: &str) -> Result<(), Failure> {
    let Some(matching) = binary.matching.as_ref().filter(|matching| matching.on) else {
        return Ok(());
    };
    match matching
        .labels
        .iter()
        .find(|label| matching.include.contains(label))
    {
        Some(label) => fail(
            operator_at(binary, text),
            format!(
                "label {} must not occur in ON and GROUP clause at once",
                quote(label)
            ),
        ),
        None => Ok(()),
    }
}

/// Two scalars, or a scalar and a vector, do not match by labels; set operators match many to many.
fn check_matching(binary: &mut Binary, at: usize, vectors: bool) -> Result<(), Failure> {
    let Some(matching) = &mut binary.matching else {
        return Ok(());
    };
    let fills = matching.fill_left.is_some() || matching.fill_right.is_some();
    if !vectors {
        if !matching.labels.is_empty() {
            return fail(at, "vector matching only allowed between instant vectors");
        }
        if fills {
            return fail(
                at,
                "filling in missing series only allowed between instant vectors",
            );
        }
        binary.matching = None;
        return Ok(());
    }
    if !binary.op.is_set() {
        return Ok(());
    }
    if matching.card != Cardinality::OneToOne {
        let op = quote(binary.op.symbol());
        return fail(at, format!("no grouping allowed for {op} operation"));
    }
    matching.card = Cardinality::ManyToMany;
    if fills {
        return fail(
            at,
            "filling in missing series not allowed for set operators",
        );
    }
    Ok(())
}

/// Where the operator stands: behind the left side and the white space after it.
fn operator_at(binary: &Binary, text: &str) -> usize {
    let end = binary.left.span.end;
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    end + rest
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
        .count()
}

fn check_aggregate(aggregate: &mut Aggregate, text: &str) -> Result<(), Failure> {
    let found = check(&mut aggregate.expr, text)?;
    expect(
        found,
        ValueType::Vector,
        aggregate.expr.span.start,
        "aggregation expression",
    )?;
    let Some(param) = &mut aggregate.param else {
        return Ok(());
    };
    let wanted = match aggregate.op {
        AggregateOp::CountValues => ValueType::String,
        _ => ValueType::Scalar,
    };
    let found = check(param, text)?;
    expect(found, wanted, param.span.start, "aggregation parameter")
}

fn check_call(call: &mut Call, at: usize, text: &str) -> Result<(), Failure> {
    check_count(call, at)?;
    let function = call.function;
    let name = quote(function.name);
    let is_info = function.name == "info";
    if is_info && let Some(labels) = call.args.get(1) {
        check_info(labels, at)?;
    }
    let place = format!("call to function {name}");
    for (position, arg) in call.args.iter_mut().enumerate() {
        let types = function.arg_types;
        let Some(wanted) = types.get(position).or(types.last()) else {
            break;
        };
        let start = arg.span.start;
        let found = match &arg.kind {
            // The labels that `info` shall add may be any, so they may match the empty text.
            ExprKind::Vector(selector) if is_info && position == 1 => {
                check_selector(selector, start, false)?;
                ValueType::Vector
            }
            _ => check(arg, text)?,
        };
        expect(found, *wanted, start, &place)?;
    }
    Ok(())
}

fn check_count(call: &Call, at: usize) -> Result<(), Failure> {
    let function = call.function;
    let (listed, found) = (function.arg_types.len(), call.args.len());
    let required = if function.variadic == 0 {
        listed
    } else {
        listed.saturating_sub(1)
    };
    let most = usize::try_from(function.variadic)
        .ok()
        .map(|more| required + more);
    let wanted = if function.variadic == 0 && found != listed {
        format!("expected {listed}")
    } else if found < required {
        format!("expected at least {required}")
    } else if let Some(most) = most.filter(|most| found > *most) {
        format!("expected at most {most}")
    } else {
        return Ok(());
    };
    fail(
        at,
        format!(
            "{wanted} argument(s) in call to {}, got {found}",
            quote(function.name)
        ),
    )
}

/// The second argument of `info` is a selector without a name.
fn check_info(labels: &Expr, at: usize) -> Result<(), Failure> {
    expect(
        labels.value_type(),
        ValueType::Vector,
        at,
        "call to function \"info\"",
    )?;
    match &labels.kind {
        ExprKind::Vector(selector) if selector.name.is_none() => Ok(()),
        ExprKind::Vector(_) => fail(
            labels.span.start,
            "expected label selectors only, got vector selector instead",
        ),
        _ => fail(labels.span.start, "expected label selectors only"),
    }
}

fn check_selector(selector: &VectorSelector, at: usize, selective: bool) -> Result<(), Failure> {
    if let Some(name) = &selector.name {
        let inside = selector
            .matchers
            .split_last()
            .map_or(&[][..], |(_, inside)| inside);
        return match inside.iter().find(|matcher| matcher.name == METRIC_NAME) {
            Some(other) => fail(
                at,
                format!(
                    "metric name must not be set twice: {} or {}",
                    quote(name),
                    quote(&other.value)
                ),
            ),
            None => Ok(()),
        };
    }
    if selective && selector.matchers.iter().all(matches_empty) {
        return fail(
            at,
            "vector selector must contain at least one non-empty matcher",
        );
    }
    Ok(())
}

/// Whether a series without the label is selected.
pub(crate) fn matches_empty(matcher: &Matcher) -> bool {
    match matcher.op {
        MatchOp::Equal => matcher.value.is_empty(),
        MatchOp::NotEqual => !matcher.value.is_empty(),
        MatchOp::Regex => regex::matches_empty(&matcher.value),
        MatchOp::NotRegex => !regex::matches_empty(&matcher.value),
    }
}
