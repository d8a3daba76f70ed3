//! A seed → the same numbers on every machine (splitmix64).

/// A stream of numbers.
pub(crate) struct Random(u64);

impl Random {
    /// The stream of `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A whole number below `end`.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.next() % u64::from(end)).unwrap()
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    /// From 0 to below 1, with 32 random bits.
    pub(crate) fn unit(&mut self) -> f64 {
        f64::from(self.below(u32::MAX)) / f64::from(u32::MAX)
    }

    /// One of `choices`.
    pub(crate) fn one<'c, T: ?Sized>(&mut self, choices: &[&'c T]) -> &'c T {
        let at = self.below(u32::try_from(choices.len()).unwrap());
        choices[usize::try_from(at).unwrap()]
    }
}
