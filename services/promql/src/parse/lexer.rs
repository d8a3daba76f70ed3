//! Query text in, one token at a time out.
//!
//! What a character means depends on whether braces or brackets are open, as in Prometheus' lexer, so that
//! errors name the same character at the same position.

mod scan;

use super::Failure;
use super::token::{Keyword, Token, TokenKind, duration_word_kind, word_kind};
use crate::ast::BinaryOp;
use crate::format::quote::{quote, quote_char};

/// Where the lexer stands. `start` is the first byte of the token being read, `at` the next byte to read.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "what is open is independent of each other, and errors depend on all"
)]
pub(super) struct Lexer<'q> {
    input: &'q str,
    start: usize,
    at: usize,
    /// Whether a duration is expected: brackets are open and no number was read inside them yet.
    in_duration: bool,
    paren_depth: usize,
    brace_open: bool,
    bracket_open: bool,
    /// Whether the open brackets hold a colon already.
    got_colon: bool,
    /// Whether brackets ever held a number. Prometheus never resets it, and errors depend on that.
    got_duration: bool,
}

type Lexed = Result<Option<TokenKind>, Failure>;

impl<'q> Lexer<'q> {
    pub(super) fn new(input: &'q str) -> Self {
        Self {
            input,
            start: 0,
            at: 0,
            in_duration: false,
            paren_depth: 0,
            brace_open: false,
            bracket_open: false,
            got_colon: false,
            got_duration: false,
        }
    }

