//! A slice and an order in, the slice sorted out, with equal elements in the places where Go's sort leaves them.
//!
//! Prometheus sorts instant vectors with Go's packages `sort` and `slices`, and the order of an instant vector is
//! part of its answer. Both use a pattern-defeating quicksort (Orson Peters, arXiv:2106.05123) whose swaps depend
//! on nothing but the length and the outcome of comparisons, so the same steps give the same order, also where
//! values are equal and where the comparison contradicts itself, as it does for NaN.

/// Up to this length, elements are inserted one by one.
const INSERTION: usize = 12;
/// From this length on, the pivot is a median of medians, and small disorder is mended in passing.
const LONG: usize = 50;
/// Places of disorder that are mended before the attempt is given up.
const MENDED: usize = 5;
/// Swapped pairs among the candidates for a pivot when all stood in falling order.
const ALL_SWAPPED: usize = 12;

/// Sorts `items`; `less` says whether one belongs before another.
pub(crate) fn sort<T>(items: &mut [T], less: impl Fn(&T, &T) -> bool) {
    let end = items.len();
    let limit = bits(end);
    Sorter { items, less }.quick((0, end), limit);
}

/// How many binary digits a number has.
fn bits(number: usize) -> u32 {
    usize::BITS - number.leading_zeros()
}

/// The slice under work. All positions count from its start; ends are excluded.
struct Sorter<'s, T, L> {
    items: &'s mut [T],
    less: L,
}

/// What the choice of a pivot saw.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Rising,
    Falling,
    Neither,
}

