//! The text of a range, step or offset becomes milliseconds, or arithmetic that needs the query to be known.

use std::ops::Range;

use super::binary::{precedence, right_precedence};
use super::parser::Parser;
use super::token::{Context, Token, TokenKind};
use super::{Failure, MAX_DURATION_DEPTH};
use crate::ast::{BinaryOp, Duration, DurationExpr, DurationKind};

/// The precedence of `^`, which alone binds tighter than a sign.
const POWER: u8 = 6;

/// Where a duration stands, which errors tell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Position {
    Range,
    Step,
    Offset,
}

impl Position {
    fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::Range => (
                "subquery or range selector",
                "number, duration, step(), or range()",
            ),
            Self::Step => (
                "subquery selector",
                "number, duration, step(), range(), or \"]\"",
            ),
            Self::Offset => ("offset", "number, duration, step(), or range()"),
        }
    }
}

/// A signed number of seconds as written.
#[derive(Debug)]
pub(super) struct Literal {
    seconds: f64,
    /// Whether it had a unit.
    unit: bool,
    span: Range<usize>,
}

impl Literal {
    /// Whole milliseconds, cut off from nanoseconds as Prometheus does.
    pub(super) fn millis(&self) -> i64 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the parser refused what does not fit"
        )]
        let nanos = (self.seconds * 1e9).round() as i64;
        nanos / 1_000_000
    }
}

/// A duration while it is put together.
#[derive(Debug)]
pub(super) enum Length {
    Literal(Literal),
    /// Arithmetic and how deep it nests.
    Expr(DurationExpr, usize),
}

impl Length {
    fn start(&self) -> usize {
        match self {
            Self::Literal(literal) => literal.span.start,
            Self::Expr(expr, _) => expr.span.start,
        }
    }

    fn into_expr(self) -> (Box<DurationExpr>, usize) {
        match self {
            Self::Literal(Literal {
                seconds,
                unit,
                span,
            }) => {
                let kind = if unit {
                    DurationKind::Seconds(seconds)
                } else {
                    DurationKind::Number(seconds)
                };
                (Box::new(DurationExpr { kind, span }), 1)
            }
            Self::Expr(expr, height) => (Box::new(expr), height),
        }
    }
}

impl<'q> Parser<'q> {
    /// A duration in brackets, which must not be zero or less where that is known already.
    pub(super) fn positive(&mut self, position: Position) -> Result<Duration, Failure> {
        match self.duration(0, position, 0)? {
            Length::Literal(literal) if literal.seconds > 0.0 => {
                Ok(Duration::Millis(literal.millis()))
            }
            Length::Literal(literal) if literal.seconds.is_nan() => {
                Ok(Duration::Millis(literal.millis()))
            }
            Length::Literal(literal) => Err(Failure::new(
                literal.span.start,
                "duration must be greater than 0",
            )),
            Length::Expr(expr, _) => Ok(Duration::Expr(Box::new(expr))),
        }
    }

    /// What follows `offset`. Unless it begins with a parenthesis or two signs, operators behind it belong to
    /// the expression around: `a offset 5m + b` adds `b` to a shifted `a`.
    pub(super) fn offset_duration(&mut self) -> Result<Length, Failure> {
        let first = self.peek()?;
        if first.kind == TokenKind::LeftParen {
            return self.duration(0, Position::Offset, 0);
        }
        let Some(negate) = self.sign()? else {
            return self.length(Position::Offset, 0, None);
        };
        if !matches!(self.sees()?, TokenKind::Op(BinaryOp::Add | BinaryOp::Sub)) {
            let length = self.length(Position::Offset, 1, Some(first.at))?;
            return self.signed(first, negate, length);
        }
        let inner = self.duration(POWER, Position::Offset, 1)?;
        let left = self.signed(first, negate, inner)?;
        self.operators(left, 0, Position::Offset, 0)
    }

    /// A duration whose operators bind at least as tightly as `least`; `depth` others are open around it.
    fn duration(&mut self, least: u8, position: Position, depth: usize) -> Result<Length, Failure> {
        if depth > MAX_DURATION_DEPTH {
            return Err(self.too_deep());
        }
        let first = self.peek()?;
        let left = match self.sign()? {
            None => self.length(position, depth, None)?,
            Some(negate) => {
                let inner = self.duration(POWER, position, depth + 1)?;
                self.signed(first, negate, inner)?
            }
        };
        self.operators(left, least, position, depth)
    }

    fn operators(
        &mut self,
        mut left: Length,
        least: u8,
        position: Position,
        depth: usize,
    ) -> Result<Length, Failure> {
        while let TokenKind::Op(op) = self.sees()?
            && matches!(
                op,
                BinaryOp::Add
                    | BinaryOp::Sub
                    | BinaryOp::Mul
                    | BinaryOp::Div
                    | BinaryOp::Mod
                    | BinaryOp::Pow
            )
            && precedence(op) >= least
        {
            let sign = self.take()?;
            let right = self.duration(right_precedence(op), position, depth + 1)?;
            left = self.combined(left, op, sign, right)?;
        }
        Ok(left)
    }

    fn combined(
        &self,
        left: Length,
        op: BinaryOp,
        sign: Token<'q>,
        right: Length,
    ) -> Result<Length, Failure> {
        self.experimental(left.start())?;
        if let Length::Literal(Literal { seconds: 0.0, .. }) = right {
            match op {
                BinaryOp::Div => return Err(Failure::new(sign.at, "division by zero")),
                BinaryOp::Mod => return Err(Failure::new(sign.at, "modulo by zero")),
                _ => {}
            }
        }
        let (left, left_height) = left.into_expr();
        let (right, right_height) = right.into_expr();
        let span = left.span.start..right.span.end;
        let kind = DurationKind::Binary { op, left, right };
        self.built(kind, span, left_height.max(right_height))
    }

