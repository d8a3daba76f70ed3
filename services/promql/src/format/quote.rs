//! Text in, a quoted literal out, as Go's `strconv.Quote` writes it: Prometheus' errors and printed
//! expressions are made of those.

/// `text` in double quotes.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        push_escaped(&mut out, character, '"');
    }
    out.push('"');
    out
}

/// `text` in double quotes, cut after `limit` characters with `...` behind it if it is longer than that
/// many bytes.
pub(crate) fn quote_first(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return quote(text);
    }
    let start: String = text.chars().take(limit).collect();
    format!("{}...", quote(&start))
}

/// A character in single quotes; the end of the text is shown as the replacement character.
pub(crate) fn quote_char(character: Option<char>) -> String {
    let mut out = String::from("'");
    push_escaped(
        &mut out,
        character.unwrap_or(char::REPLACEMENT_CHARACTER),
        '\'',
    );
    out.push('\'');
    out
}

/// A character as `U+0041 'A'`, or without the second part where it cannot be shown.
pub(crate) fn code_point(character: Option<char>) -> String {
    let Some(character) = character else {
        return "U+FFFFFFFFFFFFFFFF".to_owned();
    };
    let point = format!("U+{:04X}", u32::from(character));
    if is_printable(character) {
        format!("{point} '{character}'")
    } else {
        point
    }
}

fn push_escaped(out: &mut String, character: char, quote: char) {
    let short = match character {
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\u{b}' => 'v',
        '\\' => '\\',
        _ if character == quote => quote,
        _ if is_printable(character) => {
            out.push(character);
            return;
        }
        _ => {
            push_code(out, u32::from(character));
            return;
        }
    };
    out.push('\\');
    out.push(short);
}

fn push_code(out: &mut String, code: u32) {
    out.push_str(&match code {
        0..0x20 | 0x7f => format!("\\x{code:02x}"),
        0x20..0x1_0000 => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    });
}

/// Whether Go prints the character as itself. Rust's debug escaping follows the same classes of characters;
/// a letter goes first because a combining mark is only escaped at the start of a text.
fn is_printable(character: char) -> bool {
    let mut buffer = String::from("a");
    buffer.push(character);
    matches!(character, '\'' | '"' | '\\') || buffer.escape_debug().eq(buffer.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_escaped_as_go_does() {
        assert_eq!(quote("a\"b\\c\n\u{0}\u{7f}"), r#""a\"b\\c\n\x00\x7f""#);
        assert_eq!(quote("é日e\u{301}"), "\"é日e\u{301}\"");
        assert_eq!(
            quote("\u{a0}\u{200b}\u{e000}\u{10ffff}"),
            r#""\u00a0\u200b\ue000\U0010ffff""#
        );
        assert_eq!(quote("'"), "\"'\"");
        assert_eq!(quote_char(Some('\'')), r"'\''");
        assert_eq!(quote_char(Some('"')), "'\"'");
    }

    #[test]
    fn long_texts_are_cut_by_characters() {
        assert_eq!(quote_first("0123456789", 10), "\"0123456789\"");
        assert_eq!(quote_first("ééééééééééé", 10), "\"éééééééééé\"...");
    }
}
