//! The parser's state: tokens are taken one by one, at the same moments as Prometheus takes them.
//!
//! A token is read only when it is needed to decide, since a faulty token must not be reported before a
//! mistake that Prometheus finds without reading it.

use super::lexer::Lexer;
use super::token::{Token, TokenKind};
use super::{Failure, MAX_DEPTH, Options, number, quoted, regex};
use crate::ast::{Expr, ExprKind, Matcher};

#[derive(Debug)]
pub(super) struct Parser<'q> {
    lexer: Lexer<'q>,
    ahead: Option<Token<'q>>,
    /// Where the newest token starts.
    newest: usize,
    /// Where the newest token ends that may close an expression.
    closing: usize,
    /// How many aggregations are open: they name the place of a mistake inside them.
    pub(super) aggregations: usize,
    /// How many expressions are open.
    depth: usize,
    /// What the regexes still to come may take.
    pub(super) regex_bytes: usize,
    pub(super) options: Options,
}

/// An expression and how many levels deep it is.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) expr: Expr,
    pub(super) height: usize,
}

impl Node {
    pub(super) fn leaf(kind: ExprKind, span: std::ops::Range<usize>) -> Self {
        Self {
            expr: Expr { kind, span },
            height: 1,
        }
    }
}

impl<'q> Parser<'q> {
    pub(super) fn new(text: &'q str, options: Options) -> Self {
        Self {
            lexer: Lexer::new(text),
            ahead: None,
            newest: 0,
            closing: 0,
            aggregations: 0,
            depth: 0,
            regex_bytes: regex::MAX_BYTES,
            options,
        }
    }

    /// The whole text as an expression.
    pub(super) fn query(mut self) -> Result<Expr, Failure> {
        if self.peek()?.kind == TokenKind::End {
            return Err(Failure::new(0, "no expression found in input"));
        }
        let node = self.expression(0)?;
        self.expect(TokenKind::End)?;
        Ok(node.expr)
    }

    /// The whole text as a selector.
    pub(super) fn lone_selector(mut self) -> Result<Vec<Matcher>, Failure> {
        let first = self.peek()?;
        if first.kind != TokenKind::LeftBrace && !first.kind.names_metric() {
            return Err(self.unexpected_here());
        }
        let selector = if first.kind == TokenKind::LeftBrace {
            self.nameless_selector()?.0
        } else {
            let name = self.take()?;
            self.named_selector(name)?.0
        };
        self.expect(TokenKind::End)?;
        Ok(selector.matchers)
    }

    /// The next token, left where it is.
    pub(super) fn peek(&mut self) -> Result<Token<'q>, Failure> {
        if let Some(token) = self.ahead {
            return Ok(token);
        }
        let token = self.lexer.token()?;
        self.newest = token.at;
        if matches!(
            token.kind,
            TokenKind::RightBrace
                | TokenKind::RightParen
                | TokenKind::RightBracket
                | TokenKind::Duration
                | TokenKind::Number
        ) {
            self.closing = token.end();
        }
        self.ahead = Some(token);
        Ok(token)
    }

    /// The kind of the next token.
    pub(super) fn sees(&mut self) -> Result<TokenKind, Failure> {
        Ok(self.peek()?.kind)
    }

    /// The next token, taken.
    pub(super) fn take(&mut self) -> Result<Token<'q>, Failure> {
        let token = self.peek()?;
        self.ahead = None;
        Ok(token)
    }

    /// Takes the next token where it is of this kind.
    pub(super) fn accept(&mut self, kind: TokenKind) -> Result<bool, Failure> {
        let found = self.sees()? == kind;
        if found {
            self.ahead = None;
        }
        Ok(found)
    }

    /// Takes the next token, which must be of this kind.
    pub(super) fn expect(&mut self, kind: TokenKind) -> Result<Token<'q>, Failure> {
        if self.sees()? == kind {
            self.take()
        } else {
            Err(self.unexpected_here())
        }
    }

    /// The next token is not allowed in `place`, where `expected` would be.
    pub(super) fn unexpected(&mut self, place: &str, expected: &str) -> Failure {
        let token = match self.peek() {
            Ok(token) => token,
            Err(failure) => return failure,
        };
        let mut message = format!("unexpected {}", token.describe());
        if !place.is_empty() {
            message.push_str(" in ");
            message.push_str(place);
        }
        if !expected.is_empty() {
            message.push_str(", expected ");
            message.push_str(expected);
        }
        Failure::new(token.at, message)
    }

    /// The next token is not allowed here; an aggregation around it is named.
    pub(super) fn unexpected_here(&mut self) -> Failure {
        let place = if self.aggregations > 0 {
            "aggregation"
        } else {
            ""
        };
        self.unexpected(place, "")
    }

    /// Counts one more open expression.
    pub(super) fn enter(&mut self) -> Result<(), Failure> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            Err(self.too_deep())
        } else {
            Ok(())
        }
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// The height of an expression over one of height `below`.
    pub(super) fn above(&self, below: usize) -> Result<usize, Failure> {
        if below >= MAX_DEPTH {
            Err(self.too_deep())
        } else {
            Ok(below + 1)
        }
    }

    pub(super) fn too_deep(&self) -> Failure {
        let message =
            format!("expression is nested too deeply: at most {MAX_DEPTH} levels are allowed");
        Failure::new(self.newest, message)
    }

    /// Where the newest token that may close an expression ends.
    pub(super) fn closing(&self) -> usize {
        self.closing
    }

    /// Where an aggregation ends of which the parser had to read one token more to know its end: behind the
    /// parenthesis before the newest one, as Prometheus finds it.
    pub(super) fn closing_before_newest(&self) -> usize {
        let text = self.lexer.input().as_bytes();
        if self.newest == 0 || text.get(self.newest) != Some(&b')') {
            return self.closing;
        }
        let before = text.get(1..self.newest).unwrap_or_default();
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        match before.iter().rposition(|byte| !blank(byte)) {
            Some(at) if before.get(at) == Some(&b')') => at + 2,
            _ => self.closing,
        }
    }

    /// The value of a number or duration token.
    pub(super) fn number(&self, token: Token<'q>) -> Result<f64, Failure> {
        let value = match token.kind {
            TokenKind::Duration => number::duration(token.text),
            _ => number::number(token.text),
        };
        value.map_err(|message| Failure::new(token.at, message))
    }

    /// The text of a string token.
    pub(super) fn string(&self, token: Token<'q>) -> Result<String, Failure> {
        quoted::unquote(token.text).map_err(|message| Failure::new(token.at, message))
    }
}
