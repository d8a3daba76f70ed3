//! An expression in, the same with every selector pinned by `@` out, unless its value would change by that.

use promql::ast::{At, Expr, ExprKind, Modifiers};

/// Functions that read the evaluation time, or the times of what they are given.
const READS_TIME: [&str; 15] = [
    "days_in_month",
    "day_of_month",
    "day_of_week",
    "day_of_year",
    "end",
    "hour",
    "minute",
    "month",
    "year",
    "predict_linear",
    "range",
    "start",
    "step",
    "time",
    "timestamp",
];

/// Pins all selectors and outermost subqueries to `at` milliseconds; `None` where the value depends on the
/// evaluation time itself.
pub(crate) fn pinned(mut expr: Expr, at: i64) -> Option<Expr> {
    pin(&mut expr, at).then_some(expr)
}

fn pin(expr: &mut Expr, at: i64) -> bool {
    match &mut expr.kind {
        ExprKind::Number(_) | ExprKind::Seconds(_) | ExprKind::String(_) => true,
        ExprKind::Paren(inner) | ExprKind::Unary { expr: inner, .. } => pin(inner, at),
        ExprKind::Binary(binary) => pin(&mut binary.left, at) && pin(&mut binary.right, at),
        ExprKind::Aggregate(aggregate) => {
            pin(&mut aggregate.expr, at)
                && aggregate.param.as_mut().is_none_or(|param| pin(param, at))
        }
        ExprKind::Call(call) => {
            !READS_TIME.contains(&call.function.name)
                && call.args.iter_mut().all(|arg| pin(arg, at))
        }
        ExprKind::Vector(selector) => set(&mut selector.modifiers, at),
        ExprKind::Matrix(matrix) => set(&mut matrix.selector.modifiers, at),
        // What is inside evaluates at the subquery's own times.
        ExprKind::Subquery(subquery) => set(&mut subquery.modifiers, at),
    }
}

fn set(modifiers: &mut Modifiers, at: i64) -> bool {
    if !matches!(modifiers.at, Some(At::Time(_))) {
        modifiers.at = Some(At::Time(at));
    }
    true
}
