//! Aggregations, calls and lists of labels: a name and parentheses become one node.

use super::Failure;
use super::parser::{Node, Parser};
use super::token::{Keyword, Token, TokenKind};
use crate::ast::{Aggregate, AggregateOp, Call, Expr, ExprKind};
use crate::format::quote::quote;
use crate::functions::function;

/// The arguments of a call and the height of the highest.
struct Arguments {
    exprs: Vec<Expr>,
    height: usize,
}

/// Whether labels were excluded by `without` rather than kept by `by`, and the labels.
type Grouping = (bool, Vec<String>);

impl<'q> Parser<'q> {
    /// An operand that begins with a word: aggregation, call or selector.
    pub(super) fn named(&mut self) -> Result<Node, Failure> {
        let word = self.take()?;
        let next = self.sees()?;
        match (word.kind, next) {
            (
                TokenKind::Aggregate(op),
                TokenKind::LeftParen | TokenKind::Keyword(Keyword::By | Keyword::Without),
            ) => self.aggregate(word, op),
            (TokenKind::Identifier | TokenKind::Context(_), TokenKind::LeftParen) => {
                self.call(word)
            }
            _ => {
                let (selector, span) = self.named_selector(word)?;
                Ok(Node::leaf(ExprKind::Vector(Box::new(selector)), span))
            }
        }
    }

    fn aggregate(&mut self, word: Token<'q>, op: AggregateOp) -> Result<Node, Failure> {
        self.aggregations += 1;
        let mut grouping = self.grouping()?;
        let arguments = self.arguments()?;
        let mut end = self.closing();
        if grouping.is_none() {
            grouping = self.grouping()?;
            end = if grouping.is_some() {
                self.closing()
            } else {
                self.closing_before_newest()
            };
        }
        self.aggregations -= 1;
        let (without, labels) = grouping.unwrap_or_default();
        let height = self.above(arguments.height)?;
        let (param, expr) = self.aggregated(word.at, op, arguments.exprs)?;
        let kind = ExprKind::Aggregate(Box::new(Aggregate {
            op,
            expr,
            param,
            without,
            labels,
        }));
        Ok(Node {
            expr: Expr {
                kind,
                span: word.at..end,
            },
            height,
        })
    }

    /// Tells the parameter of an aggregation from the expression that is aggregated.
    fn aggregated(
        &self,
        at: usize,
        op: AggregateOp,
        arguments: Vec<Expr>,
    ) -> Result<(Option<Expr>, Expr), Failure> {
        let fail = |message: String| Err(Failure::new(at, message));
        let found = arguments.len();
        if found == 0 {
            return fail("no arguments for aggregate expression provided".to_owned());
        }
        let experimental = matches!(op, AggregateOp::LimitK | AggregateOp::LimitRatio);
        if experimental && !self.options.functions {
            let flag = "--enable-feature=promql-experimental-functions";
            return fail(format!(
                "{}() is experimental and must be enabled with {flag}",
                op.name()
            ));
        }
        let wanted = if op.takes_parameter() { 2 } else { 1 };
        let mut arguments = arguments.into_iter();
        match (wanted, arguments.next(), arguments.next(), arguments.next()) {
            (1, Some(expr), None, None) => Ok((None, expr)),
            (2, Some(param), Some(expr), None) => Ok((Some(param), expr)),
            _ => fail(format!(
                "wrong number of arguments for aggregate expression provided, expected {wanted}, got {found}"
            )),
        }
    }

    /// `by (…)` or `without (…)`, if it is there.
    fn grouping(&mut self) -> Result<Option<Grouping>, Failure> {
        let without = match self.sees()? {
            TokenKind::Keyword(Keyword::By) => false,
            TokenKind::Keyword(Keyword::Without) => true,
            _ => return Ok(None),
        };
        self.take()?;
        Ok(Some((without, self.labels()?)))
    }

    /// A list of labels in parentheses.
    pub(super) fn labels(&mut self) -> Result<Vec<String>, Failure> {
        const PLACE: &str = "grouping opts";
        if !self.accept(TokenKind::LeftParen)? {
            return Err(self.unexpected(PLACE, "\"(\""));
        }
        let mut labels = Vec::new();
        while !self.accept(TokenKind::RightParen)? {
            labels.push(self.label()?);
            match self.sees()? {
                TokenKind::Comma => {
                    self.take()?;
                }
                TokenKind::RightParen => {}
                _ => return Err(self.unexpected(PLACE, "\",\" or \")\"")),
            }
        }
        Ok(labels)
    }

    fn label(&mut self) -> Result<String, Failure> {
        let token = self.peek()?;
        let name = match token.kind {
            TokenKind::String => self.string(token)?,
            kind if kind.names_label() => token.text.to_owned(),
            _ => return Err(self.unexpected("grouping opts", "label")),
        };
        if name.is_empty() {
            return Err(Failure::new(
                token.at,
                "invalid label name for grouping: \"\"",
            ));
        }
        self.take()?;
        Ok(name)
    }

    fn call(&mut self, word: Token<'q>) -> Result<Node, Failure> {
        let arguments = self.arguments()?;
        let fail = |message: String| Err(Failure::new(word.at, message));
        let Some(function) = function(word.text) else {
            return fail(format!("unknown function with name {}", quote(word.text)));
        };
        if function.experimental && !self.options.functions {
            return fail(format!("function {} is not enabled", quote(word.text)));
        }
        let height = self.above(arguments.height)?;
        let kind = ExprKind::Call(Box::new(Call {
            function,
            args: arguments.exprs,
        }));
        Ok(Node {
            expr: Expr {
                kind,
                span: word.at..self.closing(),
            },
            height,
        })
    }

    /// Expressions in parentheses.
    fn arguments(&mut self) -> Result<Arguments, Failure> {
        self.expect(TokenKind::LeftParen)?;
        let mut arguments = Arguments {
            exprs: Vec::new(),
            height: 0,
        };
        if self.accept(TokenKind::RightParen)? {
            return Ok(arguments);
        }
        loop {
            let Node { expr, height } = self.expression(0)?;
            arguments.exprs.push(expr);
            arguments.height = arguments.height.max(height);
            let next = self.peek()?;
            match next.kind {
                TokenKind::RightParen => {
                    self.take()?;
                    return Ok(arguments);
                }
                TokenKind::Comma => {
                    self.take()?;
                }
                _ => return Err(self.unexpected_here()),
            }
            if !self.sees()?.starts_expression() {
                return Err(Failure::new(
                    next.at,
                    "trailing commas not allowed in function call args",
                ));
            }
        }
    }
}