impl<T, L: Fn(&T, &T) -> bool> Sorter<'_, T, L> {
    fn less(&self, left: usize, right: usize) -> bool {
        (self.less)(&self.items[left], &self.items[right])
    }

    /// `limit` is how many lopsided pivots are put up with.
    fn quick(&mut self, (mut from, mut to): (usize, usize), mut limit: u32) {
        let (mut balanced, mut in_order) = (true, true);
        loop {
            let len = to - from;
            if len <= INSERTION {
                return self.insertion(from, to);
            }
            if limit == 0 {
                return self.heap(from, to);
            }
            if !balanced {
                self.scatter(from, to);
                limit -= 1;
            }
            let (mut pivot, mut seen) = self.choose(from, to);
            if seen == Seen::Falling {
                self.items[from..to].reverse();
                pivot = to - 1 - (pivot - from);
                seen = Seen::Rising;
            }
            if balanced && in_order && seen == Seen::Rising && self.mend(from, to) {
                return;
            }
            // What stands before is no less than the pivot, so nothing here is less: many are equal to it.
            if from > 0 && !self.less(from - 1, pivot) {
                from = self.split_off_equal((from, to), pivot);
                continue;
            }
            let middle;
            (middle, in_order) = self.split((from, to), pivot);
            let (left, right) = (middle - from, to - middle);
            balanced = left.min(right) >= len / 8;
            if left < right {
                self.quick((from, middle), limit);
                from = middle + 1;
            } else {
                self.quick((middle + 1, to), limit);
                to = middle;
            }
        }
    }

    fn insertion(&mut self, from: usize, to: usize) {
        for end in from + 1..to {
            let mut at = end;
            while at > from && self.less(at, at - 1) {
                self.items.swap(at, at - 1);
                at -= 1;
            }
        }
    }

    fn heap(&mut self, from: usize, to: usize) {
        let len = to - from;
        for root in (0..=(len - 1) / 2).rev() {
            self.sink(from, root, len);
        }
        for end in (0..len).rev() {
            self.items.swap(from, from + end);
            self.sink(from, 0, end);
        }
    }

    /// Moves `root` down to its place in the heap of `len` elements that starts at `from`.
    fn sink(&mut self, from: usize, mut root: usize, len: usize) {
        loop {
            let mut child = 2 * root + 1;
            if child >= len {
                return;
            }
            if child + 1 < len && self.less(from + child, from + child + 1) {
                child += 1;
            }
            if !self.less(from + root, from + child) {
                return;
            }
            self.items.swap(from + root, from + child);
            root = child;
        }
    }

    /// Puts what is less than the pivot before it; answers where the pivot is now, and whether all stood right.
    fn split(&mut self, (from, to): (usize, usize), pivot: usize) -> (usize, bool) {
        self.items.swap(from, pivot);
        let (mut low, mut high) = (from + 1, to - 1);
        let mut in_order = true;
        loop {
            while low <= high && self.less(low, from) {
                low += 1;
            }
            while low <= high && !self.less(high, from) {
                high -= 1;
            }
            if low > high {
                self.items.swap(high, from);
                return (high, in_order);
            }
            self.items.swap(low, high);
            in_order = false;
            low += 1;
            high -= 1;
        }
    }

    /// Puts what is equal to the pivot first; answers where the rest starts.
    fn split_off_equal(&mut self, (from, to): (usize, usize), pivot: usize) -> usize {
        self.items.swap(from, pivot);
        let (mut low, mut high) = (from + 1, to - 1);
        loop {
            while low <= high && !self.less(from, low) {
                low += 1;
            }
            while low <= high && self.less(from, high) {
                high -= 1;
            }
            if low > high {
                return low;
            }
            self.items.swap(low, high);
            low += 1;
            high -= 1;
        }
    }

    /// Mends a little disorder; answers whether there is none left.
    fn mend(&mut self, from: usize, to: usize) -> bool {
        let mut at = from + 1;
        for _ in 0..MENDED {
            while at < to && !self.less(at, at - 1) {
                at += 1;
            }
            if at == to {
                return true;
            }
            if to - from < LONG {
                return false;
            }
            self.items.swap(at, at - 1);
            if at - from >= 2 {
                let mut down = at - 1;
                while down >= 1 && self.less(down, down - 1) {
                    self.items.swap(down, down - 1);
                    down -= 1;
                }
            }
            let mut up = at + 1;
            while up < to && self.less(up, up - 1) {
                self.items.swap(up, up - 1);
                up += 1;
            }
        }
        false
    }

    /// Swaps three elements in the middle with others, to break a pattern that makes pivots lopsided.
    fn scatter(&mut self, from: usize, to: usize) {
        let len = to - from;
        let mask = (1_u64 << bits(len)) - 1;
        let mut random = len as u64;
        let first = from + len / 4 * 2 - 1;
        for at in first..first + 3 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let other = usize::try_from(random & mask).unwrap_or_default();
            let other = if other >= len { other - len } else { other };
            self.items.swap(at, from + other);
        }
    }

    /// A pivot among three or nine candidates.
    fn choose(&self, from: usize, to: usize) -> (usize, Seen) {
        let quarter = (to - from) / 4;
        let mut swaps = 0;
        let mut candidates = [1, 2, 3].map(|part| from + part * quarter);
        if to - from >= LONG {
            candidates = candidates.map(|at| self.median([at - 1, at, at + 1], &mut swaps));
        }
        let pivot = self.median(candidates, &mut swaps);
        let seen = match swaps {
            0 => Seen::Rising,
            ALL_SWAPPED => Seen::Falling,
            _ => Seen::Neither,
        };
        (pivot, seen)
    }

    /// The place of the element in the middle; counts the pairs that stood in falling order.
    fn median(&self, [mut low, mut middle, mut high]: [usize; 3], swaps: &mut usize) -> usize {
        let mut order = |left: &mut usize, right: &mut usize| {
            if self.less(*right, *left) {
                *swaps += 1;
                std::mem::swap(left, right);
            }
        };
        order(&mut low, &mut middle);
        order(&mut middle, &mut high);
        order(&mut low, &mut middle);
        middle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values below `kinds` that a seed gives, with their places.
    fn values(len: usize, kinds: u64) -> Vec<(u64, usize)> {
        let mut state = 1_u64;
        let next = |place| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % kinds, place)
        };
        (0..len).map(next).collect()
    }

    #[test]
    fn whatever_the_length_and_the_pattern_everything_ends_up_in_order() {
        for len in [0, 1, 2, 12, 13, 49, 50, 51, 200, 3000] {
            for kinds in [1, 2, 7, 1 << 30] {
                let mut patterns = vec![values(len, kinds)];
                let sorted = {
                    let mut sorted = values(len, kinds);
                    sorted.sort_unstable();
                    sorted
                };
                patterns.push(sorted.iter().rev().copied().collect());
                // An organ pipe makes pivots lopsided.
                let (even, odd): (Vec<_>, Vec<_>) =
                    sorted.iter().partition(|(_, place)| place % 2 == 0);
                patterns.push(even.into_iter().chain(odd.into_iter().rev()).collect());
                patterns.push(sorted.clone());
                for mut pattern in patterns {
                    sort(&mut pattern, |left, right| left.0 < right.0);
                    assert!(pattern.is_sorted_by_key(|(value, _)| *value));
                    pattern.sort_unstable();
                    assert_eq!(pattern, sorted, "{len} of {kinds}");
                }
            }
        }
    }

    #[test]
    fn a_contradicting_order_keeps_every_element() {
        for len in [5, 20, 300] {
            let mut items = values(len, 3);
            sort(&mut items, |_, _| true);
            items.sort_unstable_by_key(|(_, place)| *place);
            assert_eq!(items, values(len, 3));
        }
    }
}
