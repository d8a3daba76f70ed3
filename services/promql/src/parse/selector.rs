//! A metric name and matchers in braces become a selector.

use std::ops::Range;

use super::parser::{Node, Parser};
use super::token::{Token, TokenKind};
use super::{Failure, regex};
use crate::ast::{BinaryOp, ExprKind, MatchOp, Matcher, Modifiers, Smoothing, VectorSelector};
use crate::labels::METRIC_NAME;

const PLACE: &str = "label matching";

/// What braces hold and where they stand.
type Braces = (Vec<Matcher>, Range<usize>);

/// A selector and where it stands.
pub(super) type Selected = (VectorSelector, Range<usize>);

impl<'q> Parser<'q> {
    pub(super) fn nameless(&mut self) -> Result<Node, Failure> {
        let (selector, span) = self.nameless_selector()?;
        Ok(Node::leaf(ExprKind::Vector(Box::new(selector)), span))
    }

    /// A selector that begins with its braces.
    pub(super) fn nameless_selector(&mut self) -> Result<Selected, Failure> {
        let (matchers, span) = self.matchers()?;
        Ok((selector(None, matchers), span))
    }

    /// The rest of a selector whose name was taken.
    pub(super) fn named_selector(&mut self, name: Token<'q>) -> Result<Selected, Failure> {
        let (mut matchers, end) = if self.sees()? == TokenKind::LeftBrace {
            let (matchers, span) = self.matchers()?;
            (matchers, span.end)
        } else {
            (Vec::new(), name.end())
        };
        matchers.push(name_matcher(name.text.to_owned()));
        Ok((selector(Some(name.text.to_owned()), matchers), name.at..end))
    }

    fn matchers(&mut self) -> Result<Braces, Failure> {
        let opening = self.expect(TokenKind::LeftBrace)?;
        let mut matchers = Vec::new();
        while self.sees()? != TokenKind::RightBrace {
            matchers.push(self.matcher()?);
            match self.sees()? {
                TokenKind::Comma => {
                    self.take()?;
                }
                TokenKind::RightBrace => {}
                _ => return Err(self.unexpected(PLACE, "\",\" or \"}\"")),
            }
        }
        let closing = self.take()?;
        Ok((matchers, opening.at..closing.end()))
    }

    fn matcher(&mut self) -> Result<Matcher, Failure> {
        let label = self.peek()?;
        let name = match label.kind {
            TokenKind::Identifier => label.text.to_owned(),
            TokenKind::String => self.string(label)?,
            _ => return Err(self.unexpected(PLACE, "identifier or \"}\"")),
        };
        self.take()?;
        let op = match self.sees()? {
            TokenKind::Equal => MatchOp::Equal,
            TokenKind::Op(BinaryOp::Neq) => MatchOp::NotEqual,
            TokenKind::EqualRegex => MatchOp::Regex,
            TokenKind::NotRegex => MatchOp::NotRegex,
            _ if label.kind == TokenKind::String => return Ok(name_matcher(name)),
            _ => return Err(self.unexpected(PLACE, "label matching operator")),
        };
        self.take()?;
        if self.sees()? != TokenKind::String {
            return Err(self.unexpected(PLACE, "string"));
        }
        let value = self.take()?;
        let value = self.string(value)?;
        if matches!(op, MatchOp::Regex | MatchOp::NotRegex) {
            regex::within(&value, &mut self.regex_bytes)
                .map_err(|message| Failure::new(label.at, message))?;
        }
        Ok(Matcher { name, op, value })
    }
}

fn selector(name: Option<String>, matchers: Vec<Matcher>) -> VectorSelector {
    VectorSelector {
        name,
        matchers,
        modifiers: Modifiers::default(),
        smoothing: Smoothing::None,
    }
}

fn name_matcher(value: String) -> Matcher {
    Matcher {
        name: METRIC_NAME.to_owned(),
        op: MatchOp::Equal,
        value,
    }
}
