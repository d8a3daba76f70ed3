//! A parsed expression becomes the tree that is evaluated, and the list of what it reads.

use std::collections::HashMap;

use crate::ast::{Aggregate, Binary, BinaryOp, Call, Expr, ExprKind, Matcher};
use crate::error::EvalError;
use crate::number::{seconds, span_seconds};

use super::duration::Context;
use super::node::{AggregateNode, BinaryNode, CallNode, Node, NodeKind};
use super::{Params, Selection};

mod info;
mod reads;

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
    /// Which selections have these matchers: there may be thousands of selections.
    by_matchers: HashMap<Vec<Matcher>, Vec<usize>>,
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

/// How many selectors an expression has.
fn selectors(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Vector(_) | ExprKind::Matrix(_) => 1,
        ExprKind::Subquery(subquery) => selectors(&subquery.expr),
        _ => info::children(expr).into_iter().map(selectors).sum(),
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
        let range = params.end.saturating_sub(params.start);
        let durations = Context {
            step: seconds(params.step),
            range: seconds(range),
        };
        Self {
            params,
            durations,
            selections: Vec::new(),
            by_matchers: HashMap::new(),
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
        match self.lower(expr, place) {
            Err(EvalError::TooManySelectors { limit, .. }) => Err(EvalError::TooManySelectors {
                // `info` reads more than is written.
                found: selectors(expr).max(limit.saturating_add(1)),
                limit,
            }),
            lowered => Ok(lowered?.wrapped()),
        }
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
            "range" => Some(span_seconds(end.saturating_sub(start))),
            "step" => Some(if start == end {
                0.0
            } else {
                span_seconds(step)
            }),
            _ => None,
        }
    }
}

fn aggregate_name(aggregate: &Aggregate) -> &'static str {
    crate::eval::aggregate::name(aggregate.op)
}
