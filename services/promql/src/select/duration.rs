//! Duration expressions in, milliseconds out, once the query's step and range are known.

use crate::ast::{BinaryOp, Duration, DurationExpr, DurationKind};
use crate::error::EvalError;
use crate::math::pow;
use crate::number::{go_max, go_min};

/// What `step()` and `range()` stand for, in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    pub(crate) step: f64,
    pub(crate) range: f64,
}

/// Seconds beyond which Prometheus' own durations (64-bit nanoseconds) overflow.
const MAX_SECONDS: f64 = 9_223_372_036.854_775;

impl Context {
    /// A duration in milliseconds; `negative` says whether zero and less are allowed.
    pub(crate) fn millis(self, duration: &Duration, negative: bool) -> Result<i64, EvalError> {
        let expr = match duration {
            Duration::Millis(millis) => return Ok(*millis),
            Duration::Expr(expr) => expr,
        };
        let seconds = self.seconds(expr)?;
        if !seconds.is_finite() {
            return Err(fault(expr, "duration is NaN or infinite"));
        }
        if seconds <= 0.0 && !negative {
            return Err(fault(expr, "duration must be greater than 0"));
        }
        if seconds.abs() > MAX_SECONDS {
            return Err(fault(expr, "duration is out of range"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked against MAX_SECONDS above"
        )]
        Ok((seconds * 1000.0) as i64)
    }

    fn seconds(self, expr: &DurationExpr) -> Result<f64, EvalError> {
        Ok(match &expr.kind {
            DurationKind::Number(seconds) | DurationKind::Seconds(seconds) => *seconds,
            DurationKind::Step => self.step,
            DurationKind::Range => self.range,
            DurationKind::Negate(inner) => -self.seconds(inner)?,
            DurationKind::Paren(inner) => self.seconds(inner)?,
            DurationKind::Min(left, right) => go_min(self.seconds(left)?, self.seconds(right)?),
            DurationKind::Max(left, right) => go_max(self.seconds(left)?, self.seconds(right)?),
            DurationKind::Binary { op, left, right } => {
                let (left, right) = (self.seconds(left)?, self.seconds(right)?);
                binary(expr, *op, left, right)?
            }
        })
    }
}

fn binary(expr: &DurationExpr, op: BinaryOp, left: f64, right: f64) -> Result<f64, EvalError> {
    match op {
        BinaryOp::Add => Ok(left + right),
        BinaryOp::Sub => Ok(left - right),
        BinaryOp::Mul => Ok(left * right),
        BinaryOp::Pow => Ok(pow(left, right)),
        BinaryOp::Div if right == 0.0 => Err(fault(expr, "division by zero")),
        BinaryOp::Div => Ok(left / right),
        BinaryOp::Mod if right == 0.0 => Err(fault(expr, "modulo by zero")),
        BinaryOp::Mod => Ok(left % right),
        _ => Err(fault(expr, "unexpected duration expression operator")),
    }
}

fn fault(expr: &DurationExpr, what: &str) -> EvalError {
    EvalError::BadData(format!("{}:{}: {what}", expr.span.start, expr.span.end))
}