    /// The text that is read.
    pub(super) fn input(&self) -> &'q str {
        self.input
    }

    /// The next token; [`TokenKind::End`] at the end.
    pub(super) fn token(&mut self) -> Result<Token<'q>, Failure> {
        loop {
            let kind = if self.in_duration {
                self.duration()?
            } else if self.peek() == Some('#') {
                self.comment();
                None
            } else if self.brace_open {
                self.inside_braces()?
            } else {
                self.statement()?
            };
            let (at, text) = (self.start, self.word());
            self.start = self.at;
            if let Some(kind) = kind {
                return Ok(Token { kind, at, text });
            }
        }
    }

    fn statement(&mut self) -> Lexed {
        let Some(character) = self.next() else {
            return self.end();
        };
        let kind = match character {
            ' ' | '\t' | '\n' | '\r' => return Ok(None),
            ',' => TokenKind::Comma,
            '@' => TokenKind::At,
            '*' => TokenKind::Op(BinaryOp::Mul),
            '/' => TokenKind::Op(BinaryOp::Div),
            '%' => TokenKind::Op(BinaryOp::Mod),
            '+' => TokenKind::Op(BinaryOp::Add),
            '-' => TokenKind::Op(BinaryOp::Sub),
            '^' => TokenKind::Op(BinaryOp::Pow),
            '=' | '!' | '<' | '>' => return self.comparison(character),
            '"' | '\'' | '`' => return self.string(character),
            '(' | ')' => return self.parenthesis(character),
            '[' | ']' => return self.bracket(character),
            '{' => {
                self.brace_open = true;
                TokenKind::LeftBrace
            }
            '0'..='9' => return self.number_or_duration(character),
            '.' if self.peek().is_some_and(|next| next.is_ascii_digit()) => {
                return self.number_or_duration(character);
            }
            ':' | '_' | 'a'..='z' | 'A'..='Z' if self.bracket_open => {
                return self.after_range(character);
            }
            ':' | '_' | 'a'..='z' | 'A'..='Z' => self.name(),
            other => {
                return self.fail(format!("unexpected character: {}", quote_char(Some(other))));
            }
        };
        Ok(Some(kind))
    }

    fn end(&self) -> Lexed {
        if self.paren_depth > 0 {
            return self.fail("unclosed left parenthesis");
        }
        if self.bracket_open {
            return self.fail("unclosed left bracket");
        }
        Ok(Some(TokenKind::End))
    }

    fn comparison(&mut self, first: char) -> Lexed {
        let next = self.peek();
        let both = match (first, next) {
            ('=', Some('=')) => BinaryOp::Eql,
            ('!', Some('=')) => BinaryOp::Neq,
            ('<', Some('=')) => BinaryOp::Lte,
            ('>', Some('=')) => BinaryOp::Gte,
            ('<', Some('/')) => BinaryOp::TrimUpper,
            ('>', Some('/')) => BinaryOp::TrimLower,
            ('<', _) => return Ok(Some(TokenKind::Op(BinaryOp::Lss))),
            ('>', _) => return Ok(Some(TokenKind::Op(BinaryOp::Gtr))),
            ('!', _) | ('=', Some('~')) => {
                let found = quote_char(next);
                return self.fail(format!("unexpected character after '{first}': {found}"));
            }
            _ => return Ok(Some(TokenKind::Equal)),
        };
        self.next();
        Ok(Some(TokenKind::Op(both)))
    }

    fn parenthesis(&mut self, which: char) -> Lexed {
        if which == '(' {
            self.paren_depth += 1;
            return Ok(Some(TokenKind::LeftParen));
        }
        let Some(depth) = self.paren_depth.checked_sub(1) else {
            return self.fail_behind("unexpected right parenthesis ')'");
        };
        self.paren_depth = depth;
        Ok(Some(TokenKind::RightParen))
    }

    fn bracket(&mut self, which: char) -> Lexed {
        let opens = which == '[';
        if opens == self.bracket_open {
            let side = if opens { "left" } else { "right" };
            return self.fail(format!("unexpected {side} bracket '{which}'"));
        }
        self.bracket_open = opens;
        self.in_duration = opens;
        if opens {
            self.got_colon = false;
        }
        Ok(Some(if opens {
            TokenKind::LeftBracket
        } else {
            TokenKind::RightBracket
        }))
    }

    /// A letter or colon inside brackets, behind the first number.
    fn after_range(&mut self, first: char) -> Lexed {
        if first == ':' {
            if self.got_colon {
                return self.fail("unexpected colon ':'");
            }
            self.got_colon = true;
            return Ok(Some(TokenKind::Colon));
        }
        match self.duration_word(first) {
            Some(kind) => Ok(Some(kind)),
            None => self.fail(format!(
                "unexpected character: {}, expected ':'",
                quote_char(Some(first))
            )),
        }
    }

    /// Inside brackets, before the first number.
    fn duration(&mut self) -> Lexed {
        let Some(character) = self.next() else {
            return self.fail("unexpected end of input in duration expression");
        };
        let kind = match character {
            ' ' | '\t' | '\n' | '\r' => return Ok(None),
            ']' => {
                self.in_duration = false;
                self.bracket_open = false;
                self.got_colon = false;
                TokenKind::RightBracket
            }
            ':' => return self.early_colon(),
            '(' | ')' => return self.parenthesis(character),
            ',' => TokenKind::Comma,
            '+' => TokenKind::Op(BinaryOp::Add),
            '-' => TokenKind::Op(BinaryOp::Sub),
            '*' => TokenKind::Op(BinaryOp::Mul),
            '/' => TokenKind::Op(BinaryOp::Div),
            '%' => TokenKind::Op(BinaryOp::Mod),
            '^' => TokenKind::Op(BinaryOp::Pow),
            '.' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => {
                return self.unexpected_in_duration(character);
            }
            '0'..='9' | '.' => {
                self.got_duration = true;
                self.in_duration = false;
                return self.number_or_duration(character);
            }
            other => match self.duration_word(other) {
                Some(kind) => kind,
                None => return self.unexpected_in_duration(other),
            },
        };
        Ok(Some(kind))
    }

    fn early_colon(&mut self) -> Lexed {
        if !self.got_duration {
            return self.fail_behind("unexpected colon before duration in duration expression");
        }
        if self.got_colon {
            return self.fail_behind("unexpected repeated colon in duration expression");
        }
        self.got_colon = true;
        Ok(Some(TokenKind::Colon))
    }

    fn unexpected_in_duration(&self, character: char) -> Lexed {
        let found = quote_char(Some(character));
        self.fail(format!(
            "unexpected character in duration expression: {found}"
        ))
    }

    /// The word that begins with `first`, if durations know it. The first letter decides whether the rest
    /// is looked at.
    fn duration_word(&mut self, first: char) -> Option<TokenKind> {
        if !matches!(first.to_ascii_lowercase(), 's' | 'r' | 'm') {
            return None;
        }
        self.skip_while(|next| next == '_' || next.is_ascii_alphabetic());
        duration_word_kind(self.word())
    }

    fn inside_braces(&mut self) -> Lexed {
        let Some(character) = self.next() else {
            return self.fail("unexpected end of input inside braces");
        };
        let kind = match character {
            ' ' | '\t' | '\n' | '\r' => return Ok(None),
            '_' | 'a'..='z' | 'A'..='Z' => {
                self.skip_while(is_alphanumeric);
                TokenKind::Identifier
            }
            ',' => TokenKind::Comma,
            '"' | '\'' | '`' => return self.string(character),
            '=' if self.accept('~') => TokenKind::EqualRegex,
            '=' => TokenKind::Equal,
            '!' if self.accept('~') => TokenKind::NotRegex,
            '!' if self.accept('=') => TokenKind::Op(BinaryOp::Neq),
            '!' => {
                let found = quote_char(self.peek());
                return self.fail(format!(
                    "unexpected character after '!' inside braces: {found}"
                ));
            }
            '{' => return self.fail("unexpected left brace '{'"),
            '}' => {
                self.brace_open = false;
                TokenKind::RightBrace
            }
            other => {
                let found = quote_char(Some(other));
                return self.fail(format!("unexpected character inside braces: {found}"));
            }
        };
        Ok(Some(kind))
    }

    /// A word outside of braces and brackets: keyword, identifier or both.
    fn name(&mut self) -> TokenKind {
        self.skip_while(|next| is_alphanumeric(next) || next == ':');
        let kind = word_kind(self.word());
        let fill = matches!(
            kind,
            TokenKind::Keyword(Keyword::Fill | Keyword::FillLeft | Keyword::FillRight)
        );
        // These three came late to the language, so metrics of that name keep working.
        if fill
            && !self
                .rest()
                .trim_start_matches([' ', '\t', '\n', '\r'])
                .starts_with('(')
        {
            return TokenKind::Identifier;
        }
        kind
    }

    fn number_or_duration(&mut self, first: char) -> Lexed {
        self.at -= first.len_utf8();
        if self.scan_number() {
            return Ok(Some(TokenKind::Number));
        }
        if self.scan_rest_of_duration() {
            return Ok(Some(TokenKind::Duration));
        }
        self.fail(format!(
            "bad number or duration syntax: {}",
            quote(self.word())
        ))
    }

    fn comment(&mut self) {
        self.skip_while(|next| next != '\n' && next != '\r');
    }
}

/// What may stand in a name after its first character.
fn is_alphanumeric(character: char) -> bool {
    character == '_' || character.is_ascii_alphanumeric()
}
