//! `count_values`: how many series of each group have each value.

use std::collections::HashMap;

use crate::error::EvalError;
use crate::eval::Evaluator;
use crate::eval::call::text;
use crate::eval::grid::{Column, Steps};
use crate::labels::{Labels, METRIC_NAME};
use crate::number::{plain, quote};
use crate::select::node::AggregateNode;

impl<'a> Evaluator<'a> {
    pub(super) fn count_values(
        &self,
        node: &'a AggregateNode,
        steps: Steps,
    ) -> Result<Vec<Column>, EvalError> {
        let label = node.param.as_ref().map_or("", text);
        if label.is_empty() {
            return Err(EvalError::Execution(format!("invalid label name {}", quote(label))));
        }
        let mut places: HashMap<Labels, usize> = HashMap::new();
        let mut out: Vec<Column> = Vec::new();
        for column in &self.vector(&node.expr, steps)? {
            self.check()?;
            let mut known: HashMap<u64, usize> = HashMap::new();
            for step in column.presence().iter() {
                let mut place = |value: &str| {
                    let labels = group(node, label, &column.labels, value);
                    *places.entry(labels).or_insert_with_key(|labels| {
                        out.push(Column::new(labels.clone(), steps.count));
                        out.len() - 1
                    })
                };
                let at = match (column.float(step), column.hist(step)) {
                    (Some(value), _) => {
                        *known.entry(value.to_bits()).or_insert_with(|| place(&plain(value)))
                    }
                    (None, Some(hist)) => place(&hist.to_string()),
                    (None, None) => continue,
                };
                out[at].vals[step] += 1.0;
                out[at].floats.set(step);
            }
        }
        self.hold(out.iter().map(Column::weight).sum())?;
        Ok(out)
    }
}

/// The labels of a series' group, its value among them.
fn group(node: &AggregateNode, label: &str, series: &Labels, value: &str) -> Labels {
    let labels = series.with(label, value);
    let named = |name: &str| node.labels.iter().any(|one| one == name);
    if node.without {
        labels.filter(|name| !named(name) && name != METRIC_NAME)
    } else {
        labels.filter(|name| named(name) || name == label)
    }
}
