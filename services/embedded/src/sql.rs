//! The text of a request → what kind of statement it is and how the engine must be asked.

mod tokens;
mod insert;
mod rewrite;

use crate::exception::Exception;

pub(crate) use insert::Insert;
pub(crate) use rewrite::{into_outfile, kill, mark, quoted_name, quoted_text, with_query_ids};

use tokens::{Kind as TokenKind, Token, Tokens};

/// What a statement does, as far as this face must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// SELECT in any spelling: its output may be large and is streamed.
    Select,
    /// SHOW, DESCRIBE, EXPLAIN …: reads, with a small output.
    Show,
    /// An INSERT, taken apart.
    Insert(Insert),
    /// KILL.
    Kill,
    /// Leaves something behind in the session, which no later request may see.
    Session,
    /// DDL and everything else.
    Other,
}

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    /// Its text without a closing semicolon; of an INSERT with data: everything, data included.
    pub(crate) text: Vec<u8>,
    /// What it does.
    pub(crate) kind: Kind,
    /// The format its text asks for.
    pub(crate) format: Option<String>,
}

impl Statement {
    /// Reads one statement.
    ///
    /// # Errors
    /// 62 for nothing or for several statements, 48 for what is not served over HTTP.
    pub(crate) fn read(mut text: Vec<u8>) -> Result<Self, Exception> {
        let mut tokens = Tokens::new(&text);
        let first = tokens.next().ok_or_else(empty)?;
        if first.is(&text, "INSERT") {
            let insert = Insert::read(&text)?;
            return Ok(Self {
                text,
                kind: Kind::Insert(insert),
                format: None,
            });
        }
        let all: Vec<Token> = Tokens::new(&text).collect();
        let end = single(&text, &all)?;
        let words = all.get(..end).unwrap_or_default();
        if words.is_empty() {
            return Err(empty());
        }
        refuse_files(&text, words)?;
        let kind = kind(&text, words);
        let format = format(&text, words).map(|(_, name)| name);
        if let Some(semicolon) = all.get(end) {
            text.truncate(semicolon.start);
        }
        Ok(Self { text, kind, format })
    }

    /// Whether it leaves the data as it is.
    pub(crate) fn only_reads(&self) -> bool {
        matches!(self.kind, Kind::Select | Kind::Show)
    }
}

fn empty() -> Exception {
    Exception::new(62, "SYNTAX_ERROR", "Empty query")
}

/// The number of tokens before the closing semicolon.
fn single(text: &[u8], all: &[Token]) -> Result<usize, Exception> {
    let end = all
        .iter()
        .position(|token| token.kind == TokenKind::Semicolon && token.depth == 0)
        .unwrap_or(all.len());
    let more = all.get(end..).unwrap_or_default();
    match more.iter().find(|token| token.kind != TokenKind::Semicolon) {
        None => Ok(end),
        Some(next) => Err(Exception::new(
            62,
            "SYNTAX_ERROR",
            &format!(
                "Syntax error (Multi-statements are not allowed): failed at position {} ({})",
                next.start + 1,
                String::from_utf8_lossy(next.bytes(text)),
            ),
        )),
    }
}

/// The engine would open files of this machine for the client.
fn refuse_files(text: &[u8], words: &[Token]) -> Result<(), Exception> {
    let outfile = words
        .windows(2)
        .any(|pair| matches!(pair, [into, file] if into.is_top(text, "INTO") && file.is(text, "OUTFILE")));
    if outfile {
        return Err(Exception::unsupported(
            "INTO OUTFILE is not served over HTTP; read the answer's body instead",
        ));
    }
    Ok(())
}

