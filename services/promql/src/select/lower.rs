//! A parsed expression becomes the tree that is evaluated, and the list of what it reads.

use crate::ast::{
    Aggregate, At, Binary, BinaryOp, Call, Expr, ExprKind, MatchOp, Matcher, MatrixSelector,
    Modifiers, Smoothing, Subquery, VectorSelector,
};
use crate::error::EvalError;
use crate::labels::METRIC_NAME;
use crate::number::{seconds, span_seconds};

use super::duration::Context;
use super::node::{
    AggregateNode, BinaryNode, CallNode, InfoSelection, Node, NodeKind, RangeSelector, Selector,
    Shift, SubqueryNode,
};
use super::{Params, Selection};

/// Functions whose value depends on the evaluation time even where their arguments do not.
const TIME_DEPENDENT: &[&str] = &[
    "day_of_month",
    "day_of_week",
    "day_of_year",
    "days_in_month",
    "end",
    "hour",
    "minute",
    "month",
    "predict_linear",
    "range",
    "start",
    "step",
    "time",
    "timestamp",
    "year",
];

/// The work of one plan.
pub(super) struct Lowering<'p> {
    params: &'p Params,
    durations: Context,
    selections: Vec<Selection>,
}

/// Where a node stands: when it is evaluated and what is around it.
#[derive(Clone, Copy)]
struct Place<'e> {
    /// The first and last evaluation time.
    start: i64,
    end: i64,
    /// Distance of evaluation times; 0 for one.
    step: i64,
    /// The function or aggregation around a selector, up to a binary operator.
    function: Option<&'static str>,
    /// The aggregation directly around.
    grouping: Option<&'e Aggregate>,
    /// A function further up looks at counts and sums of histograms only.
    stats: bool,
    /// Something further up needs the buckets of histograms.
    buckets: bool,
}

/// A lowered node and how it depends on the evaluation time.
struct Lowered {
    node: Node,
    /// Nothing in it depends on the evaluation time.
    invariant: bool,
    /// It is worth being evaluated once (literals are not, ranges cannot be).
    wrap: bool,
}

impl Lowered {
    fn new(kind: NodeKind, at: usize, invariant: bool, wrap: bool) -> Self {
        Self {
            node: Node { kind, at },
            invariant,
            wrap,
        }
    }

    /// The node, evaluated once where that is right and worth it.
    fn wrapped(self) -> Node {
        if self.wrap {
            once(self.node)
        } else {
            self.node
        }
    }
}

fn once(node: Node) -> Node {
    Node {
        at: node.at,
        kind: NodeKind::Once(Box::new(node)),
    }
}

impl<'p> Lowering<'p> {
    pub(super) fn new(params: &'p Params) -> Self {
        let range = params.end - params.start;
        let durations = Context {
            step: seconds(params.step),
            range: seconds(range),
        };
        Self {
            params,
            durations,
            selections: Vec::new(),
        }
    }

    pub(super) fn into_selections(self) -> Vec<Selection> {
        self.selections
    }

    /// Lowers a whole expression.
    pub(super) fn root(&mut self, expr: &Expr) -> Result<Node, EvalError> {
        let place = Place {
            start: self.params.start,
            end: self.params.end,
            step: self.params.step,
            function: None,
            grouping: None,
            stats: false,
            buckets: false,
        };
        Ok(self.lower(expr, place)?.wrapped())
    }

    fn lower(&mut self, expr: &Expr, place: Place<'_>) -> Result<Lowered, EvalError> {
        let at = expr.span.start;
        match &expr.kind {
            ExprKind::Number(value) | ExprKind::Seconds(value) => {
                Ok(Lowered::new(NodeKind::Number(*value), at, true, false))
            }
            ExprKind::String(text) => {
                Ok(Lowered::new(NodeKind::Text(text.clone()), at, true, false))
            }
            ExprKind::Paren(inner) => self.lower(inner, place),
            ExprKind::Unary { negate, expr } => {
                let inner = self.lower(expr, place)?;
                let kind = NodeKind::Unary {
                    negate: *negate,
                    expr: Box::new(inner.node),
                };
                Ok(Lowered::new(kind, at, inner.invariant, inner.wrap))
            }
            ExprKind::Binary(binary) => self.binary(binary, at, place),
            ExprKind::Aggregate(aggregate) => self.aggregate(aggregate, at, place),
            ExprKind::Call(call) => self.call(call, at, place),
            ExprKind::Vector(selector) => {
                let selector = self.selector(selector, None, place)?;
                let fixed = selector.shift.at.is_some();
                Ok(Lowered::new(NodeKind::Selector(selector), at, fixed, fixed))
            }
            ExprKind::Matrix(matrix) => self.range(matrix, at, place),
            ExprKind::Subquery(subquery) => self.subquery(subquery, at, place),
        }
    }

