//! A Native stream from ClickHouse → blocks of columns, without copying values.
//!
//! A block is the number of columns and of rows, then for each column its name, its type and its values
//! one after the other, little endian (ClickHouse's documentation of format Native, revision 0). Only
//! the types that the point tables have are known here.

use bytes::{Buf, Bytes, BytesMut};

/// A value of 8 bytes, little endian.
pub(crate) type Word = [u8; 8];

/// Nulls (1: null) and values of a column.
type Nullable<'a> = (&'a [u8], &'a [Word]);
/// Ends and values of a column of lists.
type Lists<'a> = (&'a [Word], &'a [Word]);

/// The stream is not what was asked for.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NativeError {
    /// A type that none of our columns has.
    #[error("column {name} has the unexpected type {kind}")]
    Type { name: String, kind: String },
    /// A column that was selected is not there, or has another type.
    #[error("column {0} is missing")]
    Missing(&'static str),
    /// Lengths contradict each other.
    #[error("a block is malformed")]
    Malformed,
    /// The stream ends inside a block.
    #[error("the answer ends in the middle of a block")]
    CutOff,
}

/// How a column's values are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// This many bytes a value.
    Fixed(usize),
    /// One byte a row that says null, then 8 bytes a value.
    Nullable8,
    /// 8 bytes a row with the end of its values, then 8 bytes a value.
    Array8,
}

impl Kind {
    fn of(text: &str) -> Option<Self> {
        Some(match text {
            "Int8" | "UInt8" => Self::Fixed(1),
            "Int32" | "UInt32" => Self::Fixed(4),
            "UInt64" | "Int64" | "Float64" => Self::Fixed(8),
            "Nullable(Float64)" => Self::Nullable8,
            "Array(UInt64)" => Self::Array8,
            _ if text.starts_with("DateTime64(") => Self::Fixed(8),
            _ => return None,
        })
    }
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    kind: Kind,
    values: Bytes,
}

/// Some rows, column by column.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    rows: usize,
    columns: Vec<Column>,
}

impl Block {
    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    fn column(&self, name: &'static str, kind: Kind) -> Result<&[u8], NativeError> {
        self.columns
            .iter()
            .find(|column| column.name == name && column.kind == kind)
            .map(|column| &*column.values)
            .ok_or(NativeError::Missing(name))
    }

    /// The values of a column of `N` bytes each.
    pub(crate) fn fixed<const N: usize>(
        &self,
        name: &'static str,
    ) -> Result<&[[u8; N]], NativeError> {
        Ok(self.column(name, Kind::Fixed(N))?.as_chunks().0)
    }

    /// The nulls (1: null) and the values of a nullable column.
    pub(crate) fn nullable(&self, name: &'static str) -> Result<Nullable<'_>, NativeError> {
        let (nulls, values) = self
            .column(name, Kind::Nullable8)?
            .split_at_checked(self.rows)
            .ok_or(NativeError::Malformed)?;
        Ok((nulls, values.as_chunks().0))
    }

    /// The ends (of each row's values, counted from the first row) and the values of an array column.
    pub(crate) fn array(&self, name: &'static str) -> Result<Lists<'_>, NativeError> {
        let (ends, values) = self
            .column(name, Kind::Array8)?
            .split_at_checked(self.rows * 8)
            .ok_or(NativeError::Malformed)?;
        Ok((ends.as_chunks().0, values.as_chunks().0))
    }
}

/// Takes the stream as it comes and gives blocks as they are complete.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    buffer: BytesMut,
    /// No block is complete before the buffer is this long.
    wanted: usize,
}

impl Decoder {
    /// Takes the next piece of the stream.
    pub(crate) fn feed(&mut self, piece: &[u8]) {
        self.buffer.extend_from_slice(piece);
    }

