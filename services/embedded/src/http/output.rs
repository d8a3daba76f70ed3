//! Blocks of output, each complete in itself → one output with one head.

use bytes::Bytes;

use crate::pool::Context;

/// What stands in front of the rows, once in an answer and, as the engine gives it, in every block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    Nothing,
    Names,
    NamesAndTypes,
}

fn head_of(format: &str) -> Option<Head> {
    match format {
        "Native" | "RowBinary" => Some(Head::Nothing),
        "RowBinaryWithNames" => Some(Head::Names),
        "RowBinaryWithNamesAndTypes" => Some(Head::NamesAndTypes),
        _ => None,
    }
}

/// Whether a SELECT's output in this format may be put together from its blocks. Totals and extremes
/// are written behind the rows, where each block would have its own.
pub(super) fn comes_in_blocks(format: &str, text: &[u8], context: &Context) -> bool {
    let totals = text
        .windows(6)
        .any(|word| word.eq_ignore_ascii_case(b"TOTALS"));
    head_of(format).is_some() && !totals && !context.settings.contains_key("extremes")
}

/// Takes the head off every block but the first.
#[derive(Debug)]
pub(super) struct Blocks {
    head: Head,
    seen: Option<Bytes>,
}

impl Blocks {
    pub(super) fn new(format: &str) -> Self {
        Self {
            head: head_of(format).unwrap_or(Head::Nothing),
            seen: None,
        }
    }

    pub(super) fn next(&mut self, mut block: Bytes) -> Bytes {
        if self.head == Head::Nothing {
            return block;
        }
        match &self.seen {
            None => self.seen = head_length(&block, self.head).map(|length| block.slice(..length)),
            Some(head) if block.starts_with(head) => drop(block.split_to(head.len())),
            Some(_) => {}
        }
        block
    }
}

/// Length of a RowBinary head: a count, then so many strings, twice where types are named.
fn head_length(block: &[u8], head: Head) -> Option<usize> {
    let mut at = 0;
    let columns = number(block, &mut at)?;
    let strings = if head == Head::NamesAndTypes {
        columns.checked_mul(2)?
    } else {
        columns
    };
    for _ in 0..strings {
        let length = usize::try_from(number(block, &mut at)?).ok()?;
        at = at.checked_add(length).filter(|end| *end <= block.len())?;
    }
    Some(at)
}

/// An unsigned LEB128 number.
fn number(block: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..63).step_by(7) {
        let byte = *block.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_given_once() {
        let mut blocks = Blocks::new("RowBinaryWithNamesAndTypes");
        let first = Bytes::from_static(b"\x01\x01a\x05UInt8\x01\x02");
        assert_eq!(blocks.next(first.clone()), first);
        assert_eq!(
            blocks.next(Bytes::from_static(b"\x01\x01a\x05UInt8\x03")),
            &b"\x03"[..]
        );

        let mut blocks = Blocks::new("RowBinaryWithNames");
        assert_eq!(
            blocks.next(Bytes::from_static(b"\x01\x01a\x01")),
            &b"\x01\x01a\x01"[..]
        );
        assert_eq!(
            blocks.next(Bytes::from_static(b"\x01\x01a\x01")),
            &b"\x01"[..]
        );
    }

    #[test]
    fn only_formats_without_an_end_come_in_blocks() {
        let none = Context::default();
        assert!(comes_in_blocks("RowBinary", b"SELECT 1", &none));
        assert!(!comes_in_blocks("JSON", b"SELECT 1", &none));
        assert!(!comes_in_blocks(
            "Native",
            b"SELECT a GROUP BY a with totals",
            &none
        ));
    }
}
