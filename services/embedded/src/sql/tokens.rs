//! Bytes of a statement → its words, brackets and literals, without spaces and comments.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A bare word or a number.
    Word,
    /// A quoted name or a string.
    Quoted,
    /// `(`, `[` or `{`.
    Open,
    /// `)`, `]` or `}`.
    Close,
    /// `;`.
    Semicolon,
    /// Any other single character.
    Other,
}

/// A token: bytes `start..end`, inside `depth` brackets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) depth: usize,
}

impl Token {
    /// Whether this is the bare word `word`, in any case.
    pub(super) fn is(&self, text: &[u8], word: &str) -> bool {
        self.kind == Kind::Word && self.bytes(text).eq_ignore_ascii_case(word.as_bytes())
    }

    /// Whether this is `word` outside every bracket.
    pub(super) fn is_top(&self, text: &[u8], word: &str) -> bool {
        self.depth == 0 && self.is(text, word)
    }

    pub(super) fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// Reads tokens one at a time, so that what follows an INSERT's head is never looked at.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
        }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Moves behind the next `end`, or to the end of the text.
    fn skip_past(&mut self, end: &[u8]) {
        let found = memchr::memmem::find(self.rest(), end);
        self.at = found.map_or(self.text.len(), |offset| self.at + offset + end.len());
    }

    fn skip_blank(&mut self) {
        while let Some(byte) = self.byte(0) {
            match (byte, self.byte(1)) {
                (0..=b' ', _) => self.at += 1,
                (b'-', Some(b'-')) | (b'#', Some(b' ' | b'!')) => self.skip_past(b"\n"),
                (b'/', Some(b'*')) => {
                    self.at += 2;
                    self.skip_past(b"*/");
                }
                _ => break,
            }
        }
    }

    /// Moves behind the closing `quote`; a doubled quote and a backslash keep it open.
    fn skip_quoted(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\\' => self.at += 2,
                _ if byte == quote && self.byte(1) == Some(quote) => self.at += 2,
                _ if byte == quote => {
                    self.at += 1;
                    return;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.text.len();
    }

    /// Moves behind `$tag$ … $tag$` when one starts here.
    fn skip_heredoc(&mut self) -> bool {
        let rest = self.rest();
        let Some(end) = rest
            .iter()
            .skip(1)
            .position(|byte| !is_word(*byte) || *byte == b'$')
        else {
            return false;
        };
        let Some(tag) = rest.get(..end + 2).filter(|tag| tag.ends_with(b"$")) else {
            return false;
        };
        if memchr::memmem::find(rest.get(tag.len()..).unwrap_or_default(), tag).is_none() {
            return false;
        }
        self.at += tag.len();
        self.skip_past(tag);
        true
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.skip_blank();
        let start = self.at;
        let mut depth = self.depth;
        let kind = match self.byte(0)? {
            quote @ (b'\'' | b'"' | b'`') => {
                self.skip_quoted(quote);
                Kind::Quoted
            }
            b'$' if self.skip_heredoc() => Kind::Quoted,
            byte if is_word(byte) => {
                while self.byte(0).is_some_and(is_word) {
                    self.at += 1;
                }
                Kind::Word
            }
            byte => {
                self.at += 1;
                match byte {
                    b'(' | b'[' | b'{' => {
                        self.depth += 1;
                        Kind::Open
                    }
                    b')' | b']' | b'}' => {
                        self.depth = self.depth.saturating_sub(1);
                        depth = self.depth;
                        Kind::Close
                    }
                    b';' => Kind::Semicolon,
                    _ => Kind::Other,
                }
            }
        };
        self.at = self.at.min(self.text.len());
        Some(Token {
            kind,
            start,
            end: self.at,
            depth,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let bytes = text.as_bytes();
        let as_text = |token: Token| String::from_utf8_lossy(token.bytes(bytes)).into_owned();
        Tokens::new(bytes).map(as_text).collect()
    }

    #[test]
    fn comments_are_blank_and_literals_are_whole() {
        assert_eq!(
            words("SELECT 'it''s \\' ;' /* ; */ -- ;\n, `a``b` # ;\n, $x$ ; $y$ $x$ ;"),
            [
                "SELECT",
                "'it''s \\' ;'",
                ",",
                "`a``b`",
                ",",
                "$x$ ; $y$ $x$",
                ";"
            ]
        );
    }

    #[test]
    fn unfinished_literals_end_with_the_text() {
        assert_eq!(words("a 'b\\"), ["a", "'b\\"]);
        assert_eq!(words("a /* b"), ["a"]);
        assert_eq!(words("$a"), ["$", "a"]);
        assert_eq!(words("$"), ["$"]);
    }

    #[test]
    fn depth_counts_the_brackets_around_a_token() {
        let depths: Vec<usize> = Tokens::new(b"a(b[c])d").map(|token| token.depth).collect();
        assert_eq!(depths, [0, 0, 1, 1, 2, 1, 0, 0]);
    }
}