    /// The next block, if it is complete.
    pub(crate) fn next_block(&mut self) -> Result<Option<Block>, NativeError> {
        if self.buffer.is_empty() || self.buffer.len() < self.wanted {
            return Ok(None);
        }
        let layout = match Layout::read(&self.buffer)? {
            Ok(layout) => layout,
            Err(Wanted(length)) => {
                self.wanted = length;
                return Ok(None);
            }
        };
        self.wanted = 0;
        let bytes = self.buffer.split_to(layout.length).freeze();
        let columns = layout
            .columns
            .into_iter()
            .map(|Place { name, kind, values }| Column {
                name,
                kind,
                values: bytes.slice(values),
            })
            .collect();
        Ok(Some(Block {
            rows: layout.rows,
            columns,
        }))
    }

    /// Says that the stream has ended.
    pub(crate) fn finish(self) -> Result<(), NativeError> {
        if self.buffer.is_empty() {
            Ok(())
        } else {
            Err(NativeError::CutOff)
        }
    }
}

/// Where the parts of a complete block are.
struct Layout {
    rows: usize,
    columns: Vec<Place>,
    length: usize,
}

/// Where the values of a column are.
struct Place {
    name: String,
    kind: Kind,
    values: std::ops::Range<usize>,
}

/// The block is not complete before this many bytes.
struct Wanted(usize);

/// Most columns a block of ours has.
const MAX_COLUMNS: usize = 64;
/// Longest column or type name.
const MAX_NAME: usize = 256;
/// Most rows of a block, and most values of an array column in it.
const MAX_VALUES: usize = 1 << 30;

impl Layout {
    fn read(bytes: &[u8]) -> Result<Result<Self, Wanted>, NativeError> {
        let mut cursor = Cursor { bytes, at: 0 };
        match cursor.block() {
            Ok(layout) => Ok(Ok(layout)),
            Err(Stop::Incomplete(length)) => Ok(Err(Wanted(length))),
            Err(Stop::Faulty(error)) => Err(error),
        }
    }
}

/// Why a block cannot be read to its end.
enum Stop {
    Incomplete(usize),
    Faulty(NativeError),
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn block(&mut self) -> Result<Layout, Stop> {
        let columns = self.number(MAX_COLUMNS)?;
        let rows = self.number(MAX_VALUES)?;
        let mut layout = Layout {
            rows,
            columns: Vec::with_capacity(columns),
            length: 0,
        };
        for _ in 0..columns {
            let name = self.text()?;
            let kind = self.text()?;
            let Some(known) = Kind::of(&kind) else {
                return Err(Stop::Faulty(NativeError::Type { name, kind }));
            };
            let start = self.at;
            let length = match known {
                Kind::Fixed(size) => rows * size,
                Kind::Nullable8 => rows * 9,
                Kind::Array8 => rows * 8 + self.last_end(rows)? * 8,
            };
            self.at = start;
            self.skip(length)?;
            layout.columns.push(Place {
                name,
                kind: known,
                values: start..self.at,
            });
        }
        layout.length = self.at;
        Ok(layout)
    }

    /// The end of the last row's array: how many values the column has.
    fn last_end(&mut self, rows: usize) -> Result<usize, Stop> {
        let Some(before) = rows.checked_sub(1) else {
            return Ok(0);
        };
        self.skip(before * 8)?;
        let mut end = self.take(8)?;
        usize::try_from(end.get_u64_le())
            .ok()
            .filter(|end| *end <= MAX_VALUES)
            .ok_or(Stop::Faulty(NativeError::Malformed))
    }

    fn take(&mut self, length: usize) -> Result<&[u8], Stop> {
        let start = self.at;
        self.skip(length)?;
        self.bytes
            .get(start..self.at)
            .ok_or(Stop::Faulty(NativeError::Malformed))
    }

    fn skip(&mut self, length: usize) -> Result<(), Stop> {
        let end = self
            .at
            .checked_add(length)
            .ok_or(Stop::Faulty(NativeError::Malformed))?;
        if end > self.bytes.len() {
            return Err(Stop::Incomplete(end));
        }
        self.at = end;
        Ok(())
    }

