//! `count`, `group`, `min`, `max`, `stddev`, `stdvar` and `quantile`: one float per group and step.

use crate::ast::AggregateOp;
use crate::eval::Evaluator;
use crate::eval::grid::{Bits, Column, Steps};
use crate::functions::order::quantile;
use crate::select::node::AggregateNode;

use super::groups::Groups;
use super::{Param, name};

/// What is known of one group at one step.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    count: f64,
    value: f64,
    mean: f64,
}

impl State {
    fn first(op: AggregateOp, value: f64) -> Self {
        let start = match op {
            AggregateOp::Stddev | AggregateOp::Stdvar => {
                if value.is_finite() {
                    0.0
                } else {
                    f64::NAN
                }
            }
            _ => value,
        };
        Self {
            count: 1.0,
            value: start,
            mean: value,
        }
    }

    fn add(&mut self, op: AggregateOp, value: f64) {
        self.count += 1.0;
        match op {
            AggregateOp::Min if self.value > value || self.value.is_nan() => self.value = value,
            AggregateOp::Max if self.value < value || self.value.is_nan() => self.value = value,
            AggregateOp::Stddev | AggregateOp::Stdvar => {
                let delta = value - self.mean;
                self.mean += delta / self.count;
                self.value += delta * (value - self.mean);
            }
            _ => {}
        }
    }

    fn result(self, op: AggregateOp) -> f64 {
        match op {
            AggregateOp::Count => self.count,
            AggregateOp::Group => 1.0,
            AggregateOp::Stdvar => self.value / self.count,
            AggregateOp::Stddev => (self.value / self.count).sqrt(),
            _ => self.value,
        }
    }
}

impl Evaluator<'_> {
    pub(super) fn scalars(
        &self,
        node: &AggregateNode,
        input: &[Column],
        groups: Groups,
        steps: Steps,
    ) -> Vec<Column> {
        let op = node.op;
        let members = groups.members();
        let mut out = Vec::with_capacity(members.len());
        for (labels, members) in groups.labels.into_iter().zip(members) {
            let mut made = Column::new(labels, steps.count);
            let mut states = vec![State::default(); steps.count];
            for member in members {
                made.drop_name |= input[member].drop_name;
                self.take_in(node, &input[member], &mut made.floats, &mut states);
            }
            for (value, state) in made.vals.iter_mut().zip(states) {
                *value = state.result(op);
            }
            if made.floats.any() {
                out.push(made);
            }
        }
        out
    }

    /// Adds one series to the states of its group; `seen` are the steps that have a state.
    fn take_in(
        &self,
        node: &AggregateNode,
        column: &Column,
        seen: &mut Bits,
        states: &mut [State],
    ) {
        let op = node.op;
        let counts_histograms = matches!(op, AggregateOp::Count | AggregateOp::Group);
        if !counts_histograms && column.hists.iter().any(Option::is_some) {
            self.histogram_ignored(op, node.expr.at);
        }
        for (step, state) in states.iter_mut().enumerate() {
            let hist = || (counts_histograms && column.hist(step).is_some()).then_some(0.0);
            let Some(value) = column.float(step).or_else(hist) else {
                continue;
            };
            if seen.get(step) {
                state.add(op, value);
                continue;
            }
            seen.set(step);
            *state = State::first(op, value);
        }
    }

    pub(super) fn quantiles(
        &self,
        node: &AggregateNode,
        input: &[Column],
        groups: Groups,
        (param, steps): (&Param, Steps),
    ) -> Vec<Column> {
        let members = groups.members();
        let mut out = Vec::with_capacity(members.len());
        let mut values = Vec::new();
        for (labels, members) in groups.labels.into_iter().zip(members) {
            let mut made = Column::new(labels, steps.count);
            made.drop_name = members.iter().any(|member| input[*member].drop_name);
            if members
                .iter()
                .any(|member| input[*member].hists.iter().any(Option::is_some))
            {
                self.histogram_ignored(node.op, node.expr.at);
            }
            for step in 0..steps.count {
                values.clear();
                values.extend(
                    members
                        .iter()
                        .filter_map(|member| input[*member].float(step)),
                );
                if !values.is_empty() {
                    made.set_float(step, quantile(param.values[step], &mut values));
                }
            }
            if made.floats.any() {
                out.push(made);
            }
        }
        out
    }

    pub(super) fn histogram_ignored(&self, op: AggregateOp, at: usize) {
        let op = name(op);
        self.note(|all| all.info(at, format_args!("ignored histogram in {op} aggregation")));
    }
}
