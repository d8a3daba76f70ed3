//! Classes of characters in a regex.

use super::{Translator, fault, read};

/// The names of POSIX classes, which both engines know as ASCII.
const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

impl Translator<'_> {
    /// A class in brackets.
    pub(super) fn class(&mut self) -> Result<(), String> {
        let before = self.rest;
        self.skip(1);
        let mut out = String::from("[");
        if self.rest.starts_with('^') {
            self.skip(1);
            out.push('^');
        }
        let mut first = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            if let Some(class) = self.posix()? {
                out.push_str(&class);
            } else if let Some(class) = self.named_class()? {
                out.push_str(&class);
            } else {
                self.member(before, &mut out)?;
            }
        }
        self.skip(1);
        out.push(']');
        self.out.push_str(&out);
        Ok(())
    }

    /// `[:alpha:]`, if that is what comes.
    fn posix(&mut self) -> Result<Option<String>, String> {
        let Some(inner) = self.rest.strip_prefix("[:") else {
            return Ok(None);
        };
        let Some((name, rest)) = inner.split_once(":]") else {
            return Ok(None);
        };
        let class = read(self.rest, rest);
        if !POSIX.contains(&name.strip_prefix('^').unwrap_or(name)) {
            return fault("invalid character class range", class);
        }
        self.rest = rest;
        Ok(Some(class.to_owned()))
    }

    /// A character or a range of them; `whole` is the text from the class on.
    fn member(&mut self, whole: &str, out: &mut String) -> Result<(), String> {
        let before = self.rest;
        let low = self.class_character(whole)?;
        push(out, low);
        let range = self
            .rest
            .strip_prefix('-')
            .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(']'));
        if !range {
            return Ok(());
        }
        self.skip(1);
        let high = self.class_character(whole)?;
        if high < low {
            return fault("invalid character class range", read(before, self.rest));
        }
        out.push('-');
        push(out, high);
        Ok(())
    }

    fn class_character(&mut self, whole: &str) -> Result<char, String> {
        match self.rest.chars().next() {
            None => fault("missing closing ]", whole),
            Some('\\') => self.escape(),
            Some(character) => {
                self.skip(character.len_utf8());
                Ok(character)
            }
        }
    }
}

/// Writes a character so that it means nothing else inside a class.
fn push(out: &mut String, character: char) {
    if character.is_ascii_punctuation() && !matches!(character, '<' | '>') {
        out.push('\\');
    }
    out.push(character);
}