    /// A duration without operators behind. `sign` is where a sign stands in front of an offset: that is
    /// where Prometheus reports it as experimental, and a pair of parentheses behind it is not.
    fn length(
        &mut self,
        position: Position,
        depth: usize,
        sign: Option<usize>,
    ) -> Result<Length, Failure> {
        let token = self.peek()?;
        match token.kind {
            TokenKind::Number | TokenKind::Duration => {
                self.take()?;
                self.literal(token, sign.unwrap_or(token.at))
            }
            TokenKind::Context(Context::Step) => self.bare(DurationKind::Step, position, sign),
            TokenKind::Context(Context::Range) => self.bare(DurationKind::Range, position, sign),
            TokenKind::Context(which @ (Context::MinOf | Context::MaxOf)) => {
                self.choice(which, (position, depth, sign))
            }
            // The older spelling, which is an aggregation everywhere else.
            TokenKind::Aggregate(crate::ast::AggregateOp::Min) => {
                self.choice(Context::MinOf, (position, depth, sign))
            }
            TokenKind::Aggregate(crate::ast::AggregateOp::Max) => {
                self.choice(Context::MaxOf, (position, depth, sign))
            }
            TokenKind::LeftParen => self.parens(position, depth, sign.is_some()),
            _ => Err(self.no_duration(position)),
        }
    }

    fn literal(&self, token: Token<'q>, at: usize) -> Result<Length, Failure> {
        let seconds = self.number(token)?;
        if out_of_range(seconds) {
            return Err(Failure::new(at, "duration out of range"));
        }
        let unit = token.kind == TokenKind::Duration;
        Ok(Length::Literal(Literal {
            seconds,
            unit,
            span: token.at..token.end(),
        }))
    }

    /// `step()` or `range()`.
    fn bare(
        &mut self,
        kind: DurationKind,
        position: Position,
        sign: Option<usize>,
    ) -> Result<Length, Failure> {
        let name = self.take()?;
        self.need(TokenKind::LeftParen, position)?;
        let closing = self.need(TokenKind::RightParen, position)?;
        self.experimental(sign.unwrap_or(name.at))?;
        self.built(kind, name.at..closing.end(), 0)
    }

    /// `min_of(a, b)` or `max_of(a, b)`.
    fn choice(
        &mut self,
        which: Context,
        (position, depth, sign): (Position, usize, Option<usize>),
    ) -> Result<Length, Failure> {
        self.take()?;
        self.need(TokenKind::LeftParen, position)?;
        let (left, left_height) = self.duration(0, position, depth + 1)?.into_expr();
        self.need(TokenKind::Comma, position)?;
        let (right, right_height) = self.duration(0, position, depth + 1)?.into_expr();
        self.need(TokenKind::RightParen, position)?;
        // Prometheus says that it stands where its arguments stand.
        let span = left.span.start..right.span.end;
        self.experimental(sign.unwrap_or(span.start))?;
        let kind = match which {
            Context::MinOf => DurationKind::Min(left, right),
            _ => DurationKind::Max(left, right),
        };
        self.built(kind, span, left_height.max(right_height))
    }

    fn parens(
        &mut self,
        position: Position,
        depth: usize,
        signed: bool,
    ) -> Result<Length, Failure> {
        let opening = self.take()?;
        let inner = self.duration(0, position, depth + 1)?;
        let closing = self.need(TokenKind::RightParen, position)?;
        if !signed {
            self.experimental(inner.start())?;
        }
        // Doubled parentheses are one pair.
        if matches!(&inner, Length::Expr(expr, _) if matches!(expr.kind, DurationKind::Paren(_))) {
            return Ok(inner);
        }
        let span = match &inner {
            Length::Literal(_) => opening.at..closing.end(),
            Length::Expr(expr, _) => expr.span.clone(),
        };
        let (inner, height) = inner.into_expr();
        self.built(DurationKind::Paren(inner), span, height)
    }

    /// Puts a sign before a duration.
    fn signed(&self, sign: Token<'q>, negate: bool, length: Length) -> Result<Length, Failure> {
        match length {
            Length::Literal(literal) => {
                let seconds = if negate {
                    -literal.seconds
                } else {
                    literal.seconds
                };
                let span = sign.at..literal.span.end;
                Ok(Length::Literal(Literal {
                    seconds,
                    span,
                    ..literal
                }))
            }
            Length::Expr(expr, height) if negate => {
                let span = sign.at..expr.span.end;
                self.built(DurationKind::Negate(Box::new(expr)), span, height)
            }
            Length::Expr(..) => Ok(length),
        }
    }

    fn built(
        &self,
        kind: DurationKind,
        span: Range<usize>,
        below: usize,
    ) -> Result<Length, Failure> {
        if below >= MAX_DURATION_DEPTH {
            return Err(self.too_deep());
        }
        Ok(Length::Expr(DurationExpr { kind, span }, below + 1))
    }

    fn experimental(&self, at: usize) -> Result<(), Failure> {
        if self.options.duration_expressions {
            return Ok(());
        }
        Err(Failure::new(
            at,
            "experimental duration expression is not enabled",
        ))
    }

    fn need(&mut self, kind: TokenKind, position: Position) -> Result<Token<'q>, Failure> {
        if self.sees()? == kind {
            self.take()
        } else {
            Err(self.no_duration(position))
        }
    }

    fn no_duration(&mut self, position: Position) -> Failure {
        let (place, expected) = position.name();
        self.unexpected(place, expected)
    }
}

/// Whether a number of seconds does not fit Prometheus' 64-bit nanoseconds.
fn out_of_range(seconds: f64) -> bool {
    seconds.abs() > 9_223_372_036.854_776
}
