//! `count_values`: how many series of each group have each value.

use std::collections::HashMap;

use crate::error::EvalError;
use crate::eval::Evaluator;
use crate::eval::call::text;
use crate::eval::grid::{Column, Steps};
use crate::labels::{Labels, METRIC_NAME};
use crate::number::{plain, quote};
use crate::select::node::AggregateNode;

/// The counts so far.
struct Counting<'e> {
    ev: &'e Evaluator<'e>,
    node: &'e AggregateNode,
    label: &'e str,
    steps: Steps,
    places: HashMap<Labels, usize>,
    out: Vec<Column>,
}

impl<'a> Evaluator<'a> {
    pub(super) fn count_values(
        &'a self,
        node: &'a AggregateNode,
        steps: Steps,
    ) -> Result<Vec<Column>, EvalError> {
        let label = node.param.as_ref().map_or("", text);
        if label.is_empty() {
            return Err(EvalError::Execution(format!(
                "invalid label name {}",
                quote(label)
            )));
        }
        let (places, out) = (HashMap::new(), Vec::new());
        let mut counting = Counting {
            ev: self,
            node,
            label,
            steps,
            places,
            out,
        };
        for column in &self.vector(&node.expr, steps)? {
            self.check()?;
            counting.add(column)?;
        }
        Ok(counting.out)
    }
}

impl Counting<'_> {
    fn add(&mut self, column: &Column) -> Result<(), EvalError> {
        let mut known: HashMap<u64, usize> = HashMap::new();
        for step in column.presence().iter() {
            let float = column.float(step);
            let at = match (float.and_then(|value| known.get(&value.to_bits())), float) {
                (Some(at), _) => *at,
                (None, Some(value)) => {
                    let at = self.place(&column.labels, &plain(value))?;
                    known.insert(value.to_bits(), at);
                    at
                }
                (None, None) => match column.hist(step) {
                    Some(hist) => self.place(&column.labels, &hist.to_string())?,
                    None => continue,
                },
            };
            self.out[at].vals[step] += 1.0;
            self.out[at].floats.set(step);
        }
        Ok(())
    }

    /// The column that counts `value` in the group of a series.
    fn place(&mut self, series: &Labels, value: &str) -> Result<usize, EvalError> {
        let labels = self.group(series, value);
        if let Some(at) = self.places.get(&labels) {
            return Ok(*at);
        }
        let column = Column::new(labels.clone(), self.steps.count);
        self.ev.hold(column.weight().max(1))?;
        self.out.push(column);
        self.places.insert(labels, self.out.len() - 1);
        Ok(self.out.len() - 1)
    }

    /// The labels of a series' group, its value among them.
    fn group(&self, series: &Labels, value: &str) -> Labels {
        let labels = series.with(self.label, value);
        let named = |name: &str| self.node.labels.iter().any(|one| one == name);
        if self.node.without {
            labels.filter(|name| !named(name) && name != METRIC_NAME)
        } else {
            labels.filter(|name| named(name) || name == self.label)
        }
    }
}
