//! What a backslash means in a regex.

use super::{Translator, fault, read};

/// Perl's classes, which are ASCII in Go: the letter and what a class holds for it.
const PERL: [(char, &str); 3] = [('d', "0-9"), ('s', r"\t\n\f\r "), ('w', "0-9A-Za-z_")];

impl<'p> Translator<'p> {
    /// A backslash outside of a class.
    pub(super) fn escaped(&mut self) -> Result<(), String> {
        let before = self.rest;
        match before.as_bytes().get(1) {
            Some(b'C') => return fault("invalid escape sequence", r"\C"),
            Some(b'Q') => {
                self.quoted();
                return Ok(());
            }
            Some(b'A') => self.assertion(r"\A"),
            Some(b'z') => self.assertion(r"\z"),
            Some(b'b') => self.assertion(r"(?-u:\b)"),
            // An ASCII `\B` could split a character, so Rust refuses it.
            Some(b'B') => self.assertion(r"\B"),
            _ => {
                if let Some(class) = self.named_class()? {
                    self.out.push_str(&class);
                } else {
                    let character = self.escape()?;
                    self.literal(character);
                }
            }
        }
        self.level.atom = Some(1);
        Ok(())
    }

    fn assertion(&mut self, text: &str) {
        self.skip(2);
        self.out.push_str(text);
    }

    /// `\Q…\E`: all between is literal.
    fn quoted(&mut self) {
        self.skip(2);
        let (text, rest) = self.rest.split_once(r"\E").unwrap_or((self.rest, ""));
        self.rest = rest;
        for character in text.chars() {
            self.literal(character);
        }
    }

    /// `\d`, `\pL`, `\p{Greek}` and their like as a class of their own, if that is what comes.
    pub(super) fn named_class(&mut self) -> Result<Option<String>, String> {
        let Some(kind) = self
            .rest
            .strip_prefix('\\')
            .and_then(|rest| rest.chars().next())
        else {
            return Ok(None);
        };
        if matches!(kind, 'p' | 'P') {
            return self.unicode_class(kind == 'P').map(Some);
        }
        let Some((_, members)) = PERL
            .iter()
            .find(|(letter, _)| *letter == kind.to_ascii_lowercase())
        else {
            return Ok(None);
        };
        self.skip(2);
        let negation = if kind.is_ascii_uppercase() { "^" } else { "" };
        Ok(Some(format!("[{negation}{members}]")))
    }

    fn unicode_class(&mut self, mut negated: bool) -> Result<String, String> {
        let before = self.rest;
        self.skip(2);
        let mut name = match self.rest.strip_prefix('{') {
            Some(inner) => match inner.split_once('}') {
                Some((name, _)) => {
                    self.skip(name.len() + 2);
                    name
                }
                None => return fault("invalid character class range", before),
            },
            None => {
                let length = self.rest.chars().next().map_or(0, char::len_utf8);
                let name = self.rest.get(..length).unwrap_or_default();
                self.skip(length);
                name
            }
        };
        if let Some(plain) = name.strip_prefix('^') {
            negated = !negated;
            name = plain;
        }
        let class = format!(r"\{}{{{name}}}", if negated { 'P' } else { 'p' });
        let known = !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        // Whether the name is known shows before anything is compiled.
        let tried = regex::RegexBuilder::new(&class).size_limit(0).build();
        if known && !matches!(tried, Err(regex::Error::Syntax(_))) {
            return Ok(class);
        }
        fault("invalid character class range", read(before, self.rest))
    }

    /// An escape that stands for one character.
    pub(super) fn escape(&mut self) -> Result<char, String> {
        let before = self.rest;
        self.skip(1);
        let Some(kind) = self.take() else {
            return fault("trailing backslash at end of expression", "");
        };
        let octal_follows = self.rest.starts_with(|next: char| next.is_digit(8));
        let found = match kind {
            '0' => self.octal(0),
            '1'..='7' if octal_follows => self.octal(u32::from(kind) - u32::from('0')),
            'x' => self.hexadecimal(),
            'a' => Some('\u{7}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\u{b}'),
            _ if kind.is_ascii() && !kind.is_ascii_alphanumeric() => Some(kind),
            _ => None,
        };
        match found {
            Some(character) => Ok(character),
            None => fault("invalid escape sequence", read(before, self.rest)),
        }
    }

    fn take(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.skip(next.len_utf8());
        Some(next)
    }

    fn octal(&mut self, first: u32) -> Option<char> {
        let mut code = first;
        for _ in 0..2 {
            let Some(digit) = self.rest.chars().next().and_then(|next| next.to_digit(8)) else {
                break;
            };
            self.skip(1);
            code = code * 8 + digit;
        }
        char::from_u32(code)
    }

    fn hexadecimal(&mut self) -> Option<char> {
        let first = self.take()?;
        if first != '{' {
            let second = self.take()?;
            return char::from_u32(first.to_digit(16)? * 16 + second.to_digit(16)?);
        }
        let mut code: Option<u32> = None;
        loop {
            let next = self.take()?;
            if next == '}' {
                return code.and_then(char::from_u32);
            }
            let sum = code.unwrap_or(0) * 16 + next.to_digit(16)?;
            if sum > u32::from(char::MAX) {
                return None;
            }
            code = Some(sum);
        }
    }
}
