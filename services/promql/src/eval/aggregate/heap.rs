//! A heap that keeps the k best of a stream, with the tie-breaking of Prometheus' own.

use crate::functions::pdq;

/// A value and the number of its series.
pub(super) type Entry = (f64, usize);

/// The best entries so far, the worst of them on top.
#[derive(Debug)]
pub(super) struct Best {
    entries: Vec<Entry>,
    /// At least 1.
    size: usize,
    /// The greatest are best, else the least.
    greatest: bool,
}

impl Best {
    pub(super) fn new(size: usize, greatest: bool) -> Self {
        Self {
            entries: Vec::new(),
            size,
            greatest,
        }
    }

    /// Whether `left` is worse; NaN is worse than everything.
    fn worse(&self, left: Entry, right: Entry) -> bool {
        if left.0.is_nan() {
            return true;
        }
        if self.greatest {
            left.0 < right.0
        } else {
            left.0 > right.0
        }
    }

    pub(super) fn offer(&mut self, entry: Entry) {
        if self.entries.len() < self.size {
            self.entries.push(entry);
            self.rise();
            return;
        }
        let top = self.entries[0];
        let better = if self.greatest {
            top.0 < entry.0
        } else {
            top.0 > entry.0
        };
        if better || (top.0.is_nan() && !entry.0.is_nan()) {
            self.entries[0] = entry;
            self.sink();
        }
    }

    /// Moves the last entry up to its place.
    fn rise(&mut self) {
        let mut at = self.entries.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 2;
            if !self.worse(self.entries[at], self.entries[parent]) {
                break;
            }
            self.entries.swap(at, parent);
            at = parent;
        }
    }

    /// Moves the first entry down to its place.
    fn sink(&mut self) {
        let mut at = 0;
        loop {
            let left = 2 * at + 1;
            if left >= self.entries.len() {
                return;
            }
            let right = left + 1;
            let child = if right < self.entries.len()
                && self.worse(self.entries[right], self.entries[left])
            {
                right
            } else {
                left
            };
            if !self.worse(self.entries[child], self.entries[at]) {
                return;
            }
            self.entries.swap(at, child);
            at = child;
        }
    }

    /// The entries, the best first.
    pub(super) fn sorted(mut self) -> Vec<Entry> {
        let mut entries = std::mem::take(&mut self.entries);
        pdq::sort(&mut entries, |left, right| self.worse(*right, *left));
        entries
    }

    /// The entries as they stand in the heap.
    pub(super) fn unsorted(self) -> Vec<Entry> {
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(size: usize, greatest: bool, values: &[f64]) -> Vec<Entry> {
        let mut best = Best::new(size, greatest);
        values
            .iter()
            .enumerate()
            .for_each(|(at, value)| best.offer((*value, at)));
        best.sorted()
    }

    #[test]
    fn the_best_come_first_and_nan_comes_last() {
        assert_eq!(best(2, true, &[1.0, 5.0, 3.0]), [(5.0, 1), (3.0, 2)]);
        assert_eq!(best(2, false, &[4.0, 5.0, 3.0]), [(3.0, 2), (4.0, 0)]);
        let with_nan = best(3, true, &[f64::NAN, 1.0, 2.0, f64::NAN]);
        assert_eq!((with_nan[0].1, with_nan[1].1, with_nan[2].1), (2, 1, 0));
    }

    #[test]
    fn of_equal_values_the_earlier_stay() {
        assert_eq!(best(1, true, &[1.0, 1.0]), [(1.0, 0)]);
        assert_eq!(best(2, true, &[1.0, 1.0, 1.0]), [(1.0, 0), (1.0, 1)]);
    }
}
