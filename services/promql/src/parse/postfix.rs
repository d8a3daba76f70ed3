//! What follows an operand: ranges, subqueries, `offset`, `@`, `anchored` and `smoothed`.

use super::Failure;
use super::duration::{Length, Position};
use super::parser::{Node, Parser};
use super::token::{Context, Keyword, Token, TokenKind};
use crate::ast::{At, Duration, Expr, ExprKind, MatrixSelector, Modifiers, Smoothing, Subquery};

impl<'q> Parser<'q> {
    /// An operand and all that follows it.
    pub(super) fn postfixed(&mut self) -> Result<Node, Failure> {
        let mut node = self.primary()?;
        loop {
            match self.sees()? {
                TokenKind::LeftBracket => node = self.brackets(node)?,
                TokenKind::Keyword(Keyword::Offset) => self.offset(&mut node.expr)?,
                TokenKind::At => self.at(&mut node.expr)?,
                TokenKind::Keyword(Keyword::Anchored) => {
                    self.take()?;
                    self.smoothing(&mut node.expr, Smoothing::Anchored)?;
                }
                TokenKind::Keyword(Keyword::Smoothed) => {
                    self.take()?;
                    self.smoothing(&mut node.expr, Smoothing::Smoothed)?;
                }
                _ => return Ok(node),
            }
        }
    }

    /// `[range]` or `[range:step]`.
    fn brackets(&mut self, node: Node) -> Result<Node, Failure> {
        let opening = self.take()?;
        let range = self.positive(Position::Range)?;
        match self.sees()? {
            TokenKind::RightBracket => {
                self.take()?;
                self.matrix(node, opening, range)
            }
            TokenKind::Colon => {
                self.take()?;
                self.subquery(node, range)
            }
            _ => Err(self.unexpected("subquery or range", "\":\" or \"]\"")),
        }
    }

    fn matrix(&self, node: Node, opening: Token<'q>, range: Duration) -> Result<Node, Failure> {
        let fail = |message: &str| Err(Failure::new(opening.at, message));
        let ExprKind::Vector(selector) = node.expr.kind else {
            return fail("ranges only allowed for vector selectors");
        };
        if selector.modifiers.offset.is_some() {
            return fail("no offset modifiers allowed before range");
        }
        if selector.modifiers.at.is_some() {
            return fail("no @ modifiers allowed before range");
        }
        let span = node.expr.span.start..self.closing();
        let matrix = MatrixSelector {
            selector: *selector,
            selector_span: node.expr.span,
            range,
        };
        Ok(Node::leaf(ExprKind::Matrix(Box::new(matrix)), span))
    }

    fn subquery(&mut self, node: Node, range: Duration) -> Result<Node, Failure> {
        let step = if self.sees()? == TokenKind::RightBracket {
            None
        } else {
            Some(self.positive(Position::Step)?)
        };
        if self.sees()? != TokenKind::RightBracket {
            return Err(self.unexpected("subquery selector", "\"]\""));
        }
        let closing = self.take()?;
        let span = node.expr.span.start..closing.end();
        let subquery = Subquery {
            expr: node.expr,
            range,
            step,
            modifiers: Modifiers::default(),
        };
        let kind = ExprKind::Subquery(Box::new(subquery));
        Ok(Node {
            expr: Expr { kind, span },
            height: self.above(node.height)?,
        })
    }

    fn offset(&mut self, expr: &mut Expr) -> Result<(), Failure> {
        self.take()?;
        let offset = match self.offset_duration()? {
            Length::Literal(literal) => Duration::Millis(literal.millis()),
            Length::Expr(expr, _) => Duration::Expr(Box::new(expr)),
        };
        let at = expr.span.start;
        let Some(modifiers) = modifiers(&mut expr.kind) else {
            return Err(Failure::new(at, needs_selector("offset")));
        };
        if modifiers.offset.is_some() {
            return Err(Failure::new(at, "offset may not be set multiple times"));
        }
        // An offset of nothing is none, so that another one may follow.
        if offset != Duration::Millis(0) {
            modifiers.offset = Some(offset);
        }
        expr.span.end = self.closing();
        Ok(())
    }

