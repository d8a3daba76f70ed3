//! One bit per step: made, combined, read.

use smallvec::SmallVec;

/// One bit per step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    words: SmallVec<[u64; 2]>,
    len: usize,
}

impl Bits {
    /// All bits clear.
    pub(crate) fn new(len: usize) -> Self {
        Self {
            words: SmallVec::from_elem(0, len.div_ceil(64)),
            len,
        }
    }

    /// All bits set.
    pub(crate) fn full(len: usize) -> Self {
        let mut bits = Self {
            words: SmallVec::from_elem(u64::MAX, len.div_ceil(64)),
            len,
        };
        let rest = len % 64;
        if rest > 0
            && let Some(last) = bits.words.last_mut()
        {
            *last = (1 << rest) - 1;
        }
        bits
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> bool {
        self.words[index / 64] >> (index % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn set(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
    }

    #[inline]
    pub(crate) fn clear(&mut self, index: usize) {
        self.words[index / 64] &= !(1 << (index % 64));
    }

    /// How many bits are set.
    pub(crate) fn ones(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    pub(crate) fn any(&self) -> bool {
        self.words.iter().any(|word| *word != 0)
    }

    pub(crate) fn all(&self) -> bool {
        self.ones() == self.len
    }

    /// The indexes of set bits, ascending.
    pub(crate) fn iter(&self) -> Ones<'_> {
        let mut words = self.words.iter();
        let word = words.next().copied().unwrap_or(0);
        Ones {
            words,
            word,
            base: 0,
        }
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.words
            .iter()
            .zip(&other.words)
            .any(|(left, right)| left & right != 0)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (left, right) in self.words.iter_mut().zip(&other.words) {
            *left |= right;
        }
    }

    pub(crate) fn keep(&mut self, other: &Self) {
        for (left, right) in self.words.iter_mut().zip(&other.words) {
            *left &= right;
        }
    }

    pub(crate) fn remove(&mut self, other: &Self) {
        for (left, right) in self.words.iter_mut().zip(&other.words) {
            *left &= !right;
        }
    }

    /// Clears the bits from `end` on.
    pub(crate) fn cut(&mut self, end: usize) {
        for word in self.words.iter_mut().skip(end.div_ceil(64)) {
            *word = 0;
        }
        let rest = end % 64;
        if rest > 0
            && let Some(word) = self.words.get_mut(end / 64)
        {
            *word &= (1 << rest) - 1;
        }
    }
}

/// The indexes of set bits.
#[derive(Clone, Debug)]
pub(crate) struct Ones<'b> {
    words: std::slice::Iter<'b, u64>,
    /// What is left of the current word.
    word: u64,
    /// The index of its first bit.
    base: usize,
}

impl Iterator for Ones<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            self.word = *self.words.next()?;
            self.base += 64;
        }
        let bit = self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(self.base + bit)
    }
}

/// [`Bits`] in the making, one after the other.
#[derive(Debug)]
pub(crate) struct Words {
    bits: Bits,
    word: u64,
    next: usize,
}

impl Words {
    /// Room for `len` bits.
    pub(crate) fn new(len: usize) -> Self {
        Self {
            bits: Bits::new(len),
            word: 0,
            next: 0,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, bit: bool) {
        self.word |= u64::from(bit) << (self.next % 64);
        self.next += 1;
        if self.next.is_multiple_of(64) {
            self.store();
        }
    }

    fn store(&mut self) {
        if let Some(word) = self.bits.words.get_mut((self.next - 1) / 64) {
            *word = self.word;
        }
        self.word = 0;
    }

    pub(crate) fn finish(mut self) -> Bits {
        if !self.next.is_multiple_of(64) {
            self.store();
        }
        self.bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_bits_end_where_the_steps_end() {
        for len in [0, 1, 63, 64, 65, 200] {
            let bits = Bits::full(len);
            assert_eq!(bits.ones(), len);
            assert!(bits.all());
            assert_eq!(
                bits.iter().collect::<Vec<_>>(),
                (0..len).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn bits_pushed_are_bits_set() {
        for len in [0, 1, 63, 64, 65, 130] {
            let mut words = Words::new(len);
            (0..len).for_each(|bit| words.push(bit % 3 == 0));
            let set: Vec<usize> = (0..len).step_by(3).collect();
            assert_eq!(words.finish().iter().collect::<Vec<_>>(), set);
        }
    }
}
