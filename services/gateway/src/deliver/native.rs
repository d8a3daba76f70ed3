//! Columns → a block in ClickHouse's Native format.
//!
//! A block is the numbers of its columns and rows, then each column: name, type, values. The layout of each type is
//! the one that ClickHouse documents for the format; the crate `clickhouse` writes such blocks too, but without
//! dictionaries, which are what makes them cheap for the server.

/// `LowCardinality` with the dictionary in the block.
const SHARED_DICTIONARIES: u64 = 1;

/// The block brings its own keys, and no others are meant.
const OWN_KEYS: u64 = 1 << 9 | 1 << 10;

/// A block being written, column by column.
#[derive(Debug)]
pub(super) struct Block(Vec<u8>);

impl Block {
    /// A block of so many columns and rows, for about `room` bytes.
    pub(super) fn new(columns: usize, rows: usize, room: usize) -> Self {
        let mut block = Self(Vec::with_capacity(room));
        block.length(columns);
        block.length(rows);
        block
    }

    /// The bytes, once every column has its rows.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Begins a column.
    pub(super) fn column(&mut self, name: &str, kind: &str) -> &mut Self {
        self.text(name);
        self.text(kind);
        self
    }

    /// The values of a column of numbers, as little-endian bytes.
    pub(super) fn numbers<const N: usize>(&mut self, values: impl Iterator<Item = [u8; N]>) {
        for value in values {
            self.0.extend_from_slice(&value);
        }
    }

    /// The values of a `Nullable(Float64)`.
    pub(super) fn floats_or_null(&mut self, values: impl Iterator<Item = Option<f64>> + Clone) {
        self.numbers(values.clone().map(|value| [u8::from(value.is_none())]));
        self.numbers(values.map(|value| value.unwrap_or_default().to_le_bytes()));
    }

    /// The values of an `Array(UInt64)`.
    pub(super) fn arrays<'a>(&mut self, values: impl Iterator<Item = &'a [u64]> + Clone) {
        let mut end = 0_u64;
        for value in values.clone() {
            end += u64::try_from(value.len()).unwrap_or(u64::MAX);
            self.0.extend_from_slice(&end.to_le_bytes());
        }
        for value in values {
            self.numbers(value.iter().map(|count| count.to_le_bytes()));
        }
    }

    /// The values of a `LowCardinality(String)`, as indices into its dictionary.
    pub(super) fn words(
        &mut self,
        dictionary: &[&str],
        indices: impl ExactSizeIterator<Item = u32>,
    ) {
        let width = Width::of(dictionary.len());
        self.long(SHARED_DICTIONARIES);
        self.long(OWN_KEYS | width.code());
        self.long(u64::try_from(dictionary.len()).unwrap_or(u64::MAX));
        for word in dictionary {
            self.text(word);
        }
        self.long(u64::try_from(indices.len()).unwrap_or(u64::MAX));
        for index in indices {
            let [low, next, ..] = index.to_le_bytes();
            match width {
                Width::One => self.0.push(low),
                Width::Two => self.0.extend_from_slice(&[low, next]),
                Width::Four => self.0.extend_from_slice(&index.to_le_bytes()),
            }
        }
    }

    fn long(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    /// A number in groups of seven bits, the lowest first.
    fn length(&mut self, number: usize) {
        let mut rest = number;
        loop {
            let group = u8::try_from(rest & 0x7f).unwrap_or_default();
            rest >>= 7;
            if rest == 0 {
                return self.0.push(group);
            }
            self.0.push(group | 0x80);
        }
    }
}

/// Bytes of an index into a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    One,
    Two,
    Four,
}

impl Width {
    const fn of(words: usize) -> Self {
        match words {
            0..=0x100 => Self::One,
            0x101..=0x1_0000 => Self::Two,
            _ => Self::Four,
        }
    }

    const fn code(self) -> u64 {
        match self {
            Self::One => 0,
            Self::Two => 1,
            Self::Four => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_its_name_its_type_and_its_values() {
        let mut block = Block::new(2, 2, 0);
        block
            .column("n", "UInt16")
            .numbers([1_u16, 515].map(u16::to_le_bytes).into_iter());
        block
            .column("f", "Nullable(Float64)")
            .floats_or_null([None, Some(-0.0)].into_iter());
        let mut wanted = vec![2, 2, 1, b'n', 6];
        wanted.extend_from_slice(b"UInt16");
        wanted.extend_from_slice(&[1, 0, 3, 2, 1, b'f', 17]);
        wanted.extend_from_slice(b"Nullable(Float64)");
        wanted.extend_from_slice(&[1, 0]);
        wanted.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80]);
        assert_eq!(block.into_bytes(), wanted);
    }

    #[test]
    fn arrays_are_their_ends_and_then_all_their_elements() {
        let mut block = Block(Vec::new());
        block.arrays([&[7_u64, 8][..], &[], &[9]].into_iter());
        let numbers: Vec<u64> = block
            .into_bytes()
            .chunks(8)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
            .collect();
        assert_eq!(numbers, [2, 2, 3, 7, 8, 9]);
    }

    #[test]
    fn indices_are_as_wide_as_the_dictionary_needs() {
        for (words, width) in [(1, 1), (256, 1), (257, 2), (65_536, 2), (65_537, 4)] {
            let mut block = Block(Vec::new());
            block.words(&vec![""; words], [0].into_iter());
            assert_eq!(
                block.into_bytes().len(),
                32 + words + width,
                "{words} words"
            );
        }
    }

    #[test]
    fn lengths_take_seven_bits_a_byte() {
        for (length, bytes) in [
            (0, &[0_u8][..]),
            (127, &[127]),
            (128, &[128, 1]),
            (300, &[172, 2]),
        ] {
            let mut block = Block(Vec::new());
            block.length(length);
            assert_eq!(block.into_bytes(), bytes);
        }
    }
}
