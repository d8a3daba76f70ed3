//! Binary operators between series and one number per step.

use crate::ast::BinaryOp;
use crate::error::EvalError;
use crate::eval::Evaluator;
use crate::eval::grid::Column;

use super::Operator;
use super::cell::{Notes, Operand, Outcome, arithmetic, combine, compare};

impl Evaluator<'_> {
    /// `columns op numbers`, or the other way round with `swap`.
    pub(super) fn with_scalar(
        &self,
        operator: Operator,
        mut columns: Vec<Column>,
        numbers: &[f64],
        swap: bool,
    ) -> Result<Vec<Column>, EvalError> {
        let mut notes = Notes::default();
        let trims = matches!(operator.op, BinaryOp::TrimUpper | BinaryOp::TrimLower);
        for column in &mut columns {
            self.check()?;
            if column.hists.is_empty() && !trims {
                floats(operator, column, numbers, swap);
            } else {
                mixed(operator, column, numbers, (swap, &mut notes));
            }
        }
        notes.write(self, operator.at);
        columns.retain(|column| !column.is_empty());
        if operator.changes_metric() || operator.returns_bool {
            return self.nameless(columns);
        }
        Ok(columns)
    }
}

/// A series without histograms.
fn floats(operator: Operator, column: &mut Column, numbers: &[f64], swap: bool) {
    let op = operator.op;
    let compares = compare(op, 0.0, 0.0).is_some();
    if !compares {
        for (value, number) in column.vals.iter_mut().zip(numbers) {
            let (left, right) = if swap {
                (*number, *value)
            } else {
                (*value, *number)
            };
            *value = arithmetic(op, left, right);
        }
        return;
    }
    for (step, number) in numbers.iter().enumerate() {
        let value = column.vals[step];
        let (left, right) = if swap {
            (*number, value)
        } else {
            (value, *number)
        };
        let keep = compare(op, left, right).unwrap_or(false);
        if operator.returns_bool {
            column.vals[step] = f64::from(u8::from(keep));
        } else if !keep {
            column.floats.clear(step);
        }
    }
}

/// A series with histograms somewhere.
fn mixed(
    operator: Operator,
    column: &mut Column,
    numbers: &[f64],
    (swap, notes): (bool, &mut Notes),
) {
    let compares = compare(operator.op, 0.0, 0.0).is_some();
    for (step, number) in numbers.iter().enumerate() {
        let hist = column.hist(step).cloned();
        let own = match (column.float(step), &hist) {
            (_, Some(hist)) => Operand::Hist(hist),
            (Some(value), None) => Operand::Float(value),
            (None, None) => continue,
        };
        let number = Operand::Float(*number);
        let (left, right) = if swap { (number, own) } else { (own, number) };
        let (outcome, note) = combine(operator.op, left, right);
        notes.set(step, note);
        column.floats.clear(step);
        if let Some(hist) = column.hists.get_mut(step) {
            *hist = None;
        }
        match (outcome, own) {
            (Outcome::Float(_, keep) | Outcome::Hist(_, keep), _) if operator.returns_bool => {
                column.set_float(step, f64::from(u8::from(keep)));
            }
            // A comparison keeps the series' own value, on whichever side it stands.
            (Outcome::Float(_, true), Operand::Float(value)) if compares => {
                column.set_float(step, value);
            }
            (Outcome::Float(value, true), _) => column.set_float(step, value),
            (Outcome::Hist(hist, true), _) => column.set_hist(step, hist),
            _ => {}
        }
    }
}
