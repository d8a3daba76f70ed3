//! A statement → the same statement with what this face adds: a mark, a sink for its output, quoted names.

use super::tokens::{Token, Tokens};
use super::{Kind, Statement};

/// The engine shows (and lets KILL QUERY see) this many first bytes of a statement at least.
const SHOWN: usize = 90_000;

/// A name between backquotes.
pub(crate) fn quoted_name(name: &str) -> String {
    format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
}

/// A string literal.
pub(crate) fn quoted_text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// The comment that carries a query id: the engine gives each statement an id of its own choice, and the
/// text is the only thing of ours that its list of running statements shows.
fn comment(query_id: &str) -> String {
    format!("/*query_id={query_id}*/")
}

/// Adds the query id: at the end, so that positions in error texts stay right, or in front where the engine
/// would not show the end or would take it for data.
pub(crate) fn mark(text: &[u8], kind: &Kind, query_id: &str) -> Vec<u8> {
    let comment = comment(query_id);
    let mut marked = Vec::with_capacity(text.len() + comment.len() + 1);
    if text.len() < SHOWN && !matches!(kind, Kind::Insert(_)) {
        marked.extend_from_slice(text);
        marked.push(b'\n');
        marked.extend_from_slice(comment.as_bytes());
    } else {
        marked.extend_from_slice(comment.as_bytes());
        marked.push(b' ');
        marked.extend_from_slice(text);
    }
    marked
}

/// The KILL QUERY that ends the statements with these ids.
pub(crate) fn kill<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let one = |id: &str| {
        let mark = quoted_text(&comment(id));
        format!("endsWith(query, {mark}) OR startsWith(query, {mark})")
    };
    let all: Vec<String> = ids.map(one).collect();
    format!("KILL QUERY WHERE {} ASYNC FORMAT Null", all.join(" OR "))
}

/// A KILL statement with `query_id` read as the id that the client gave, which is in the comment.
pub(crate) fn with_query_ids(text: &[u8]) -> Vec<u8> {
    let given: &[u8] = br"extract(query, '/\\*query_id=([^*]*)\\*/')";
    let mut out = Vec::with_capacity(text.len() + given.len());
    let mut copied = 0;
    let named = |token: &Token| matches!(token.bytes(text), b"query_id" | b"`query_id`");
    for token in Tokens::new(text).filter(named) {
        out.extend_from_slice(text.get(copied..token.start).unwrap_or_default());
        out.extend_from_slice(given);
        copied = token.end;
    }
    out.extend_from_slice(text.get(copied..).unwrap_or_default());
    out
}

/// A SELECT whose output the engine writes to the file `path` in `format`.
pub(crate) fn into_outfile(statement: &Statement, path: &str, format: &str) -> Vec<u8> {
    let text = &statement.text;
    let words: Vec<Token> = Tokens::new(text).collect();
    let sink = format!("\nINTO OUTFILE {} APPEND ", quoted_text(path));
    let mut out = Vec::with_capacity(text.len() + sink.len() + format.len() + 8);
    match super::format(text, &words) {
        Some((at, _)) => {
            let (head, tail) = text.split_at(at);
            out.extend_from_slice(head);
            out.extend_from_slice(sink.as_bytes());
            out.extend_from_slice(tail);
        }
        None => {
            out.extend_from_slice(text);
            out.extend_from_slice(sink.as_bytes());
            out.extend_from_slice(b"FORMAT ");
            out.extend_from_slice(format.as_bytes());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outfile(text: &str) -> String {
        let statement = Statement::read(text.as_bytes().to_vec()).unwrap();
        String::from_utf8(into_outfile(&statement, "/proc/self/fd/9", "JSON")).unwrap()
    }

    #[test]
    fn the_sink_stands_before_the_format() {
        assert_eq!(
            outfile("SELECT 1 SETTINGS a = 1 FORMAT CSV SETTINGS b = 2"),
            "SELECT 1 SETTINGS a = 1 \nINTO OUTFILE '/proc/self/fd/9' APPEND FORMAT CSV SETTINGS b = 2"
        );
        assert_eq!(
            outfile("SELECT 1 -- x"),
            "SELECT 1 -- x\nINTO OUTFILE '/proc/self/fd/9' APPEND FORMAT JSON"
        );
    }

    #[test]
    fn marks_stand_where_the_engine_shows_them() {
        assert_eq!(
            mark(b"SELECT 1", &Kind::Select, "a"),
            b"SELECT 1\n/*query_id=a*/"
        );
        let long = vec![b' '; SHOWN];
        assert!(mark(&long, &Kind::Select, "a").starts_with(b"/*query_id=a*/ "));
    }

    #[test]
    fn kill_reads_the_id_of_the_client() {
        let killed =
            with_query_ids(b"KILL QUERY WHERE query_id = 'query_id' OR `query_id` IN ('b')");
        assert_eq!(
            String::from_utf8(killed).unwrap(),
            r"KILL QUERY WHERE extract(query, '/\\*query_id=([^*]*)\\*/') = 'query_id' OR extract(query, '/\\*query_id=([^*]*)\\*/') IN ('b')"
        );
    }

    #[test]
    fn quotes_cannot_be_left() {
        assert_eq!(quoted_text(r"a'b\"), r"'a\'b\\'");
        assert_eq!(quoted_name(r"a`b\"), r"`a\`b\\`");
    }
}
