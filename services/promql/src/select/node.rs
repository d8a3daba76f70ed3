//! The tree that is evaluated: an expression with durations, times and fetches resolved.

use crate::ast::{AggregateOp, BinaryOp, Matcher, Matching, Smoothing};
use crate::functions::Function;

/// A node and where it stands in the query text.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// Byte offset of its first character; parentheses around arguments do not count.
    pub(crate) at: usize,
}

/// What a node computes.
#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Number(f64),
    Text(String),
    Selector(Selector),
    Range(RangeSelector),
    Subquery(Box<SubqueryNode>),
    Unary {
        negate: bool,
        expr: Box<Node>,
    },
    /// The same value at every step: evaluated at the first step alone.
    Once(Box<Node>),
    Binary(Box<BinaryNode>),
    Aggregate(Box<AggregateNode>),
    Call(Box<CallNode>),
}

/// `offset` and `@`, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shift {
    pub(crate) at: Option<i64>,
    pub(crate) offset: i64,
}

impl Shift {
    /// The time that is looked at when the evaluation time is `ts`.
    pub(crate) fn of(self, ts: i64) -> i64 {
        self.at.unwrap_or(ts).saturating_sub(self.offset)
    }
}

/// An instant selector.
#[derive(Clone, Debug)]
pub(crate) struct Selector {
    /// Which of the plan's selections holds its series.
    pub(crate) selection: usize,
    pub(crate) matchers: Vec<Matcher>,
    pub(crate) shift: Shift,
    pub(crate) smoothing: Smoothing,
    /// Only counts and sums of native histograms are looked at.
    pub(crate) stats_only: bool,
}

/// A selector with a range in milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct RangeSelector {
    pub(crate) selector: Selector,
    pub(crate) range: i64,
}

/// `expr[range:step]`, in milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct SubqueryNode {
    pub(crate) expr: Node,
    pub(crate) range: i64,
    pub(crate) step: i64,
    pub(crate) shift: Shift,
}

/// A binary operator.
#[derive(Clone, Debug)]
pub(crate) struct BinaryNode {
    pub(crate) op: BinaryOp,
    pub(crate) left: Node,
    pub(crate) right: Node,
    pub(crate) returns_bool: bool,
    pub(crate) matching: Option<Matching>,
}

/// An aggregation; `labels` are sorted.
#[derive(Clone, Debug)]
pub(crate) struct AggregateNode {
    pub(crate) op: AggregateOp,
    pub(crate) expr: Node,
    pub(crate) param: Option<Node>,
    pub(crate) without: bool,
    pub(crate) labels: Vec<String>,
}

/// A function call.
#[derive(Clone, Debug)]
pub(crate) struct CallNode {
    pub(crate) function: &'static Function,
    pub(crate) args: Vec<Node>,
    /// What `info` fetches besides its argument.
    pub(crate) info: Option<InfoSelection>,
}

/// The info series of a call of `info`.
#[derive(Clone, Debug)]
pub(crate) struct InfoSelection {
    pub(crate) selection: usize,
    pub(crate) shift: Shift,
    /// The conditions of the second argument on anything but the name.
    pub(crate) data: Vec<Matcher>,
    /// The conditions on the name of an info metric.
    pub(crate) names: Vec<Matcher>,
}

impl Node {
    /// Whether it gives whole windows of samples.
    pub(crate) fn is_matrix(&self) -> bool {
        match &self.kind {
            NodeKind::Range(_) | NodeKind::Subquery(_) => true,
            NodeKind::Once(expr) => expr.is_matrix(),
            _ => false,
        }
    }
}
