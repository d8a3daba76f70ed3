//! Binary operators: two operands in, their combination at every step out.

use crate::ast::BinaryOp;
use crate::error::EvalError;
use crate::select::node::BinaryNode;

use super::grid::{Column, Steps};
use super::{Evaluated, Evaluator};

mod cell;
mod fault;
mod gather;
mod matching;
mod sets;
mod with_scalar;

/// A binary operator and where it stands in the query.
#[derive(Clone, Copy)]
struct Operator {
    op: BinaryOp,
    returns_bool: bool,
    at: usize,
}

impl Operator {
    /// The result is another metric, so the name goes.
    fn changes_metric(self) -> bool {
        matches!(
            self.op,
            BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Mod
                | BinaryOp::Pow
                | BinaryOp::Atan2
        )
    }
}

impl<'a> Evaluator<'a> {
    /// A binary operator.
    pub(super) fn binary(
        &self,
        node: &'a BinaryNode,
        at: usize,
        steps: Steps,
    ) -> Result<Evaluated, EvalError> {
        let left = self.eval(&node.left, steps)?;
        let right = self.eval(&node.right, steps)?;
        let operator = Operator {
            op: node.op,
            returns_bool: node.returns_bool,
            at,
        };
        match (left, right) {
            (Evaluated::Scalar(left), Evaluated::Scalar(right)) => {
                let cells = left.iter().zip(&right);
                let numbers = cells.map(|(left, right)| cell::scalar(node.op, *left, *right));
                Ok(Evaluated::Scalar(numbers.collect()))
            }
            (Evaluated::Vector(columns), Evaluated::Scalar(numbers)) => self
                .with_scalar(operator, columns, &numbers, false)
                .map(Evaluated::Vector),
            (Evaluated::Scalar(numbers), Evaluated::Vector(columns)) => self
                .with_scalar(operator, columns, &numbers, true)
                .map(Evaluated::Vector),
            (Evaluated::Vector(left), Evaluated::Vector(right)) => self
                .vectors(node, operator, (left, right), steps)
                .map(Evaluated::Vector),
            _ => Err(EvalError::Execution("texts cannot be combined".to_owned())),
        }
    }

    fn vectors(
        &self,
        node: &'a BinaryNode,
        operator: Operator,
        (left, right): (Vec<Column>, Vec<Column>),
        steps: Steps,
    ) -> Result<Vec<Column>, EvalError> {
        let Some(matching) = &node.matching else {
            return Err(EvalError::Execution(
                "two vectors need a way to match".to_owned(),
            ));
        };
        let weight: usize = left.iter().chain(&right).map(Column::weight).sum();
        let out = match node.op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Unless => {
                sets::combine(node.op, matching, left, right, steps)?
            }
            _ => self.matched(operator, matching, (&left, &right), steps)?,
        };
        self.release(weight);
        self.hold(out.iter().map(Column::weight).sum())?;
        Ok(out)
    }
}
