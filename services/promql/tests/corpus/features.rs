//! An expression in, the parts of the language that it uses out, with how deep inside each stands.

use promql::ast::{
    Aggregate, At, Binary, BinaryOp, Cardinality, Duration, DurationExpr, DurationKind, Expr,
    ExprKind, MatchOp, Matcher, Matching, Modifiers, Smoothing, VectorSelector,
};
use promql::labels::METRIC_NAME;

/// The tables of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    Function,
    Operator,
    Aggregation,
    Modifier,
    Selector,
    Duration,
    Literal,
}

/// A part of the language.
pub(crate) type Feature = (Group, &'static str);

/// Parts in the order in which they were met.
#[derive(Default)]
pub(crate) struct Found(pub(crate) Vec<(Feature, usize)>);

/// What `expr` uses.
pub(crate) fn of(expr: &Expr) -> Found {
    let mut found = Found::default();
    found.expr(expr, 0);
    found
}

impl Found {
    fn add(&mut self, group: Group, name: &'static str, depth: usize) {
        self.0.push(((group, name), depth));
    }

    fn expr(&mut self, expr: &Expr, depth: usize) {
        let inner = depth + 1;
        match &expr.kind {
            ExprKind::Number(_) => self.add(Group::Literal, "number", depth),
            ExprKind::Seconds(_) => self.add(Group::Literal, "duration", depth),
            ExprKind::String(_) => self.add(Group::Literal, "string", depth),
            ExprKind::Paren(within) => {
                self.add(Group::Literal, "( )", depth);
                self.expr(within, depth);
            }
            ExprKind::Unary { negate, expr } => {
                let sign = if *negate { "unary -" } else { "unary +" };
                self.add(Group::Operator, sign, depth);
                self.expr(expr, inner);
            }
            ExprKind::Binary(binary) => self.binary(binary, depth),
            ExprKind::Aggregate(aggregate) => self.aggregate(aggregate, depth),
            ExprKind::Call(call) => {
                self.add(Group::Function, call.function.name, depth);
                call.args.iter().for_each(|arg| self.expr(arg, inner));
            }
            ExprKind::Vector(selector) => self.selector(selector, depth),
            ExprKind::Matrix(matrix) => {
                self.add(Group::Selector, "[range]", depth);
                self.selector(&matrix.selector, depth);
                self.duration(&matrix.range, depth);
            }
            ExprKind::Subquery(subquery) => {
                let name = match subquery.step {
                    Some(_) => "[range:step]",
                    None => "[range:]",
                };
                self.add(Group::Selector, name, depth);
                self.duration(&subquery.range, depth);
                if let Some(step) = &subquery.step {
                    self.duration(step, depth);
                }
                self.modifiers(&subquery.modifiers, depth);
                self.expr(&subquery.expr, inner);
            }
        }
    }

    fn binary(&mut self, binary: &Binary, depth: usize) {
        self.add(Group::Operator, binary.op.symbol(), depth);
        if binary.returns_bool {
            self.add(Group::Modifier, "bool", depth);
        }
        if let Some(matching) = &binary.matching {
            self.matching(matching, depth);
        }
        self.expr(&binary.left, depth + 1);
        self.expr(&binary.right, depth + 1);
    }

    fn matching(&mut self, matching: &Matching, depth: usize) {
        // Taken apart whole, so that a new part cannot be forgotten here.
        let Matching {
            card,
            on,
            labels,
            include: _,
            fill_left,
            fill_right,
        } = matching;
        if *on {
            self.add(Group::Modifier, "on", depth);
        } else if !labels.is_empty() {
            self.add(Group::Modifier, "ignoring", depth);
        }
        match card {
            Cardinality::ManyToOne => self.add(Group::Modifier, "group_left", depth),
            Cardinality::OneToMany => self.add(Group::Modifier, "group_right", depth),
            Cardinality::OneToOne | Cardinality::ManyToMany => {}
        }
        if fill_left.is_some() && fill_left == fill_right {
            return self.add(Group::Modifier, "fill", depth);
        }
        for (name, fill) in [("fill_left", fill_left), ("fill_right", fill_right)] {
            if fill.is_some() {
                self.add(Group::Modifier, name, depth);
            }
        }
    }

    fn aggregate(&mut self, aggregate: &Aggregate, depth: usize) {
        let Aggregate {
            op,
            expr,
            param,
            without,
            labels,
        } = aggregate;
        self.add(Group::Aggregation, op.name(), depth);
        if *without {
            self.add(Group::Modifier, "without", depth);
        } else if !labels.is_empty() {
            self.add(Group::Modifier, "by", depth);
        }
        for part in param.iter().chain([expr]) {
            self.expr(part, depth + 1);
        }
    }

    fn selector(&mut self, selector: &VectorSelector, depth: usize) {
        let VectorSelector {
            name,
            matchers,
            modifiers,
            smoothing,
        } = selector;
        if name.is_some() {
            self.add(Group::Selector, "name", depth);
        }
        // The name before the braces is the last matcher.
        let written = matchers.len() - usize::from(name.is_some());
        for matcher in &matchers[..written] {
            let op = match matcher.op {
                MatchOp::Equal => "=",
                MatchOp::NotEqual => "!=",
                MatchOp::Regex => "=~",
                MatchOp::NotRegex => "!~",
            };
            self.add(Group::Selector, op, depth);
            if is_quoted(matcher) {
                self.add(Group::Selector, "\"quoted name\"", depth);
            }
        }
        match smoothing {
            Smoothing::None => {}
            Smoothing::Anchored => self.add(Group::Modifier, "anchored", depth),
            Smoothing::Smoothed => self.add(Group::Modifier, "smoothed", depth),
        }
        self.modifiers(modifiers, depth);
    }

    fn modifiers(&mut self, modifiers: &Modifiers, depth: usize) {
        let Modifiers { offset, at } = modifiers;
        if let Some(offset) = offset {
            let name = match offset {
                Duration::Millis(millis) if *millis < 0 => "offset -",
                _ => "offset",
            };
            self.add(Group::Modifier, name, depth);
            self.duration(offset, depth);
        }
        match at {
            None => {}
            Some(At::Time(_)) => self.add(Group::Modifier, "@", depth),
            Some(At::Start) => self.add(Group::Modifier, "@ start()", depth),
            Some(At::End) => self.add(Group::Modifier, "@ end()", depth),
        }
    }

    fn duration(&mut self, duration: &Duration, depth: usize) {
        if let Duration::Expr(expr) = duration {
            self.duration_expr(expr, depth);
        }
    }

    fn duration_expr(&mut self, expr: &DurationExpr, depth: usize) {
        let parts = match &expr.kind {
            DurationKind::Number(_) => return self.add(Group::Duration, "number", depth),
            DurationKind::Seconds(_) => return self.add(Group::Duration, "duration", depth),
            DurationKind::Step => return self.add(Group::Duration, "step()", depth),
            DurationKind::Range => return self.add(Group::Duration, "range()", depth),
            DurationKind::Negate(inner) => ("unary -", vec![inner]),
            DurationKind::Paren(inner) => ("( )", vec![inner]),
            DurationKind::Binary { op, left, right } => (BinaryOp::symbol(*op), vec![left, right]),
            DurationKind::Min(left, right) => ("min_of", vec![left, right]),
            DurationKind::Max(left, right) => ("max_of", vec![left, right]),
        };
        self.add(Group::Duration, parts.0, depth);
        for part in parts.1 {
            self.duration_expr(part, depth + 1);
        }
    }
}

/// Whether the name of the label, or of the metric, can only be written in quotes.
fn is_quoted(matcher: &Matcher) -> bool {
    let plain = |name: &str| name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    let is_name = matcher.name == METRIC_NAME && matcher.op == MatchOp::Equal;
    !plain(&matcher.name) || is_name && !plain(&matcher.value)
}
