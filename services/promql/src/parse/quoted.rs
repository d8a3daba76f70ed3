//! A quoted literal in, the text it stands for out, with Go's escapes.

use crate::format::quote::quote;

/// The text of a string token. The lexer has checked its escapes.
///
/// # Errors
///
/// The text of the error, without a position. Unlike Prometheus, whose strings are bytes, a literal that is
/// not UTF-8 after `\x` and octal escapes is refused: no stored label could equal it.
pub(super) fn unquote(literal: &str) -> Result<String, String> {
    let fail = |what: &str| format!("error unquoting string {}: {what}", quote(literal));
    let mut inner = literal.chars();
    let (Some(opening), Some(closing)) = (inner.next(), inner.next_back()) else {
        return Err(fail("invalid syntax"));
    };
    if opening != closing {
        return Err(fail("invalid syntax"));
    }
    if opening == '`' {
        return Ok(inner.as_str().to_owned());
    }
    let mut bytes = Vec::with_capacity(literal.len());
    while let Some(character) = inner.next() {
        if character == '\\' {
            escape(&mut inner, &mut bytes).ok_or_else(|| fail("invalid syntax"))?;
        } else {
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    String::from_utf8(bytes).map_err(|_| fail("invalid UTF-8"))
}

fn escape(rest: &mut std::str::Chars<'_>, bytes: &mut Vec<u8>) -> Option<()> {
    let simple = match rest.next()? {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        'x' => u8::try_from(digits(rest, 0, 2, 16)?).ok()?,
        'u' => return push(char::from_u32(digits(rest, 0, 4, 16)?)?, bytes),
        'U' => return push(char::from_u32(digits(rest, 0, 8, 16)?)?, bytes),
        digit @ '0'..='7' => u8::try_from(digits(rest, digit.to_digit(8)?, 2, 8)?).ok()?,
        other => return push(other, bytes),
    };
    bytes.push(simple);
    Some(())
}

fn push(character: char, bytes: &mut Vec<u8>) -> Option<()> {
    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Some(())
}

fn digits(rest: &mut std::str::Chars<'_>, first: u32, count: usize, base: u32) -> Option<u32> {
    (0..count).try_fold(first, |code, _| {
        Some(code.checked_mul(base)? + rest.next()?.to_digit(base)?)
    })
}
