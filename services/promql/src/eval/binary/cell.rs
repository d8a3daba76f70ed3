//! Binary operators on two samples.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ast::BinaryOp;
use crate::eval::Evaluator;
use crate::histogram::{Combined, Histogram};
use crate::math;
use crate::number::quote;

/// One operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand<'a> {
    Float(f64),
    Hist(&'a Arc<Histogram>),
}

/// What two samples give.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    /// A float, and whether a comparison keeps it.
    Float(f64, bool),
    /// A histogram, and whether a comparison keeps it.
    Hist(Arc<Histogram>, bool),
    /// Nothing: the samples cannot be combined.
    Nothing,
}

/// A remark about one pair of samples.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Note {
    Warn(String),
    Info(String),
}

/// The last remark of each step; as in Prometheus, earlier ones of the same step are lost.
#[derive(Debug, Default)]
pub(super) struct Notes(BTreeMap<usize, Note>);

impl Notes {
    pub(super) fn set(&mut self, step: usize, note: Option<Note>) {
        if let Some(note) = note {
            self.0.insert(step, note);
        }
    }

    /// Writes them down at their place in the query.
    pub(super) fn write(self, ev: &Evaluator<'_>, at: usize) {
        for note in self.0.into_values() {
            ev.note(|all| match note {
                Note::Warn(text) => all.warn(at, text),
                Note::Info(text) => all.info(at, text),
            });
        }
    }
}

/// The operator as written in a query.
pub(super) fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Mod => "%",
        BinaryOp::Pow => "^",
        BinaryOp::Atan2 => "atan2",
        BinaryOp::Eql => "==",
        BinaryOp::Neq => "!=",
        BinaryOp::Lte => "<=",
        BinaryOp::Lss => "<",
        BinaryOp::Gte => ">=",
        BinaryOp::Gtr => ">",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Unless => "unless",
        BinaryOp::TrimUpper => "</",
        BinaryOp::TrimLower => ">/",
    }
}

/// Whether a comparison holds; `None` for operators that are none.
#[inline]
pub(super) fn compare(op: BinaryOp, left: f64, right: f64) -> Option<bool> {
    Some(match op {
        BinaryOp::Eql => left == right,
        BinaryOp::Neq => left != right,
        BinaryOp::Lte => left <= right,
        BinaryOp::Lss => left < right,
        BinaryOp::Gte => left >= right,
        BinaryOp::Gtr => left > right,
        _ => return None,
    })
}

/// An operator on two scalars; a comparison gives 1 or 0.
pub(super) fn scalar(op: BinaryOp, left: f64, right: f64) -> f64 {
    match compare(op, left, right) {
        Some(holds) => f64::from(u8::from(holds)),
        None => arithmetic(op, left, right),
    }
}

/// An arithmetic operator on two floats; NaN for others.
#[inline]
pub(super) fn arithmetic(op: BinaryOp, left: f64, right: f64) -> f64 {
    match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        BinaryOp::Div => left / right,
        BinaryOp::Mod => left % right,
        BinaryOp::Pow => math::pow(left, right),
        BinaryOp::Atan2 => math::atan2(left, right),
        _ => f64::NAN,
    }
}

/// An operator on two samples.
pub(super) fn combine(
    op: BinaryOp,
    left: Operand<'_>,
    right: Operand<'_>,
) -> (Outcome, Option<Note>) {
    match (left, right) {
        (Operand::Float(left), Operand::Float(right)) => floats(op, left, right),
        (Operand::Float(left), Operand::Hist(right)) => match op {
            BinaryOp::Mul => (changed(right, |hist| hist.mul(left)), None),
            _ => mismatch(op, "float", "histogram"),
        },
        (Operand::Hist(left), Operand::Float(right)) => match op {
            BinaryOp::Mul => (changed(left, |hist| hist.mul(right)), None),
            BinaryOp::Div => (changed(left, |hist| hist.div(right)), None),
            BinaryOp::TrimUpper => (trimmed(left, |hist| hist.trim_above(right)), None),
            BinaryOp::TrimLower => (trimmed(left, |hist| hist.trim_below(right)), None),
            _ => mismatch(op, "histogram", "float"),
        },
        (Operand::Hist(left), Operand::Hist(right)) => histograms(op, left, right),
    }
}

fn floats(op: BinaryOp, left: f64, right: f64) -> (Outcome, Option<Note>) {
    if matches!(op, BinaryOp::TrimUpper | BinaryOp::TrimLower) {
        return mismatch(op, "float", "float");
    }
    let outcome = match compare(op, left, right) {
        Some(keep) => Outcome::Float(left, keep),
        None => Outcome::Float(arithmetic(op, left, right), true),
    };
    (outcome, None)
}

fn mismatch(op: BinaryOp, left: &str, right: &str) -> (Outcome, Option<Note>) {
    let op = symbol(op);
    let text = format!(
        "incompatible sample types encountered for binary operator {}: {left} {op} {right}",
        quote(op)
    );
    (Outcome::Nothing, Some(Note::Info(text)))
}

fn changed(hist: &Histogram, change: impl FnOnce(&mut Histogram)) -> Outcome {
    let mut hist = hist.clone();
    change(&mut hist);
    hist.compact();
    Outcome::Hist(Arc::new(hist), true)
}

fn trimmed(hist: &Histogram, change: impl FnOnce(&mut Histogram)) -> Outcome {
    let mut hist = hist.clone();
    change(&mut hist);
    Outcome::Hist(Arc::new(hist), true)
}

fn histograms(
    op: BinaryOp,
    left: &Arc<Histogram>,
    right: &Arc<Histogram>,
) -> (Outcome, Option<Note>) {
    let mut result = Histogram::clone(left);
    let (combined, operation) = match op {
        BinaryOp::Add => (result.add(right), "addition"),
        BinaryOp::Sub => (result.sub(right), "subtraction"),
        BinaryOp::Eql => return (Outcome::Hist(Arc::clone(left), left == right), None),
        BinaryOp::Neq => return (Outcome::Hist(Arc::clone(left), left != right), None),
        _ => return mismatch(op, "histogram", "histogram"),
    };
    let Ok(Combined {
        reset_collision,
        bounds_reconciled,
    }) = combined
    else {
        let op = symbol(op);
        let text = format!("incompatible bucket layout encountered for binary operator {op}");
        return (Outcome::Nothing, Some(Note::Warn(text)));
    };
    if reset_collision {
        let text = format!("conflicting counter resets during histogram {operation}");
        return (Outcome::Nothing, Some(Note::Warn(text)));
    }
    if op == BinaryOp::Sub {
        result.reset_hint = crate::histogram::ResetHint::Gauge;
    }
    result.compact();
    let note = bounds_reconciled.then(|| {
        Note::Info(format!(
            "mismatched custom buckets were reconciled during {operation}"
        ))
    });
    (Outcome::Hist(Arc::new(result), true), note)
}