    fn binary(
        &mut self,
        binary: &Binary,
        at: usize,
        place: Place<'_>,
    ) -> Result<Lowered, EvalError> {
        let trims = matches!(binary.op, BinaryOp::TrimUpper | BinaryOp::TrimLower);
        let place = Place {
            function: None,
            grouping: None,
            buckets: place.buckets || trims,
            ..place
        };
        let left = self.lower(&binary.left, place)?;
        let right = self.lower(&binary.right, place)?;
        let invariant = left.invariant && right.invariant;
        let (left, right) = if invariant {
            (left.node, right.node)
        } else {
            (left.wrapped(), right.wrapped())
        };
        let node = BinaryNode {
            op: binary.op,
            left,
            right,
            returns_bool: binary.returns_bool,
            matching: binary.matching.clone(),
        };
        Ok(Lowered::new(
            NodeKind::Binary(Box::new(node)),
            at,
            invariant,
            invariant,
        ))
    }

    fn aggregate(
        &mut self,
        aggregate: &Aggregate,
        at: usize,
        place: Place<'_>,
    ) -> Result<Lowered, EvalError> {
        let place = Place {
            function: Some(aggregate_name(aggregate)),
            grouping: Some(aggregate),
            ..place
        };
        let expr = self.lower(&aggregate.expr, place)?;
        let param = match &aggregate.param {
            Some(param) => {
                let place = Place {
                    grouping: None,
                    ..place
                };
                Some(self.lower(param, place)?.node)
            }
            None => None,
        };
        let mut labels = aggregate.labels.clone();
        labels.sort();
        let (invariant, wrap) = (expr.invariant, expr.wrap);
        let node = AggregateNode {
            op: aggregate.op,
            expr: expr.node,
            param,
            without: aggregate.without,
            labels,
        };
        Ok(Lowered::new(
            NodeKind::Aggregate(Box::new(node)),
            at,
            invariant,
            wrap,
        ))
    }

    fn call(&mut self, call: &Call, at: usize, place: Place<'_>) -> Result<Lowered, EvalError> {
        let name = call.function.name;
        if let Some(value) = self.constant(name) {
            return Ok(Lowered::new(NodeKind::Number(value), at, true, false));
        }
        let stats = matches!(name, "histogram_count" | "histogram_sum" | "histogram_avg");
        let buckets = matches!(
            name,
            "histogram_quantile" | "histogram_quantiles" | "histogram_fraction"
        );
        let inner = Place {
            function: Some(name),
            grouping: None,
            stats: place.stats || stats,
            buckets: place.buckets || buckets,
            ..place
        };
        let info = if name == "info" {
            Some(self.info(call, inner)?)
        } else {
            None
        };
        let used = if info.is_some() { 1 } else { call.args.len() };
        let mut args = Vec::with_capacity(used);
        for arg in call.args.iter().take(used) {
            args.push(self.lower(arg, inner)?);
        }
        let all = args.iter().all(|arg| arg.invariant);
        let of_selector = args
            .iter()
            .all(|arg| matches!(arg.node.kind, NodeKind::Selector(_)));
        let fixed_timestamp = name == "timestamp" && of_selector;
        let invariant = all && (!TIME_DEPENDENT.contains(&name) || fixed_timestamp);
        let args = args.into_iter();
        let args = if invariant {
            args.map(|arg| arg.node).collect()
        } else {
            args.map(Lowered::wrapped).collect()
        };
        let node = CallNode {
            function: call.function,
            args,
            info,
        };
        Ok(Lowered::new(
            NodeKind::Call(Box::new(node)),
            at,
            invariant,
            invariant,
        ))
    }

    /// What the functions about the query itself stand for.
    fn constant(&self, name: &str) -> Option<f64> {
        let Params {
            start, end, step, ..
        } = *self.params;
        match name {
            "start" => Some(seconds(start)),
            "end" => Some(seconds(end)),
            "range" => Some(span_seconds(end - start)),
            "step" => Some(if start == end {
                0.0
            } else {
                span_seconds(step)
            }),
            _ => None,
        }
    }

