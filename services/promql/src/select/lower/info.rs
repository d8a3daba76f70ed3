//! `info`: what it reads besides its argument.

use crate::ast::{Call, Expr, ExprKind, MatchOp, Matcher, Modifiers};
use crate::error::EvalError;
use crate::labels::METRIC_NAME;
use crate::select::Selection;
use crate::select::node::{InfoSelection, Shift};

use super::{Lowering, Place};

impl Lowering<'_> {
    /// What `info` reads besides its argument: info series at the times the argument is looked at.
    pub(super) fn info(
        &mut self,
        call: &Call,
        place: Place<'_>,
    ) -> Result<InfoSelection, EvalError> {
        let shift = match call.args.first() {
            Some(arg) => self.first_shift(arg, &[])?.unwrap_or_default(),
            None => Shift::default(),
        };
        let given: &[Matcher] = match call.args.get(1).map(|arg| &arg.kind) {
            Some(ExprKind::Vector(selector)) => &selector.matchers,
            _ => &[],
        };
        let (names, data): (Vec<_>, Vec<_>) = given
            .iter()
            .cloned()
            .partition(|matcher| matcher.name == METRIC_NAME);
        let names = effective_names(names);
        let selection = self.select(Selection {
            matchers: data.iter().chain(&names).cloned().collect(),
            start: shift.of(place.start).saturating_sub(self.params.lookback),
            end: shift.of(place.end),
            is_range: false,
            step: place.step,
            function: Some("info"),
            grouping: None,
        })?;
        Ok(InfoSelection {
            selection,
            shift,
            data,
            names,
        })
    }

    /// The time shift of the first selector in `expr`, seen through the subqueries around it.
    fn first_shift(&self, expr: &Expr, around: &[&Modifiers]) -> Result<Option<Shift>, EvalError> {
        let selector = match &expr.kind {
            ExprKind::Vector(selector) => selector,
            ExprKind::Matrix(matrix) => &matrix.selector,
            ExprKind::Subquery(subquery) => {
                let mut around = around.to_vec();
                around.push(&subquery.modifiers);
                return self.first_shift(&subquery.expr, &around);
            }
            _ => {
                for child in children(expr) {
                    if let Some(shift) = self.first_shift(child, around)? {
                        return Ok(Some(shift));
                    }
                }
                return Ok(None);
            }
        };
        let mut shift = self.shift(&selector.modifiers)?;
        for modifiers in around.iter().rev() {
            if shift.at.is_some() {
                break;
            }
            let outer = self.shift(modifiers)?;
            shift = Shift {
                at: outer.at,
                offset: shift.offset + outer.offset,
            };
        }
        Ok(Some(shift))
    }
}

/// The expressions right below `expr`; subqueries are seen through by the callers.
pub(super) fn children(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Paren(inner) | ExprKind::Unary { expr: inner, .. } => vec![inner],
        ExprKind::Binary(binary) => vec![&binary.left, &binary.right],
        ExprKind::Aggregate(aggregate) => std::iter::once(&aggregate.expr)
            .chain(&aggregate.param)
            .collect(),
        ExprKind::Call(call) => call.args.iter().collect(),
        _ => Vec::new(),
    }
}

/// The name conditions that select info metrics: as given where one of them is positive, else with
/// `.+_info` in front; without any, `target_info`.
fn effective_names(names: Vec<Matcher>) -> Vec<Matcher> {
    if names
        .iter()
        .any(|name| matches!(name.op, MatchOp::Equal | MatchOp::Regex))
    {
        return names;
    }
    let (op, value) = if names.is_empty() {
        (MatchOp::Equal, "target_info")
    } else {
        (MatchOp::Regex, ".+_info")
    };
    let first = Matcher {
        name: METRIC_NAME.to_owned(),
        op,
        value: value.to_owned(),
    };
    std::iter::once(first).chain(names).collect()
}