fn kind(text: &[u8], words: &[Token]) -> Kind {
    let is = |index: usize, word: &str| words.get(index).is_some_and(|token| token.is(text, word));
    let first = |list: &[&str]| list.iter().any(|word| is(0, word));
    let bracket = words
        .first()
        .is_some_and(|token| token.kind == TokenKind::Open);
    if bracket || first(&["SELECT", "WITH", "FROM"]) {
        if words.iter().any(|token| token.is_top(text, "INSERT")) {
            return Kind::Other;
        }
        return Kind::Select;
    }
    if first(&["SHOW", "DESCRIBE", "DESC", "EXPLAIN", "EXISTS", "CHECK"]) {
        return Kind::Show;
    }
    if first(&["KILL"]) {
        return Kind::Kill;
    }
    let temporary = first(&["CREATE", "ATTACH"]) && (is(1, "TEMPORARY") || is(3, "TEMPORARY"));
    if temporary || first(&["SET", "USE", "BEGIN", "START", "COMMIT", "ROLLBACK"]) {
        return Kind::Session;
    }
    Kind::Other
}

/// The `FORMAT name` at the end of a statement: where it starts, and the name.
fn format(text: &[u8], words: &[Token]) -> Option<(usize, String)> {
    let at = words
        .iter()
        .rposition(|token| token.is_top(text, "FORMAT"))?;
    let name = words
        .get(at + 1)
        .filter(|token| token.kind == TokenKind::Word)?;
    let followed = words.get(at + 2);
    if followed.is_some_and(|token| !token.is(text, "SETTINGS")) {
        return None;
    }
    let name = String::from_utf8_lossy(name.bytes(text)).into_owned();
    Some((words.get(at)?.start, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Statement {
        Statement::read(text.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn kinds_are_told_by_the_words_that_start_a_statement() {
        for (text, kind) in [
            ("SELECT 1", Kind::Select),
            ("/* x */ with 1 as a select a", Kind::Select),
            ("(SELECT 1) UNION ALL SELECT 2", Kind::Select),
            ("WITH 1 AS a INSERT INTO t SELECT a", Kind::Other),
            ("describe table t", Kind::Show),
            ("KILL QUERY WHERE 1", Kind::Kill),
            ("SET a = 1", Kind::Session),
            (
                "CREATE OR REPLACE TEMPORARY TABLE t (a UInt8)",
                Kind::Session,
            ),
            ("CREATE TABLE t (a UInt8) ENGINE = Memory", Kind::Other),
        ] {
            assert_eq!(read(text).kind, kind, "{text}");
        }
    }

    #[test]
    fn a_closing_semicolon_goes_and_a_second_statement_is_refused() {
        assert_eq!(read("SELECT ';' ; -- end\n;").text, b"SELECT ';' ");
        let refused = Statement::read(b"SELECT 1; DROP TABLE t".to_vec()).unwrap_err();
        assert_eq!(refused.code, 62);
        assert!(
            refused.text.contains("Multi-statements are not allowed"),
            "{}",
            refused.text
        );
        assert_eq!(
            Statement::read(b" -- nothing\n ;".to_vec())
                .unwrap_err()
                .code,
            62
        );
    }

    #[test]
    fn the_format_is_the_last_one_outside_brackets() {
        assert_eq!(
            read("SELECT format('{}', 1) FORMAT JSON").format.as_deref(),
            Some("JSON")
        );
        assert_eq!(
            read("SELECT 1 FORMAT CSV SETTINGS max_threads = 1")
                .format
                .as_deref(),
            Some("CSV")
        );
        assert_eq!(read("SELECT 1 AS format").format, None);
        assert_eq!(read("SELECT * FROM (SELECT 1 FORMAT CSV)").format, None);
    }

    #[test]
    fn files_of_this_machine_are_not_opened_for_clients() {
        let refused = Statement::read(b"SELECT 1 INTO OUTFILE '/tmp/x'".to_vec()).unwrap_err();
        assert_eq!(refused.code, 48);
        let refused =
            Statement::read(b"INSERT INTO t FROM INFILE '/etc/passwd' FORMAT CSV".to_vec())
                .unwrap_err();
        assert_eq!(refused.code, 48);
    }
}