    fn range(
        &mut self,
        matrix: &MatrixSelector,
        at: usize,
        place: Place<'_>,
    ) -> Result<Lowered, EvalError> {
        let range = self.durations.millis(&matrix.range, false)?;
        let selector = self.selector(&matrix.selector, Some(range), place)?;
        let fixed = selector.shift.at.is_some();
        Ok(Lowered::new(
            NodeKind::Range(RangeSelector { selector, range }),
            at,
            fixed,
            false,
        ))
    }

    fn subquery(
        &mut self,
        subquery: &Subquery,
        at: usize,
        place: Place<'_>,
    ) -> Result<Lowered, EvalError> {
        let range = self.durations.millis(&subquery.range, false)?;
        let step = match &subquery.step {
            Some(step) => self.durations.millis(step, false)?,
            None => 0,
        };
        let step = if step > 0 {
            step
        } else {
            self.params.default_subquery_step.max(1)
        };
        let shift = self.shift(&subquery.modifiers)?;
        let inner = Place {
            start: shift.of(place.start).saturating_sub(range),
            end: shift.of(place.end),
            step,
            grouping: None,
            buckets: true,
            ..place
        };
        let expr = self.lower(&subquery.expr, inner)?;
        // Whatever does not depend on time is evaluated once, even a literal.
        let expr = if expr.invariant {
            once(expr.node)
        } else {
            expr.node
        };
        let node = SubqueryNode {
            expr,
            range,
            step,
            shift,
        };
        let fixed = shift.at.is_some();
        Ok(Lowered::new(
            NodeKind::Subquery(Box::new(node)),
            at,
            fixed,
            false,
        ))
    }

    fn shift(&self, modifiers: &Modifiers) -> Result<Shift, EvalError> {
        let offset = match &modifiers.offset {
            Some(offset) => self.durations.millis(offset, true)?,
            None => 0,
        };
        let at = modifiers.at.map(|at| match at {
            At::Time(millis) => millis,
            At::Start => self.params.start,
            At::End => self.params.end,
        });
        Ok(Shift { at, offset })
    }

    fn selector(
        &mut self,
        selector: &VectorSelector,
        range: Option<i64>,
        place: Place<'_>,
    ) -> Result<Selector, EvalError> {
        let shift = self.shift(&selector.modifiers)?;
        let lookback = self.params.lookback;
        let smooth = selector.smoothing == Smoothing::Smoothed;
        let before = match range {
            Some(range) if selector.smoothing == Smoothing::None => range,
            Some(range) => range.saturating_add(lookback),
            None => lookback,
        };
        let after = if smooth { lookback } else { 0 };
        let grouping = place.grouping.filter(|_| range.is_none());
        let selection = self.select(Selection {
            matchers: selector.matchers.clone(),
            start: shift.of(place.start).saturating_sub(before),
            end: shift.of(place.end).saturating_add(after),
            is_range: range.is_some() || smooth,
            step: place.step,
            function: place.function,
            grouping: grouping.map(|aggregate| (!aggregate.without, aggregate.labels.clone())),
        });
        Ok(Selector {
            selection,
            matchers: selector.matchers.clone(),
            shift,
            smoothing: selector.smoothing,
            stats_only: place.stats && !place.buckets,
        })
    }

    /// The number of a selection; one that overlaps an earlier one on the same series widens it.
    fn select(&mut self, wanted: Selection) -> usize {
        let same = self.selections.iter().position(|known| {
            known.matchers == wanted.matchers
                && known.start <= wanted.end
                && wanted.start <= known.end
        });
        let Some(at) = same else {
            self.selections.push(wanted);
            return self.selections.len() - 1;
        };
        let known = &mut self.selections[at];
        known.start = known.start.min(wanted.start);
        known.end = known.end.max(wanted.end);
        known.is_range |= wanted.is_range;
        known.step = known.step.min(wanted.step);
        if known.function != wanted.function {
            known.function = None;
        }
        if known.grouping != wanted.grouping {
            known.grouping = None;
        }
        at
    }

    /// What `info` reads besides its argument: info series at the times the argument is looked at.
    fn info(&mut self, call: &Call, place: Place<'_>) -> Result<InfoSelection, EvalError> {
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
        });
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

fn children(expr: &Expr) -> Vec<&Expr> {
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

fn aggregate_name(aggregate: &Aggregate) -> &'static str {
    crate::eval::aggregate::name(aggregate.op)
}
