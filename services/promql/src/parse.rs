//! Query text in, a type-checked expression out, or Prometheus' own error text and position.
//!
//! The language, the texts and the positions are those of Prometheus 3.14 with every experimental switch
//! on. Only the first error is kept, as Prometheus prints only the first one.

mod aggregate;
mod binary;
mod check;
mod duration;
mod lexer;
mod number;
mod parser;
mod postfix;
mod quoted;
pub(crate) mod regex;
mod selector;
mod token;

#[cfg(test)]
mod tests;

use crate::ast::{Expr, Matcher};
pub(crate) use check::matches_empty;
use parser::Parser;

/// The longest query text that is looked at.
pub const MAX_QUERY_BYTES: usize = 64 * 1024;

/// How deep an expression may nest: parentheses, calls, unary signs, and operators in a row each count one.
/// Printing, cloning, dropping and evaluating an expression recurse as deep as this, so it keeps all of them
/// within a thread's stack.
pub const MAX_DEPTH: usize = 200;

/// How deep the arithmetic of one duration may nest.
pub const MAX_DURATION_DEPTH: usize = 50;

/// Which experimental parts of the language are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent switches, as Prometheus has them"
)]
pub struct Options {
    /// Functions and aggregations marked experimental.
    pub functions: bool,
    /// Arithmetic in durations.
    pub duration_expressions: bool,
    /// `anchored` and `smoothed`.
    pub extended_selectors: bool,
    /// `fill`, `fill_left` and `fill_right`.
    pub fill: bool,
}

impl Default for Options {
    /// Everything is on.
    fn default() -> Self {
        Self {
            functions: true,
            duration_expressions: true,
            extended_selectors: true,
            fill: true,
        }
    }
}

/// Why a text is no expression. Prints as Prometheus does: `line:column: parse error: what`, the column in
/// bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: parse error: {message}")]
pub struct ParseError {
    /// What is wrong, without the position.
    pub message: String,
    /// The byte of the query text where it is wrong.
    pub offset: usize,
    /// `line:column`, or `unknown position` for an empty text.
    place: String,
}

/// An error before its position is spelled out.
#[derive(Debug)]
struct Failure {
    at: usize,
    message: String,
}

impl Failure {
    fn new(at: usize, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
        }
    }

    fn locate(self, text: &str) -> ParseError {
        let before = text.as_bytes().get(..self.at).unwrap_or(text.as_bytes());
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before
            .iter()
            .rev()
            .take_while(|byte| **byte != b'\n')
            .count()
            + 1;
        let place = if text.is_empty() {
            "unknown position".to_owned()
        } else {
            format!("{line}:{column}")
        };
        ParseError {
            message: self.message,
            offset: self.at,
            place,
        }
    }
}

/// Parses and type-checks a query with every experimental part of the language on.
///
/// # Errors
///
/// [`ParseError`] for the first mistake, or for a text longer than [`MAX_QUERY_BYTES`] or nested deeper than
/// [`MAX_DEPTH`].
pub fn parse(text: &str) -> Result<Expr, ParseError> {
    parse_with(text, Options::default())
}

/// Parses and type-checks a query.
///
/// # Errors
///
/// As [`parse`], and where the query uses a part of the language that `options` turn off.
pub fn parse_with(text: &str, options: Options) -> Result<Expr, ParseError> {
    bounded(text)
        .and_then(|()| Parser::new(text, options).query())
        .and_then(|mut expr| check::check(&mut expr, text).map(|_| expr))
        .map_err(|failure| failure.locate(text))
}

/// Parses a selector as `match[]` takes it: a metric name, matchers in braces, or both. The name before the
/// braces becomes the last matcher.
///
/// # Errors
///
/// As [`parse`]. That at least one matcher must not match the empty text is for the caller to check.
pub fn parse_metric_selector(text: &str) -> Result<Vec<Matcher>, ParseError> {
    bounded(text)
        .and_then(|()| Parser::new(text, Options::default()).lone_selector())
        .map_err(|failure| failure.locate(text))
}

fn bounded(text: &str) -> Result<(), Failure> {
    if text.len() <= MAX_QUERY_BYTES {
        return Ok(());
    }
    let message = format!(
        "query is too long: {} bytes, at most {MAX_QUERY_BYTES} are allowed",
        text.len()
    );
    Err(Failure::new(0, message))
}
