//! The text of an INSERT → its head, its format and where its data start.

use super::tokens::{Kind, Token, Tokens};
use crate::exception::Exception;

/// An INSERT, taken apart. Positions count bytes of the statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Insert {
    /// Data follow the head.
    Data {
        /// Where `FROM INFILE` belongs: behind table and columns, before SETTINGS and FORMAT.
        source_at: usize,
        /// Where FORMAT or VALUES starts.
        head_end: usize,
        /// The format's name; `Values` for VALUES.
        format: String,
        /// Where the data start.
        data_at: usize,
    },
    /// INSERT … SELECT: the data come from the engine.
    Select,
    /// The head ends with the text; FORMAT or VALUES may follow in the body.
    Open,
}

impl Insert {
    /// Reads the head of an INSERT and no byte of its data.
    ///
    /// # Errors
    /// 48 for sources of data that are not served over HTTP.
    pub(super) fn read(text: &[u8]) -> Result<Self, Exception> {
        let mut tokens = Tokens::new(text).skip(1).peekable();
        for optional in ["INTO", "TABLE"] {
            tokens.next_if(|token| token.is(text, optional));
        }
        let function = tokens.next_if(|token| token.is(text, "FUNCTION")).is_some();
        // The table may be named like a keyword, so its name is passed over unread.
        tokens.next();
        while tokens.next_if(|token| token.bytes(text) == b".").is_some() {
            tokens.next();
        }
        if function {
            while tokens
                .next_if(|token| token.depth > 0 || token.kind == Kind::Open)
                .is_some()
            {}
        }
        let mut source_at = None;
        while let Some(token) = tokens.next() {
            if token.is_top(text, "SETTINGS") {
                source_at = Some(token.start);
            } else if token.is_top(text, "FROM")
                && tokens.peek().is_some_and(|next| next.is(text, "INFILE"))
            {
                return Err(Exception::unsupported(
                    "INSERT … FROM INFILE is not served over HTTP; send the data as the request's body",
                ));
            } else if token.is_top(text, "VALUES") {
                return Ok(Self::data(
                    source_at,
                    &token,
                    "Values".to_owned(),
                    token.end,
                ));
            } else if token.is_top(text, "FORMAT") {
                let Some(name) = tokens.next() else { break };
                let format = String::from_utf8_lossy(name.bytes(text)).into_owned();
                return Ok(Self::data(
                    source_at,
                    &token,
                    format,
                    data_start(text, name.end),
                ));
            } else if starts_select(text, &token, tokens.peek()) {
                return Self::select(text, token.start);
            }
        }
        Ok(Self::Open)
    }

    fn data(source_at: Option<usize>, head_end: &Token, format: String, data_at: usize) -> Self {
        Self::Data {
            source_at: source_at.unwrap_or(head_end.start),
            head_end: head_end.start,
            format,
            data_at,
        }
    }

    fn select(text: &[u8], at: usize) -> Result<Self, Exception> {
        let select = text.get(at..).unwrap_or_default();
        let tokens: Vec<Token> = Tokens::new(select).collect();
        let input = tokens
            .windows(2)
            .any(|pair| matches!(pair, [name, open] if name.is(select, "input") && open.kind == Kind::Open));
        if input {
            return Err(Exception::unsupported(
                "the table function input() is not served here; insert the data first, then select",
            ));
        }
        Ok(Self::Select)
    }
}

fn starts_select(text: &[u8], token: &Token, next: Option<&Token>) -> bool {
    let select = |token: &Token| {
        ["SELECT", "WITH", "FROM"]
            .iter()
            .any(|word| token.is(text, word))
    };
    if token.depth > 0 {
        return false;
    }
    select(token) || (token.kind == Kind::Open && next.is_some_and(select))
}

/// Data start behind the format's name, blanks and one line end, as ClickHouse has it.
fn data_start(text: &[u8], name_end: usize) -> usize {
    let mut at = name_end;
    let byte = |at: usize| text.get(at).copied();
    while matches!(byte(at), Some(b' ' | b'\t' | b'\x0c')) {
        at += 1;
    }
    if byte(at) == Some(b';')
        && text
            .get(at + 1..)
            .is_some_and(|rest| rest.trim_ascii().is_empty())
    {
        return text.len();
    }
    if byte(at) == Some(b'\r') && byte(at + 1) == Some(b'\n') {
        at += 1;
    }
    if byte(at) == Some(b'\n') {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Head before the source, head behind it, format, data.
    fn parts(text: &[u8]) -> (String, String, String, Vec<u8>) {
        match Insert::read(text).unwrap() {
            Insert::Data {
                source_at,
                head_end,
                format,
                data_at,
            } => {
                let piece =
                    |from: usize, to: usize| String::from_utf8(text[from..to].to_vec()).unwrap();
                (
                    piece(0, source_at),
                    piece(source_at, head_end),
                    format,
                    text[data_at..].to_vec(),
                )
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn binary_data_start_behind_one_line_end() {
        let (head, settings, format, data) =
            parts(b"INSERT INTO `a b`.t (x, `format`) SETTINGS insert_deduplication_token = 'FORMAT' FORMAT RowBinary\n\n;'\0");
        assert_eq!(head, "INSERT INTO `a b`.t (x, `format`) ");
        assert_eq!(settings, "SETTINGS insert_deduplication_token = 'FORMAT' ");
        assert_eq!(format, "RowBinary");
        assert_eq!(data, b"\n;'\0");
    }

    #[test]
    fn values_are_data_of_the_format_values() {
        let (head, _, format, data) = parts(b"insert into t values (1, 'a;b')");
        assert_eq!(
            (head.as_str(), format.as_str(), data.as_slice()),
            ("insert into t ", "Values", &b" (1, 'a;b')"[..])
        );
    }

    #[test]
    fn a_table_may_be_named_like_a_keyword() {
        let (head, _, format, _) = parts(b"INSERT INTO TABLE db.values FORMAT TSV");
        assert_eq!(
            (head.as_str(), format.as_str()),
            ("INSERT INTO TABLE db.values ", "TSV")
        );
        let (head, _, _, _) = parts(b"INSERT INTO FUNCTION remote('h', x.y) FORMAT TSV 1");
        assert_eq!(head, "INSERT INTO FUNCTION remote('h', x.y) ");
    }

    #[test]
    fn a_select_is_left_to_the_engine() {
        for text in [
            "INSERT INTO t (a) SELECT 1",
            "INSERT INTO t (SELECT 1)",
            "INSERT INTO t WITH 1 AS a SELECT a",
        ] {
            assert_eq!(
                Insert::read(text.as_bytes()).unwrap(),
                Insert::Select,
                "{text}"
            );
        }
        let refused =
            Insert::read(b"INSERT INTO t SELECT a FROM input('a UInt8') FORMAT CSV").unwrap_err();
        assert_eq!(refused.code, 48);
    }

    #[test]
    fn a_head_alone_stays_open() {
        assert_eq!(Insert::read(b"INSERT INTO t (a, b)").unwrap(), Insert::Open);
        assert_eq!(Insert::read(b"INSERT").unwrap(), Insert::Open);
    }

    #[test]
    fn a_semicolon_that_ends_the_text_is_no_data() {
        let (_, _, _, data) = parts(b"INSERT INTO t FORMAT RowBinary ; \n");
        assert_eq!(data, b"");
    }
}
