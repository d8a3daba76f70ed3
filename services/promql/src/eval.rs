//! A plan and the series it asked for become a value: one walk over the tree, all steps at once.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::annotations::Annotations;
use crate::error::EvalError;
use crate::select::node::{Node, NodeKind};
use crate::select::{Params, Plan};
use crate::series::SeriesSet;
use crate::value::Answer;

pub(crate) mod grid;
pub(crate) mod raw;
pub(crate) mod selector;
mod subquery;
pub(crate) mod range;
pub(crate) mod call;
pub(crate) mod aggregate;
mod binary;
mod smoothing;
mod result;
#[cfg(test)]
mod tests;

use grid::{Column, Steps};

/// Evaluates `plan`; `sets[i]` answers `plan.selections()[i]`.
///
/// # Errors
///
/// [`EvalError`] where the data does not fit the query or the query needs more samples than it may hold.
pub fn evaluate(plan: &Plan, sets: Vec<SeriesSet>) -> Result<Answer, EvalError> {
    evaluate_with(plan, sets, &|| false)
}

/// [`evaluate`] that stops soon after `cancelled` says so; it is asked between series.
///
/// # Errors
///
/// As [`evaluate`], and [`EvalError::Cancelled`].
pub fn evaluate_with(
    plan: &Plan,
    mut sets: Vec<SeriesSet>,
    cancelled: &dyn Fn() -> bool,
) -> Result<Answer, EvalError> {
    for set in &mut sets {
        if !set
            .series
            .is_sorted_by(|left, right| left.labels <= right.labels)
        {
            set.series
                .sort_by(|left, right| left.labels.cmp(&right.labels));
        }
    }
    sets.resize_with(plan.selections().len(), SeriesSet::default);
    let evaluator = Evaluator {
        plan,
        params: plan.params(),
        sets: &sets,
        cancelled,
        notes: RefCell::default(),
        held: Cell::new(0),
        numbers: Cell::new(0),
        peak: Cell::new(0),
        total: Cell::new(0),
    };
    let value = evaluator.value()?;
    let (warnings, infos) = evaluator.notes.borrow().render(plan.text());
    Ok(Answer {
        value,
        warnings,
        infos,
        total_samples: evaluator.total.get(),
        peak_samples: evaluator.peak.get() as u64,
    })
}

/// What a node evaluates to.
#[derive(Debug)]
pub(crate) enum Evaluated {
    /// One number per step.
    Scalar(Vec<f64>),
    /// Series; their order is part of the result.
    Vector(Vec<Column>),
    /// A text.
    Text(String),
}

impl Evaluated {
    /// The series; a scalar has none.
    pub(crate) fn columns(self) -> Vec<Column> {
        match self {
            Self::Vector(columns) => columns,
            Self::Scalar(_) | Self::Text(_) => Vec::new(),
        }
    }

    /// The numbers; series have none.
    pub(crate) fn numbers(self) -> Vec<f64> {
        match self {
            Self::Scalar(numbers) => numbers,
            Self::Vector(_) | Self::Text(_) => Vec::new(),
        }
    }
}

/// One evaluation: its inputs, its remarks and its budget.
pub(crate) struct Evaluator<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) params: &'a Params,
    pub(crate) sets: &'a [SeriesSet],
    cancelled: &'a dyn Fn() -> bool,
    notes: RefCell<Annotations>,
    held: Cell<usize>,
    /// Numbers of scalars whose use is still to come.
    numbers: Cell<usize>,
    peak: Cell<usize>,
    total: Cell<u64>,
}

impl<'a> Evaluator<'a> {
    /// The value of `node` at all `steps`. Refused before anything is allocated for more steps than the
    /// query may hold samples.
    pub(crate) fn eval(&self, node: &'a Node, steps: Steps) -> Result<Evaluated, EvalError> {
        self.check()?;
        self.afford(steps.count)?;
        // What the operands hold is free again once the value is there.
        let before = self.numbers.get();
        let value = self.dispatch(node, steps)?;
        let (columns, numbers) = match &value {
            Evaluated::Scalar(numbers) => (0, numbers.len()),
            Evaluated::Vector(columns) => (columns.len(), 0),
            Evaluated::Text(_) => (0, 0),
        };
        self.numbers.set(before.saturating_add(numbers));
        // Empty cells weigh as in `Column::weight`.
        self.afford(columns.saturating_mul(steps.count / 4))?;
        Ok(value)
    }

