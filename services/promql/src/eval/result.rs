//! The last step: columns become the value that the API shows.

use std::sync::Arc;

use crate::error::EvalError;
use crate::labels::Labels;
use crate::select::node::{Node, NodeKind};
use crate::value::{MatrixSeries, Point, Value, VectorSample};

use super::grid::{Column, Steps, merge};
use super::{Evaluated, Evaluator};

impl<'a> Evaluator<'a> {
    /// The value of the whole plan.
    pub(super) fn value(&'a self) -> Result<Value, EvalError> {
        let params = self.params;
        let instant = params.step == 0 && params.start == params.end;
        let steps = Steps::new(params.start, params.end, params.step);
        let root = self.plan.root();
        let ts = params.start;
        match bare_range(root).map(|node| &node.kind) {
            Some(_) if !instant => {
                let text = "invalid expression type \"range vector\" for range query, must be Scalar or \
                            instant Vector";
                return Err(EvalError::BadData(text.to_owned()));
            }
            Some(NodeKind::Range(range)) => return Ok(sorted(self.window(range, ts)?)),
            Some(NodeKind::Subquery(subquery)) => {
                return Ok(sorted(self.subquery_matrix(subquery, steps)?));
            }
            _ => {}
        }
        match self.eval(root, steps)? {
            Evaluated::Text(_) if !instant => {
                let text = "invalid expression type \"string\" for range query, must be Scalar or instant \
                            Vector";
                Err(EvalError::BadData(text.to_owned()))
            }
            Evaluated::Text(value) => Ok(Value::String { ts, value }),
            Evaluated::Scalar(numbers) if instant => {
                let value = numbers.first().copied().unwrap_or(f64::NAN);
                Ok(Value::Scalar { ts, value })
            }
            Evaluated::Scalar(numbers) => {
                let column = Column::filled(Labels::empty(), numbers);
                Ok(Value::Matrix(vec![series(&column, steps)]))
            }
            Evaluated::Vector(columns) => {
                let columns = self.cleaned(columns)?;
                if instant {
                    Ok(Value::Vector(
                        columns
                            .into_iter()
                            .filter_map(|one| sample(one, ts))
                            .collect(),
                    ))
                } else {
                    Ok(sorted(
                        columns.iter().map(|column| series(column, steps)).collect(),
                    ))
                }
            }
        }
    }

    /// Removes the names whose removal was put off.
    pub(super) fn cleaned(&self, mut columns: Vec<Column>) -> Result<Vec<Column>, EvalError> {
        if !self.delays_names() {
            return Ok(columns);
        }
        for column in columns.iter_mut().filter(|column| column.drop_name) {
            column.labels = column.labels.without_metadata();
        }
        merge(columns, false)
    }
}

/// Whether `node` is a range or a subquery as a whole.
pub(super) fn bare_range(node: &Node) -> Option<&Node> {
    match &node.kind {
        NodeKind::Range(_) | NodeKind::Subquery(_) => Some(node),
        NodeKind::Once(inner) => bare_range(inner),
        _ => None,
    }
}

/// A matrix in label order.
pub(super) fn sorted(mut matrix: Vec<MatrixSeries>) -> Value {
    matrix.retain(|series| !series.floats.is_empty() || !series.histograms.is_empty());
    matrix.sort_by(|left, right| left.labels.cmp(&right.labels));
    Value::Matrix(matrix)
}

/// A column as a list of samples.
pub(super) fn series(column: &Column, steps: Steps) -> MatrixSeries {
    let mut floats = Vec::with_capacity(column.floats.ones());
    floats.extend(
        column
            .floats
            .iter()
            .map(|step| (steps.at(step), column.vals[step])),
    );
    let hists = column.hists.iter().enumerate();
    let histograms = hists
        .filter_map(|(step, hist)| hist.as_ref().map(|hist| (steps.at(step), Arc::clone(hist))))
        .collect();
    MatrixSeries {
        labels: column.labels.clone(),
        floats,
        histograms,
    }
}

/// The first cell of a column.
fn sample(column: Column, ts: i64) -> Option<VectorSample> {
    let value = match column.hist(0) {
        Some(hist) => Point::Histogram(Arc::clone(hist)),
        None => Point::Float(column.float(0)?),
    };
    Some(VectorSample {
        labels: column.labels,
        ts,
        value,
    })
}
