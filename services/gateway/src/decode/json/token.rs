//! Cuts JSON text into its smallest parts: strings, numbers, words, punctuation.

use std::borrow::Cow;

use super::fault::Fault;
use super::reader::Reader;

impl<'a> Reader<'a> {
    /// Skips white space and returns the byte that follows; `None` at the end.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        for (skipped, byte) in rest.iter().enumerate() {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                self.at += skipped;
                return Some(*byte);
            }
        }
        self.at = self.text.len();
        None
    }

    /// Takes `byte` if it comes next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        if next {
            self.at += 1;
        }
        next
    }

    /// Takes `null` if it comes next.
    pub(super) fn null(&mut self) -> bool {
        self.peek() == Some(b'n') && self.word("null")
    }

    /// Takes `word` if it comes next and nothing follows that would make it longer.
    pub(super) fn word(&mut self, word: &str) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let next = rest.starts_with(word.as_bytes())
            && !rest
                .get(word.len())
                .is_some_and(|byte| byte.is_ascii_alphanumeric());
        if next {
            self.at += word.len();
        }
        next
    }

    /// Takes a string. Borrows from the text unless there is an escape in it.
    pub(super) fn text(&mut self, expected: &str) -> Result<Cow<'a, str>, Fault> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected(expected));
        }
        let start = self.at + 1;
        let stop = self.plain_until(start)?;
        let plain = self.slice(start, stop);
        if self.byte(stop) == Some(b'"') {
            self.at = stop + 1;
            return Ok(Cow::Borrowed(plain));
        }
        self.at = stop;
        self.escaped(plain.to_owned()).map(Cow::Owned)
    }

    /// Goes on with a string whose first part is `text`; an escape comes next.
    fn escaped(&mut self, mut text: String) -> Result<String, Fault> {
        while self.byte(self.at) == Some(b'\\') {
            text.push(self.escape()?);
            let stop = self.plain_until(self.at)?;
            text.push_str(self.slice(self.at, stop));
            self.at = stop;
        }
        self.at += 1;
        Ok(text)
    }

    /// The offset of the quote or backslash that ends a run of plain characters.
    fn plain_until(&self, start: usize) -> Result<usize, Fault> {
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        let Some(length) = rest
            .iter()
            .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))
        else {
            return Err(Fault::new(
                self.text.len(),
                "the string does not end".to_owned(),
            ));
        };
        let stop = start + length;
        match self.byte(stop) {
            Some(b'"' | b'\\') => Ok(stop),
            _ => Err(Fault::new(
                stop,
                "a control character in a string must be escaped".to_owned(),
            )),
        }
    }

    /// Takes one escape. Half of a surrogate pair becomes U+FFFD, as JavaScript's senders write them.
    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        let kind = self.byte(start + 1);
        self.at += 2;
        match kind {
            Some(plain @ (b'"' | b'\\' | b'/')) => Ok(char::from(plain)),
            Some(b'b') => Ok('\u{8}'),
            Some(b'f') => Ok('\u{c}'),
            Some(b'n') => Ok('\n'),
            Some(b'r') => Ok('\r'),
            Some(b't') => Ok('\t'),
            Some(b'u') => self.unicode_escape(start),
            _ => Err(Fault::new(start, "unknown escape in a string".to_owned())),
        }
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, Fault> {
        let first = self.four_digits(start)?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let between = self.at;
        if self.byte(between) == Some(b'\\') && self.byte(between + 1) == Some(b'u') {
            self.at += 2;
            let second = self.four_digits(between)?;
            if (0xdc00..0xe000).contains(&second) {
                let joined = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = between;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn four_digits(&mut self, escape: usize) -> Result<u32, Fault> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self
                .byte(self.at)
                .and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(Fault::new(
                    escape,
                    "`\\u` needs four hexadecimal digits".to_owned(),
                ));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// Takes a number and returns its text.
    pub(super) fn number(&mut self, expected: &str) -> Result<&'a str, Fault> {
        self.peek();
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let Some(length) = number_length(rest) else {
            return Err(self.unexpected(expected));
        };
        let number = self.slice(self.at, self.at + length);
        self.at += length;
        Ok(number)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The text between two offsets, which are at ASCII characters and therefore boundaries.
    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }
}

/// Length of the JSON number at the start of `bytes`; `None` when there is none.
pub(super) fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        bytes
            .get(from..)
            .unwrap_or_default()
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && bytes.get(at) == Some(&b'0')) {
        return None;
    }
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent == 0 {
            return None;
        }
        at += 1 + sign + exponent;
    }
    Some(at)
}
