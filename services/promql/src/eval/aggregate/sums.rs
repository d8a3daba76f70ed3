//! `sum` and `avg`: compensated sums of floats, or sums of histograms, per group and step.

use std::sync::Arc;

use crate::ast::AggregateOp;
use crate::error::EvalError;
use crate::eval::Evaluator;
use crate::eval::grid::{Bits, Column, Steps};
use crate::functions::notes;
use crate::histogram::{Combined, Histogram, HistogramMean, HistogramSum, IncompatibleSchemas};
use crate::kahan::{Mean, Sum};
use crate::labels::Labels;
use crate::select::node::AggregateNode;

use super::groups::Groups;

impl Evaluator<'_> {
    pub(super) fn sums(
        &self,
        node: &AggregateNode,
        input: &[Column],
        groups: Groups,
        steps: Steps,
    ) -> Result<Vec<Column>, EvalError> {
        let members = groups.members();
        let mut out = Vec::with_capacity(members.len());
        for (labels, members) in groups.labels.into_iter().zip(members) {
            self.check()?;
            let members: Vec<&Column> = members.iter().map(|member| &input[*member]).collect();
            let mut made = if members.iter().any(|column| !column.hists.is_empty()) {
                self.mixed_sum(node, &members, labels, steps)
            } else if node.op == AggregateOp::Sum {
                float_sum(&members, labels, steps)
            } else {
                float_mean(&members, labels, steps)
            };
            made.drop_name = members.iter().any(|column| column.drop_name);
            if !made.is_empty() {
                out.push(made);
            }
        }
        Ok(out)
    }

    /// A group that has histograms at some step.
    fn mixed_sum(
        &self,
        node: &AggregateNode,
        members: &[&Column],
        labels: Labels,
        steps: Steps,
    ) -> Column {
        let mut made = Column::new(labels, steps.count);
        for step in 0..steps.count {
            let mut total = Total::new(node.op == AggregateOp::Avg);
            for column in members {
                if let Some(value) = column.float(step) {
                    total.add_float(value);
                } else if let Some(hist) = column.hist(step)
                    && total.add_hist(hist).is_err()
                {
                    notes::mixed_schemas_of(self, node.expr.at, column.labels.name());
                }
            }
            self.settle(total, node.expr.at, step, &mut made);
        }
        made
    }

    fn settle(&self, total: Total, at: usize, step: usize, made: &mut Column) {
        let combined = total.hist.as_ref().map(Running::combined);
        if combined.is_some_and(|combined| combined.bounds_reconciled) {
            notes::reconciled(self, at, "aggregation");
        }
        if total.float.is_some() && total.has_hist {
            let text = "encountered a mix of histograms and floats for aggregation";
            self.note(|all| all.warn(at, text));
            return;
        }
        if total.incompatible {
            return;
        }
        if combined.is_some_and(|combined| combined.reset_collision) {
            notes::reset_collision(self, at, "aggregation");
        }
        match (total.float, total.hist) {
            (Some(FloatTotal::Sum(sum)), _) => made.set_float(step, sum.total()),
            (Some(FloatTotal::Mean(mean)), _) => made.set_float(step, mean.value()),
            (None, Some(hist)) => made.set_hist(step, Arc::new(hist.finish())),
            (None, None) => {}
        }
    }
}

/// The sum of floats at each step.
fn float_sum(members: &[&Column], labels: Labels, steps: Steps) -> Column {
    let mut made = Column::new(labels, steps.count);
    let mut errors = vec![0.0; steps.count];
    for column in members {
        if !made.floats.any() {
            made.vals.clone_from(&column.vals);
            made.floats.clone_from(&column.floats);
            continue;
        }
        if made.floats.all() && column.floats.all() {
            let cells = made.vals.iter_mut().zip(&mut errors).zip(&column.vals);
            cells.for_each(|((sum, error), value)| add(sum, error, *value));
            continue;
        }
        for step in column.floats.iter() {
            if made.floats.get(step) {
                add(&mut made.vals[step], &mut errors[step], column.vals[step]);
            } else {
                made.set_float(step, column.vals[step]);
            }
        }
    }
    made.vals
        .iter_mut()
        .zip(errors)
        .for_each(|(sum, error)| *sum += error);
    made
}

#[inline]
fn add(sum: &mut f64, error: &mut f64, value: f64) {
    let next = Sum {
        sum: *sum,
        error: *error,
    }
    .plus(value);
    (*sum, *error) = (next.sum, next.error);
}

/// The mean of floats at each step.
fn float_mean(members: &[&Column], labels: Labels, steps: Steps) -> Column {
    let mut made = Column::new(labels, steps.count);
    let mut means = vec![Mean::of(0.0); steps.count];
    let mut seen = Bits::new(steps.count);
    for column in members {
        for step in column.floats.iter() {
            let value = column.vals[step];
            if seen.get(step) {
                means[step].add(value);
            } else {
                seen.set(step);
                means[step] = Mean::of(value);
            }
        }
    }
    for step in seen.iter() {
        made.set_float(step, means[step].value());
    }
    made
}

enum FloatTotal {
    Sum(Sum),
    Mean(Mean),
}

enum Running {
    Sum(HistogramSum),
    Mean(HistogramMean),
}

impl Running {
    fn combined(&self) -> Combined {
        match self {
            Self::Sum(sum) => sum.combined(),
            Self::Mean(mean) => mean.combined(),
        }
    }

    fn finish(self) -> Histogram {
        let mut hist = match self {
            Self::Sum(sum) => sum.finish(),
            Self::Mean(mean) => mean.finish(),
        };
        hist.compact();
        hist
    }
}

/// One group at one step, of floats and histograms.
struct Total {
    is_mean: bool,
    float: Option<FloatTotal>,
    hist: Option<Running>,
    has_hist: bool,
    /// Exponential buckets met custom bounds; nothing counts any more.
    incompatible: bool,
}

impl Total {
    fn new(is_mean: bool) -> Self {
        Self {
            is_mean,
            float: None,
            hist: None,
            has_hist: false,
            incompatible: false,
        }
    }

    fn add_float(&mut self, value: f64) {
        if self.incompatible {
            return;
        }
        match &mut self.float {
            None if self.is_mean => self.float = Some(FloatTotal::Mean(Mean::of(value))),
            None => self.float = Some(FloatTotal::Sum(Sum::of(value))),
            Some(FloatTotal::Sum(sum)) => *sum = sum.plus(value),
            Some(FloatTotal::Mean(mean)) => mean.add(value),
        }
    }

    fn add_hist(&mut self, hist: &Histogram) -> Result<(), IncompatibleSchemas> {
        if self.incompatible {
            return Ok(());
        }
        self.has_hist = true;
        let done = match &mut self.hist {
            // With a float in the group there will be no sum.
            None if self.float.is_some() => Ok(()),
            None => {
                self.hist = Some(if self.is_mean {
                    Running::Mean(HistogramMean::new(hist))
                } else {
                    Running::Sum(HistogramSum::new(hist))
                });
                Ok(())
            }
            Some(Running::Sum(sum)) => sum.add(hist),
            Some(Running::Mean(mean)) => mean.add(hist),
        };
        self.incompatible |= done.is_err();
        done
    }
}
