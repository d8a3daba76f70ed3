//! Aggregations: series in, one series per group out, or the chosen ones of each group.

use crate::ast::AggregateOp;
use crate::error::EvalError;
use crate::number::{general, go_max, go_min};
use crate::select::node::{AggregateNode, Node, NodeKind};

use super::Evaluator;
use super::grid::{Column, Steps};
use groups::Groups;

mod count_values;
pub(crate) mod groups;
mod heap;
mod ranked;
mod scalars;
mod sums;

/// The operator as written in a query.
pub(crate) fn name(op: AggregateOp) -> &'static str {
    match op {
        AggregateOp::Sum => "sum",
        AggregateOp::Avg => "avg",
        AggregateOp::Count => "count",
        AggregateOp::Min => "min",
        AggregateOp::Max => "max",
        AggregateOp::Group => "group",
        AggregateOp::Stddev => "stddev",
        AggregateOp::Stdvar => "stdvar",
        AggregateOp::TopK => "topk",
        AggregateOp::BottomK => "bottomk",
        AggregateOp::CountValues => "count_values",
        AggregateOp::Quantile => "quantile",
        AggregateOp::LimitK => "limitk",
        AggregateOp::LimitRatio => "limit_ratio",
    }
}

/// The parameter of an aggregation: one number per step.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) values: Vec<f64>,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) any_nan: bool,
    /// Where it stands in the query.
    pub(crate) at: usize,
}

impl Param {
    fn new(values: Vec<f64>, node: &Node) -> Self {
        let any_nan = values.iter().any(|value| value.is_nan());
        let (min, max) = match (&node.kind, values.first()) {
            (NodeKind::Number(_), Some(value)) => (*value, *value),
            (_, Some(_)) => {
                let max = values
                    .iter()
                    .fold(-f64::MAX, |max, value| go_max(max, *value));
                let min = values
                    .iter()
                    .fold(f64::MAX, |min, value| go_min(min, *value));
                (min, max)
            }
            (_, None) => (0.0, 0.0),
        };
        Self {
            values,
            min,
            max,
            any_nan,
            at: node.at,
        }
    }
}

impl<'a> Evaluator<'a> {
    /// An aggregation.
    pub(super) fn aggregate(
        &self,
        node: &'a AggregateNode,
        at: usize,
        steps: Steps,
    ) -> Result<Vec<Column>, EvalError> {
        if node.op == AggregateOp::CountValues {
            return self.count_values(node, steps);
        }
        let param = match &node.param {
            Some(param) => Some(Param::new(self.scalar(param, steps)?, param)),
            None => None,
        };
        let input = self.vector(&node.expr, steps)?;
        let weight: usize = input.iter().map(Column::weight).sum();
        let out = self.aggregate_columns((node, at), param.as_ref(), input, steps)?;
        self.release(weight);
        self.hold(out.iter().map(Column::weight).sum())?;
        Ok(out)
    }

    fn aggregate_columns(
        &self,
        (node, at): (&AggregateNode, usize),
        param: Option<&Param>,
        input: Vec<Column>,
        steps: Steps,
    ) -> Result<Vec<Column>, EvalError> {
        let groups = Groups::of_aggregate(&input, node);
        match (node.op, param) {
            (AggregateOp::Sum | AggregateOp::Avg, _) => self.sums(node, &input, groups, steps),
            (AggregateOp::Quantile, Some(param)) => {
                self.check_quantile(param);
                Ok(self.quantiles(node, &input, groups, (param, steps)))
            }
            (AggregateOp::TopK | AggregateOp::BottomK | AggregateOp::LimitK, Some(param)) => {
                if !check_k(param)? {
                    return Ok(Vec::new());
                }
                Ok(self.ranked((node.op, at), param, (input, groups), steps))
            }
            (AggregateOp::LimitRatio, Some(param)) => {
                if !self.check_ratio(param)? {
                    return Ok(Vec::new());
                }
                Ok(self.ranked((node.op, at), param, (input, groups), steps))
            }
            _ => Ok(self.scalars(node, &input, groups, steps)),
        }
    }

    fn check_quantile(&self, param: &Param) {
        let warn = |got: f64| {
            let got = general(got);
            let text = format!("quantile value should be between 0 and 1, got {got}");
            self.note(|all| all.warn(param.at, text));
        };
        if param.any_nan {
            warn(f64::NAN);
        }
        if param.max > 1.0 {
            warn(param.max);
        }
        if param.min < 0.0 {
            warn(param.min);
        }
    }

    /// Whether a ratio lets anything through; one beyond ±1 is remarked on.
    fn check_ratio(&self, param: &Param) -> Result<bool, EvalError> {
        if param.max == 0.0 && param.min == 0.0 {
            return Ok(false);
        }
        if param.any_nan {
            return Err(EvalError::Execution("Ratio value is NaN".to_owned()));
        }
        for (beyond, got, limit) in [
            (param.max > 1.0, param.max, 1.0),
            (param.min < -1.0, param.min, -1.0),
        ] {
            if beyond {
                let (got, limit) = (general(got), general(limit));
                let text = format!(
                    "ratio value should be between -1 and 1, got {got}, capping to {limit}"
                );
                self.note(|all| all.warn(param.at, text));
            }
        }
        Ok(true)
    }
}

/// Whether a number of series lets anything through.
fn check_k(param: &Param) -> Result<bool, EvalError> {
    if param.max < 1.0 {
        return Ok(false);
    }
    let fault = if param.any_nan {
        "Parameter value is NaN".to_owned()
    } else if param.min <= -9_223_372_036_854_775_808.0 {
        format!("Scalar value {} underflows int64", general(param.min))
    } else if param.max >= 9_223_372_036_854_774_784.0 {
        format!("Scalar value {} overflows int64", general(param.max))
    } else {
        return Ok(true);
    };
    Err(EvalError::Execution(fault))
}