    fn at(&mut self, expr: &mut Expr) -> Result<(), Failure> {
        self.take()?;
        let start = expr.span.start;
        let at = self.timestamp(start)?;
        let Some(modifiers) = modifiers(&mut expr.kind) else {
            return Err(Failure::new(start, needs_selector("@")));
        };
        if modifiers.at.is_some() {
            return Err(Failure::new(
                start,
                "@ <timestamp> may not be set multiple times",
            ));
        }
        modifiers.at = Some(at);
        expr.span.end = self.closing();
        Ok(())
    }

    /// What follows `@`; `start` is where the expression before it starts.
    fn timestamp(&mut self, start: usize) -> Result<At, Failure> {
        let edge = match self.sees()? {
            TokenKind::Context(Context::Start) => Some(At::Start),
            TokenKind::Context(Context::End) => Some(At::End),
            _ => None,
        };
        if let Some(edge) = edge {
            self.take()?;
            for kind in [TokenKind::LeftParen, TokenKind::RightParen] {
                if !self.accept(kind)? {
                    return Err(self.not_a_timestamp());
                }
            }
            return Ok(edge);
        }
        let negate = self.sign()?.unwrap_or(false);
        if !matches!(self.sees()?, TokenKind::Number | TokenKind::Duration) {
            return Err(self.not_a_timestamp());
        }
        let token = self.take()?;
        let value = self.number(token)?;
        let seconds = if negate { -value } else { value };
        // 2^63: beyond it the number does not fit Prometheus' 64-bit milliseconds.
        if !seconds.is_finite() || seconds.abs() >= 9_223_372_036_854_775_808.0 {
            let text = crate::format::go_fixed(seconds);
            return Err(Failure::new(
                start,
                format!("timestamp out of bounds for @ modifier: {text}"),
            ));
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "saturates far outside of any data"
        )]
        Ok(At::Time((seconds * 1000.0).round() as i64))
    }

    fn not_a_timestamp(&mut self) -> Failure {
        self.unexpected("@", "timestamp")
    }

    fn smoothing(&mut self, expr: &mut Expr, wanted: Smoothing) -> Result<(), Failure> {
        let at = expr.span.start;
        let name = if wanted == Smoothing::Anchored {
            "anchored"
        } else {
            "smoothed"
        };
        if !self.options.extended_selectors {
            return Err(Failure::new(
                at,
                format!("{name} modifier is experimental and not enabled"),
            ));
        }
        let smoothing = match &mut expr.kind {
            ExprKind::Vector(selector) => &mut selector.smoothing,
            ExprKind::Matrix(matrix) => &mut matrix.selector.smoothing,
            ExprKind::Subquery(_) => {
                return Err(Failure::new(
                    at,
                    format!("{name} modifier is not supported for subqueries"),
                ));
            }
            _ => return Err(Failure::new(at, format!("{name} modifier not implemented"))),
        };
        if !matches!(*smoothing, Smoothing::None) && *smoothing != wanted {
            return Err(Failure::new(
                at,
                "anchored and smoothed modifiers cannot be used together",
            ));
        }
        *smoothing = wanted;
        Ok(())
    }
}

/// Where the modifiers of an expression are kept, if it may have any.
fn modifiers(kind: &mut ExprKind) -> Option<&mut Modifiers> {
    match kind {
        ExprKind::Vector(selector) => Some(&mut selector.modifiers),
        ExprKind::Matrix(matrix) => Some(&mut matrix.selector.modifiers),
        ExprKind::Subquery(subquery) => Some(&mut subquery.modifiers),
        _ => None,
    }
}

fn needs_selector(modifier: &str) -> String {
    format!(
        "{modifier} modifier must be preceded by an instant vector selector or range vector selector or a subquery"
    )
}
