//! Operands and operators become expressions: precedence climbing, vector matching, signs and parentheses.

use super::Failure;
use super::parser::{Node, Parser};
use super::token::{Keyword, TokenKind};
use crate::ast::{Binary, BinaryOp, Cardinality, Expr, ExprKind, Matching};

/// The precedence of `^`, which alone binds tighter than a sign.
const POWER: u8 = 6;

/// How tightly an operator binds.
pub(super) fn precedence(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 1,
        BinaryOp::And | BinaryOp::Unless => 2,
        BinaryOp::Eql
        | BinaryOp::Neq
        | BinaryOp::Lte
        | BinaryOp::Lss
        | BinaryOp::Gte
        | BinaryOp::Gtr
        | BinaryOp::TrimUpper
        | BinaryOp::TrimLower => 3,
        BinaryOp::Add | BinaryOp::Sub => 4,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod | BinaryOp::Atan2 => 5,
        BinaryOp::Pow => POWER,
    }
}

/// The least precedence that the right side of an operator may have: `^` groups to the right, all others to
/// the left.
pub(super) fn right_precedence(op: BinaryOp) -> u8 {
    if op == BinaryOp::Pow {
        POWER
    } else {
        precedence(op) + 1
    }
}

impl Parser<'_> {
    /// An expression whose operators bind at least as tightly as `least`.
    pub(super) fn expression(&mut self, least: u8) -> Result<Node, Failure> {
        self.enter()?;
        let mut left = self.operand()?;
        while let TokenKind::Op(op) = self.sees()?
            && precedence(op) >= least
        {
            self.take()?;
            left = self.binary(left, op)?;
        }
        self.leave();
        Ok(left)
    }

    fn binary(&mut self, left: Node, op: BinaryOp) -> Result<Node, Failure> {
        let returns_bool = self.accept(TokenKind::Keyword(Keyword::Bool))?;
        let mut matching = self.matching()?;
        self.fill(&mut matching)?;
        let right = self.expression(right_precedence(op))?;
        let span = left.expr.span.start..right.expr.span.end;
        if !self.options.fill && (matching.fill_left.is_some() || matching.fill_right.is_some()) {
            return Err(Failure::new(
                span.start,
                "binop fill modifiers are experimental and not enabled",
            ));
        }
        let height = self.above(left.height.max(right.height))?;
        let (left, right) = (left.expr, right.expr);
        let binary = Binary {
            op,
            left,
            right,
            returns_bool,
            matching: Some(matching),
        };
        let expr = Expr {
            kind: ExprKind::Binary(Box::new(binary)),
            span,
        };
        Ok(Node { expr, height })
    }

    /// `on(…)`, `ignoring(…)` and what may follow them.
    fn matching(&mut self) -> Result<Matching, Failure> {
        let mut matching = Matching {
            card: Cardinality::OneToOne,
            on: false,
            labels: Vec::new(),
            include: Vec::new(),
            fill_left: None,
            fill_right: None,
        };
        match self.sees()? {
            TokenKind::Keyword(Keyword::On) => matching.on = true,
            TokenKind::Keyword(Keyword::Ignoring) => {}
            _ => return Ok(matching),
        }
        self.take()?;
        matching.labels = self.labels()?;
        matching.card = match self.sees()? {
            TokenKind::Keyword(Keyword::GroupLeft) => Cardinality::ManyToOne,
            TokenKind::Keyword(Keyword::GroupRight) => Cardinality::OneToMany,
            _ => return Ok(matching),
        };
        self.take()?;
        let next = self.sees()?;
        if next == TokenKind::LeftParen || !next.starts_expression() {
            matching.include = self.labels()?;
        }
        Ok(matching)
    }

    fn fill(&mut self, matching: &mut Matching) -> Result<(), Failure> {
        let (first, second) = match self.sees()? {
            TokenKind::Keyword(Keyword::Fill) => {
                self.take()?;
                matching.fill_left = Some(self.fill_value()?);
                matching.fill_right = matching.fill_left;
                return Ok(());
            }
            TokenKind::Keyword(Keyword::FillLeft) => (
                &mut matching.fill_left,
                (&mut matching.fill_right, Keyword::FillRight),
            ),
            TokenKind::Keyword(Keyword::FillRight) => (
                &mut matching.fill_right,
                (&mut matching.fill_left, Keyword::FillLeft),
            ),
            _ => return Ok(()),
        };
        self.take()?;
        *first = Some(self.fill_value()?);
        if self.accept(TokenKind::Keyword(second.1))? {
            *second.0 = Some(self.fill_value()?);
        }
        Ok(())
    }

    fn fill_value(&mut self) -> Result<f64, Failure> {
        self.expect(TokenKind::LeftParen)?;
        let negate = self.sign()?.unwrap_or(false);
        if !matches!(self.sees()?, TokenKind::Number | TokenKind::Duration) {
            return Err(self.unexpected_here());
        }
        let token = self.take()?;
        let value = self.number(token)?;
        self.expect(TokenKind::RightParen)?;
        Ok(if negate { -value } else { value })
    }

    /// Takes a sign, if there is one: true for minus.
    pub(super) fn sign(&mut self) -> Result<Option<bool>, Failure> {
        let negate = match self.sees()? {
            TokenKind::Op(BinaryOp::Add) => false,
            TokenKind::Op(BinaryOp::Sub) => true,
            _ => return Ok(None),
        };
        self.take()?;
        Ok(Some(negate))
    }

    /// What stands between operators.
    fn operand(&mut self) -> Result<Node, Failure> {
        let at = self.peek()?.at;
        let Some(negate) = self.sign()? else {
            return self.postfixed();
        };
        let Node { mut expr, height } = self.expression(POWER)?;
        let span = at..expr.span.end;
        // A sign before a literal belongs to the literal.
        if let ExprKind::Number(value) | ExprKind::Seconds(value) = &mut expr.kind {
            if negate {
                *value = -*value;
            }
            expr.span = span;
            return Ok(Node { expr, height });
        }
        let kind = ExprKind::Unary {
            negate,
            expr: Box::new(expr),
        };
        Ok(Node {
            expr: Expr { kind, span },
            height: self.above(height)?,
        })
    }

    /// An operand without its signs and without what follows it.
    pub(super) fn primary(&mut self) -> Result<Node, Failure> {
        let token = self.peek()?;
        let span = token.at..token.end();
        match token.kind {
            TokenKind::Number => {
                self.take()?;
                Ok(Node::leaf(ExprKind::Number(self.number(token)?), span))
            }
            TokenKind::Duration => {
                self.take()?;
                Ok(Node::leaf(ExprKind::Seconds(self.number(token)?), span))
            }
            TokenKind::String => {
                self.take()?;
                Ok(Node::leaf(ExprKind::String(self.string(token)?), span))
            }
            TokenKind::LeftParen => self.parenthesized(),
            TokenKind::LeftBrace => self.nameless(),
            kind if kind.names_metric() => self.named(),
            _ => Err(self.unexpected_here()),
        }
    }

    fn parenthesized(&mut self) -> Result<Node, Failure> {
        let opening = self.take()?;
        let inner = self.expression(0)?;
        let closing = self.expect(TokenKind::RightParen)?;
        let kind = ExprKind::Paren(Box::new(inner.expr));
        let expr = Expr {
            kind,
            span: opening.at..closing.end(),
        };
        Ok(Node {
            expr,
            height: self.above(inner.height)?,
        })
    }
}