    fn dispatch(&self, node: &'a Node, steps: Steps) -> Result<Evaluated, EvalError> {
        match &node.kind {
            NodeKind::Number(value) => Ok(Evaluated::Scalar(vec![*value; steps.count])),
            NodeKind::Text(text) => Ok(Evaluated::Text(text.clone())),
            NodeKind::Unary { negate, expr } => self.unary(*negate, expr, steps),
            NodeKind::Once(expr) => self.once(expr, steps),
            NodeKind::Selector(selector) => self
                .selector(selector, node.at, steps)
                .map(Evaluated::Vector),
            NodeKind::Binary(binary) => self.binary(binary, node.at, steps),
            NodeKind::Aggregate(aggregate) => self
                .aggregate(aggregate, node.at, steps)
                .map(Evaluated::Vector),
            NodeKind::Call(call) => self.call(call, node.at, steps),
            NodeKind::Range(_) | NodeKind::Subquery(_) => Err(EvalError::Execution(
                "a range has no value at each step".to_owned(),
            )),
        }
    }

    fn unary(&self, negate: bool, expr: &'a Node, steps: Steps) -> Result<Evaluated, EvalError> {
        let value = self.eval(expr, steps)?;
        if !negate {
            return Ok(value);
        }
        match value {
            Evaluated::Scalar(mut numbers) => {
                numbers.iter_mut().for_each(|number| *number = -*number);
                Ok(Evaluated::Scalar(numbers))
            }
            Evaluated::Vector(mut columns) => {
                for column in &mut columns {
                    column.vals.iter_mut().for_each(|value| *value = -*value);
                    for hist in column.hists.iter_mut().flatten() {
                        *hist = Arc::new(hist.neg());
                    }
                }
                self.nameless(columns).map(Evaluated::Vector)
            }
            text @ Evaluated::Text(_) => Ok(text),
        }
    }

    /// The value at the first step, at all steps.
    fn once(&self, expr: &'a Node, steps: Steps) -> Result<Evaluated, EvalError> {
        let value = self.eval(expr, steps.once())?;
        if steps.count < 2 {
            return Ok(value);
        }
        match value {
            Evaluated::Scalar(numbers) => Ok(Evaluated::Scalar(
                numbers
                    .iter()
                    .flat_map(|one| vec![*one; steps.count])
                    .collect(),
            )),
            Evaluated::Vector(mut columns) => {
                for column in &mut columns {
                    column.repeat(steps.count);
                    self.hold(column.weight())?;
                }
                Ok(Evaluated::Vector(columns))
            }
            text @ Evaluated::Text(_) => Ok(text),
        }
    }

    /// The series of `node`.
    pub(crate) fn vector(&self, node: &'a Node, steps: Steps) -> Result<Vec<Column>, EvalError> {
        self.eval(node, steps).map(Evaluated::columns)
    }

    /// The numbers of `node`.
    pub(crate) fn scalar(&self, node: &'a Node, steps: Steps) -> Result<Vec<f64>, EvalError> {
        self.eval(node, steps).map(Evaluated::numbers)
    }

    /// Stops an evaluation that nobody waits for.
    pub(crate) fn check(&self) -> Result<(), EvalError> {
        if (self.cancelled)() {
            Err(EvalError::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Takes a remark down.
    pub(crate) fn note(&self, add: impl FnOnce(&mut Annotations)) {
        add(&mut self.notes.borrow_mut());
    }

    /// Whether names stay until the end of the query.
    pub(crate) fn delays_names(&self) -> bool {
        self.params.features.delayed_name_removal
    }

    /// Takes the name off a column, now or at the end.
    pub(crate) fn drop_name(&self, column: &mut Column) {
        if !self.delays_names() {
            column.labels = column.labels.without_metadata();
        }
        column.drop_name = true;
    }

    /// Counts samples that were read.
    pub(crate) fn read(&self, samples: usize) {
        self.total.set(self.total.get() + samples as u64);
    }

    /// Takes samples into memory.
    pub(crate) fn hold(&self, samples: usize) -> Result<(), EvalError> {
        let held = self.held.get().saturating_add(samples);
        self.held.set(held);
        self.peak.set(self.peak.get().max(held));
        if held > self.params.max_samples {
            Err(EvalError::TooManySamples)
        } else {
            Ok(())
        }
    }

    /// Whether `samples` fit the budget by themselves beside the scalars in memory.
    fn afford(&self, samples: usize) -> Result<(), EvalError> {
        if self.numbers.get().saturating_add(samples) > self.params.max_samples {
            Err(EvalError::TooManySamples)
        } else {
            Ok(())
        }
    }

    /// Lets samples go.
    pub(crate) fn release(&self, samples: usize) {
        self.held.set(self.held.get().saturating_sub(samples));
    }
}
