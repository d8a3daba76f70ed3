//! Turns protobuf bytes into OTLP messages that borrow from them.
//!
//! Refuses what `prost` refuses for the generated types, and reads the same from the rest; tests compare the two.

mod wire;
mod reader;
mod attribute;
mod point;

#[cfg(test)]
mod tests;

use bumpalo::Bump;

use self::reader::Reader;
use self::wire::Wire;
use super::{DecodeError, Decoded};

/// Decodes a metrics request. Nesting beyond 100 messages is an error; repeated scalars are read packed and
/// unpacked.
pub(super) fn metrics<'b>(
    body: &'b [u8],
    room: u64,
    arena: &'b Bump,
) -> Result<Decoded<'b>, DecodeError> {
    let read = Reader::new(arena, room).request(Wire::of(body));
    match read {
        Ok(request) => Ok(Decoded {
            request,
            warning: None,
        }),
        Err(fault) if fault.too_large => Err(DecodeError::too_large(room)),
        Err(fault) => {
            let offset = fault.offset(body);
            let (what, hint) = (fault.what, hint(body));
            Err(DecodeError {
                message: format!("body is not valid OTLP/protobuf: {what} at byte {offset}{hint}"),
                field: None,
                offset: Some(offset),
                too_large: false,
            })
        }
    }
}

/// What the body probably is instead.
fn hint(body: &[u8]) -> &'static str {
    match body {
        [0x1f, 0x8b, ..] => "; it looks gzip-compressed: send the header `Content-Encoding: gzip`",
        [b'{', ..] => "; it looks like JSON: send the header `Content-Type: application/json`",
        _ => "",
    }
}
