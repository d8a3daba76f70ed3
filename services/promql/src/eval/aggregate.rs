//! Series in, one series per group out.

use crate::ast::AggregateOp;

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
