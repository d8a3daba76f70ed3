//! Subqueries: an expression evaluated on its own steps becomes samples.

use crate::error::EvalError;
use crate::select::node::SubqueryNode;
use crate::value::MatrixSeries;

use super::Evaluator;
use super::grid::{Column, Steps};
use super::raw::Raw;

impl<'a> Evaluator<'a> {
    /// The samples that a function over the subquery reads at `steps`, and their weight.
    pub(super) fn subquery(
        &self,
        subquery: &'a SubqueryNode,
        steps: Steps,
    ) -> Result<(Vec<Raw<'a>>, usize), EvalError> {
        let inner = inner_steps(subquery, steps);
        if inner.count == 0 {
            // Nothing inside is evaluated, not even what is pinned to another time.
            return Ok((Vec::new(), 0));
        }
        // What is read below is not counted: the function around counts what it takes from here.
        let total = self.total.get();
        let columns = self.vector(&subquery.expr, inner)?;
        self.total.set(total);
        let weight = columns.iter().map(Column::weight).sum();
        let series = columns
            .into_iter()
            .map(|column| Raw::evaluated(column, inner));
        Ok((series.collect(), weight))
    }

    /// A bare subquery: its samples at its own steps.
    pub(super) fn subquery_matrix(
        &self,
        subquery: &'a SubqueryNode,
        steps: Steps,
    ) -> Result<Vec<MatrixSeries>, EvalError> {
        let inner = inner_steps(subquery, steps);
        if inner.count == 0 {
            return Ok(Vec::new());
        }
        let columns = self.vector(&subquery.expr, inner)?;
        let columns = self.cleaned(columns)?;
        Ok(columns
            .iter()
            .map(|column| super::result::series(column, inner))
            .collect())
    }
}

/// The steps of a subquery: multiples of its own step, after the first window's open end.
///
/// They go on for as long as `steps` do even where `@` pins the window. Nothing reads what lies behind a pinned
/// window, but as in Prometheus it may leave remarks.
fn inner_steps(subquery: &SubqueryNode, steps: Steps) -> Steps {
    let base = subquery.shift.of(steps.start);
    let first = base.saturating_sub(subquery.range);
    let mut start = subquery.step.saturating_mul(first / subquery.step.max(1));
    if start <= first {
        start = start.saturating_add(subquery.step);
    }
    let end = base.saturating_add(steps.last().saturating_sub(steps.start));
    Steps::new(start, end, subquery.step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::node::{Node, NodeKind, Shift};

    #[test]
    fn steps_are_multiples_and_the_far_end_is_excluded() {
        let subquery = |range, step, offset| SubqueryNode {
            expr: Node {
                kind: NodeKind::Number(1.0),
                at: 0,
            },
            range,
            step,
            shift: Shift { at: None, offset },
        };
        let at = |time| Steps::new(time, time, 1);
        let pinned = SubqueryNode {
            shift: Shift {
                at: Some(100),
                offset: 20,
            },
            ..subquery(30, 10, 0)
        };
        let long = inner_steps(&pinned, Steps::new(500, 540, 15));
        assert_eq!((long.start, long.last()), (60, 110));
        let steps = |subquery, time| {
            let steps = inner_steps(&subquery, at(time));
            (0..steps.count)
                .map(|step| steps.at(step))
                .collect::<Vec<_>>()
        };
        assert_eq!(steps(subquery(50, 10, 0), 100), [60, 70, 80, 90, 100]);
        assert_eq!(steps(subquery(50, 10, 0), 105), [60, 70, 80, 90, 100]);
        assert_eq!(steps(subquery(30, 10, 100), 75), [-50, -40, -30]);
        assert_eq!(steps(subquery(5, 10, 0), 109), [0_i64; 0]);
    }
}
