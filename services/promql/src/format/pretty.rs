//! An expression in, text over several lines out: what is longer than a line is split, level by level.

use super::{aggregate_head, operator, sign, subquery_suffix};
use crate::ast::{Expr, ExprKind};

/// Longer expressions are split. The length is that of the one-line form in bytes.
const MAX_LINE: usize = 100;

/// The expression as Prometheus' prettifier lays it out.
#[must_use]
pub fn pretty(expr: &Expr) -> String {
    at_level(expr, 0)
}

/// Every level is indented by two spaces; the text starts with the indent.
fn at_level(expr: &Expr, level: usize) -> String {
    let indent = "  ".repeat(level);
    let line = expr.to_string();
    let splits = line.len() > MAX_LINE;
    match &expr.kind {
        ExprKind::Unary { negate, expr } => {
            format!("{indent}{}{}", sign(*negate), at_level(expr, level).trim())
        }
        // Prometheus does not indent a subquery that fits its line.
        ExprKind::Subquery(_) if !splits => line,
        ExprKind::Subquery(subquery) => {
            format!(
                "{}{}",
                at_level(&subquery.expr, level),
                subquery_suffix(subquery)
            )
        }
        ExprKind::Paren(inner) if splits => {
            format!("{indent}(\n{}\n{indent})", at_level(inner, level + 1))
        }
        ExprKind::Binary(binary) if splits => {
            let (left, right) = (
                at_level(&binary.left, level + 1),
                at_level(&binary.right, level + 1),
            );
            format!("{left}\n{indent}{}\n{right}", operator(binary))
        }
        ExprKind::Aggregate(aggregate) if splits => {
            let head = aggregate_head(aggregate);
            let param = aggregate
                .param
                .as_ref()
                .map(|param| format!("{},\n", at_level(param, level + 1)));
            let inner = at_level(&aggregate.expr, level + 1);
            format!(
                "{indent}{head}(\n{}{inner}\n{indent})",
                param.unwrap_or_default()
            )
        }
        ExprKind::Call(call) if splits => {
            let args: Vec<String> = call
                .args
                .iter()
                .map(|arg| at_level(arg, level + 1))
                .collect();
            format!(
                "{indent}{}(\n{}\n{indent})",
                call.function.name,
                args.join(",\n")
            )
        }
        _ => format!("{indent}{line}"),
    }
}
