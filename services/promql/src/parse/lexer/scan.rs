//! The lexer's hands: characters are taken one by one and become numbers, durations and strings.

use super::{Failure, Lexed, Lexer, is_alphanumeric};
use crate::format::quote::code_point;
use crate::parse::token::TokenKind;

const DECIMAL: &str = "0123456789";
const HEXADECIMAL: &str = "0123456789abcdefABCDEF";

impl<'q> Lexer<'q> {
    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn rest(&self) -> &'q str {
        self.input.get(self.at..).unwrap_or_default()
    }

    /// The token read so far.
    pub(super) fn word(&self) -> &'q str {
        self.input.get(self.start..self.at).unwrap_or_default()
    }

    /// An error at the start of the token.
    pub(super) fn fail(&self, message: impl Into<String>) -> Lexed {
        Err(Failure::new(self.start, message))
    }

    /// An error behind the token.
    pub(super) fn fail_behind(&self, message: impl Into<String>) -> Lexed {
        Err(Failure::new(self.at, message))
    }

    pub(super) fn accept(&mut self, wanted: char) -> bool {
        self.accept_any(wanted.encode_utf8(&mut [0; 4]))
    }

    pub(super) fn skip_while(&mut self, keep: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&keep) {
            self.next();
        }
    }

    fn accept_any(&mut self, set: &str) -> bool {
        let found = self.sees(set);
        if found {
            self.next();
        }
        found
    }

    fn sees(&self, set: &str) -> bool {
        self.peek().is_some_and(|next| set.contains(next))
    }

    /// Takes what looks like a number; false where it cannot be one. Whether it is one shows when its value
    /// is read.
    pub(super) fn scan_number(&mut self) -> bool {
        let hexadecimal = self.accept('0') && self.accept_any("xX");
        if hexadecimal {
            self.accept('_');
        }
        let digits = if hexadecimal { HEXADECIMAL } else { DECIMAL };
        self.accept('.');
        self.accept_any(digits);
        let (mut dot, mut exponent) = (false, false);
        loop {
            // A hexadecimal `e` is taken for an exponent here, unless it stands in a run of digits.
            if self.sees("eE") {
                if !self.scan_exponent(exponent) {
                    return false;
                }
                exponent = true;
            } else if self.sees(".") {
                if !self.scan_dot(dot || hexadecimal, dot) {
                    return false;
                }
                dot = true;
            } else if self.accept('_') {
                if self.accept_any("._eE") || self.peek().is_none() {
                    return false;
                }
            } else if self.sees(digits) {
                self.skip_while(|next| digits.contains(next));
            } else {
                break;
            }
        }
        self.at > self.start && !self.peek().is_some_and(is_alphanumeric)
    }

    fn scan_exponent(&mut self, repeated: bool) -> bool {
        self.accept_any("eE");
        if repeated {
            return false;
        }
        self.accept_any("+-");
        !self.accept_any("._eE") && self.peek().is_some()
    }

    fn scan_dot(&mut self, refused: bool, repeated: bool) -> bool {
        self.accept('.');
        if repeated {
            return false;
        }
        !self.accept_any("_.") && !refused
    }

    /// Takes the units and further parts of a duration whose first number was taken already.
    pub(super) fn scan_rest_of_duration(&mut self) -> bool {
        if !self.accept_any("smhdwy") {
            return false;
        }
        self.accept('s');
        while self.accept_any(DECIMAL) {
            self.skip_while(|next| next.is_ascii_digit());
            if !self.accept_any("smhdw") {
                return false;
            }
            self.accept('s');
        }
        if self.peek().is_some_and(is_alphanumeric) {
            // It belongs to what the error shows.
            self.next();
            return false;
        }
        true
    }

    /// The rest of a string whose opening quote was taken.
    pub(super) fn string(&mut self, quote: char) -> Lexed {
        let raw = quote == '`';
        loop {
            match self.next() {
                Some('\\') if !raw => self.scan_escape(quote)?,
                Some(char::REPLACEMENT_CHARACTER) => return self.fail("invalid UTF-8 rune"),
                None if raw => return self.fail("unterminated raw string"),
                None => return self.fail("unterminated quoted string"),
                Some('\n') if !raw => return self.fail("unterminated quoted string"),
                Some(character) if character == quote => return Ok(Some(TokenKind::String)),
                Some(_) => {}
            }
        }
    }

    fn scan_escape(&mut self, quote: char) -> Result<(), Failure> {
        let fail = |at: usize, message: String| Err(Failure::new(at, message));
        let Some(kind) = self.next() else {
            return fail(self.start, "escape sequence not terminated".to_owned());
        };
        let (count, base, max) = match kind {
            'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '\\' => return Ok(()),
            _ if kind == quote => return Ok(()),
            '0'..='7' => {
                self.at -= 1;
                (3, 8, 255)
            }
            'x' => (2, 16, 255),
            'u' => (4, 16, 0x10_ffff),
            'U' => (8, 16, 0x10_ffff),
            _ => {
                return fail(
                    self.start,
                    format!("unknown escape sequence {}", code_point(Some(kind))),
                );
            }
        };
        let mut code: u32 = 0;
        for _ in 0..count {
            let next = self.next();
            let Some(digit) = next.and_then(|next| next.to_digit(base)) else {
                let message = match next {
                    None => "escape sequence not terminated".to_owned(),
                    some => format!("illegal character {} in escape sequence", code_point(some)),
                };
                return fail(self.start, message);
            };
            code = code.wrapping_mul(base).wrapping_add(digit);
        }
        if code > max || (0xd800..0xe000).contains(&code) {
            return fail(
                self.start,
                "escape sequence is an invalid Unicode code point".to_owned(),
            );
        }
        Ok(())
    }
}