    /// A number of 7 bits a byte, the low ones first.
    fn number(&mut self, most: usize) -> Result<usize, Stop> {
        let mut number = 0_u64;
        for shift in (0..63).step_by(7) {
            let byte = self.take(1)?.get_u8();
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return usize::try_from(number)
                    .ok()
                    .filter(|number| *number <= most)
                    .ok_or(Stop::Faulty(NativeError::Malformed));
            }
        }
        Err(Stop::Faulty(NativeError::Malformed))
    }

    fn text(&mut self) -> Result<String, Stop> {
        let length = self.number(MAX_NAME)?;
        let bytes = self.take(length)?.to_vec();
        String::from_utf8(bytes).map_err(|_| Stop::Faulty(NativeError::Malformed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::testing::NativeBlock;

    fn sample_block() -> Vec<u8> {
        NativeBlock::new(2)
            .column(
                "id",
                "UInt64",
                &[7_u64.to_le_bytes(), 8_u64.to_le_bytes()].concat(),
            )
            .column(
                "sum",
                "Nullable(Float64)",
                &[&[0, 1][..], &1.5_f64.to_le_bytes(), &[0; 8]].concat(),
            )
            .column(
                "pos",
                "Array(UInt64)",
                &[1_u64, 3, 10, 20, 30].map(u64::to_le_bytes).concat(),
            )
            .column("scale", "Int8", &[0xcb, 2])
            .bytes()
    }

    #[test]
    fn blocks_are_read_whatever_the_pieces_are() {
        let stream = [sample_block(), NativeBlock::new(0).bytes(), sample_block()].concat();
        for size in [1, 7, 64, 1000] {
            let mut decoder = Decoder::default();
            let mut blocks = Vec::new();
            for piece in stream.chunks(size) {
                decoder.feed(piece);
                while let Some(block) = decoder.next_block().unwrap() {
                    blocks.push(block);
                }
            }
            decoder.finish().unwrap();
            assert_eq!(
                blocks.iter().map(Block::rows).collect::<Vec<_>>(),
                [2, 0, 2]
            );
            let block = &blocks[2];
            assert_eq!(
                block.fixed::<8>("id").unwrap(),
                [7_u64.to_le_bytes(), 8_u64.to_le_bytes()]
            );
            let (nulls, sums) = block.nullable("sum").unwrap();
            assert_eq!((nulls, sums[0]), (&[0, 1][..], 1.5_f64.to_le_bytes()));
            let (ends, values) = block.array("pos").unwrap();
            assert_eq!(ends, [1_u64, 3].map(u64::to_le_bytes));
            assert_eq!(values, [10_u64, 20, 30].map(u64::to_le_bytes));
            assert_eq!(block.fixed::<1>("scale").unwrap(), [[0xcb], [2]]);
            assert_eq!(
                block.fixed::<8>("value").unwrap_err(),
                NativeError::Missing("value")
            );
        }
    }

    #[test]
    fn faulty_streams_are_refused() {
        let unknown = NativeBlock::new(0).column("x", "String", &[]).bytes();
        let mut decoder = Decoder::default();
        decoder.feed(&unknown);
        let expected = NativeError::Type {
            name: "x".into(),
            kind: "String".into(),
        };
        assert_eq!(decoder.next_block().unwrap_err(), expected);

        let mut decoder = Decoder::default();
        decoder.feed(&sample_block()[..40]);
        assert!(decoder.next_block().unwrap().is_none());
        assert_eq!(decoder.finish().unwrap_err(), NativeError::CutOff);

        let mut decoder = Decoder::default();
        decoder.feed(&[0xff; 20]);
        assert_eq!(decoder.next_block().unwrap_err(), NativeError::Malformed);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let mut decoder = Decoder::default();
            decoder.feed(&bytes);
            while let Ok(Some(_)) = decoder.next_block() {}
        }
    }
}
