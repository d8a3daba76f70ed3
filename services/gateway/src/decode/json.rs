//! Turns OTLP/JSON text into OTLP messages.
//!
//! proto3's JSON mapping with the deviations of the OTLP specification: trace and span ids in
//! hexadecimal, enums as integers, unknown fields ignored, lowerCamelCase keys only. Beyond it, what
//! senders are known to write is understood: 64-bit numbers as numbers or strings, enum names, `null`
//! for any field. One pass, no tree: [`reader::Reader`] walks the text and each message type says in
//! its [`reader::Message`] which key goes where.

mod reader;
mod fault;
mod token;
mod scalar;
mod attribute;
mod metric;
mod point;

#[cfg(test)]
mod tests;

use bumpalo::Bump;

use self::fault::Fault;
use self::reader::{Message, Reader, Unknown};
use super::{DecodeError, Decoded, points_in};
use crate::outcome::excerpt;

/// Decodes a metrics request. Blank text is an empty request; a byte order mark is skipped.
pub(super) fn metrics<'b>(
    body: &'b [u8],
    room: u64,
    arena: &'b Bump,
) -> Result<Decoded<'b>, DecodeError> {
    let text = std::str::from_utf8(body).map_err(|error| not_text(body, error.valid_up_to()))?;
    let mut json = Reader::new(text, room, arena);
    let request = root(&mut json).map_err(|fault| {
        if json.is_full() {
            DecodeError::too_large(room)
        } else {
            explain(text, fault)
        }
    })?;
    let unknown = json.into_unknown();
    let warning = unknown
        .filter(|_| points_in(&request) == 0)
        .map(|unknown| nothing_recognised(text, &unknown, "resourceMetrics"));
    Ok(Decoded { request, warning })
}

/// Reads the one value that a body is.
fn root<'a, M: Message<'a>>(json: &mut Reader<'a>) -> Result<M, Fault> {
    if json.at_end() {
        return Ok(M::default());
    }
    let message = json.message()?;
    if !json.at_end() {
        return Err(json.unexpected("the end of the body"));
    }
    Ok(message)
}

fn nothing_recognised(text: &str, unknown: &Unknown, root_field: &str) -> String {
    let (line, column) = place(text, unknown.offset);
    let key = excerpt(&unknown.key);
    let advice = if unknown.is_snake_case() {
        format!(
            "OTLP/JSON keys are lowerCamelCase: write `{}`",
            excerpt(&camel_case(&unknown.key))
        )
    } else {
        format!("OTLP/JSON is an object with `{root_field}`")
    };
    format!(
        "nothing was stored: no data points were found, and field `{key}` at line {line} column \
         {column} is unknown; {advice}"
    )
}

fn camel_case(key: &str) -> String {
    let mut words = key.split('_').filter(|word| !word.is_empty());
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

fn explain(text: &str, fault: Fault) -> DecodeError {
    let offset = fault.offset();
    let (line, column) = place(text, offset);
    let (field, what) = fault.into_parts();
    let path = field
        .as_ref()
        .map(|field| format!("{field}: "))
        .unwrap_or_default();
    let hint = hint(text.as_bytes());
    DecodeError {
        message: format!(
            "body is not valid OTLP/JSON: line {line} column {column}: {path}{what}{hint}"
        ),
        field,
        offset: Some(offset),
        too_large: false,
    }
}

fn not_text(body: &[u8], offset: usize) -> DecodeError {
    DecodeError {
        message: format!(
            "body is not valid OTLP/JSON: byte {offset} is not UTF-8{}",
            hint(body)
        ),
        field: None,
        offset: Some(offset),
        too_large: false,
    }
}

/// What the body probably is instead.
fn hint(body: &[u8]) -> &'static str {
    match body {
        [0x1f, 0x8b, ..] => "; it looks gzip-compressed: send the header `Content-Encoding: gzip`",
        // Protobuf's first field; a line end too, but then a brace follows.
        [0x0a, rest @ ..] if rest.trim_ascii_start().first() != Some(&b'{') => {
            "; it looks like protobuf: send the header `Content-Type: application/x-protobuf`"
        }
        _ => "",
    }
}

/// Line and column (in characters) of a byte offset, both from 1.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text
        .get(..text.floor_char_boundary(offset))
        .unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before
        .chars()
        .rev()
        .take_while(|letter| *letter != '\n')
        .count()
        + 1;
    (line, column)
}
