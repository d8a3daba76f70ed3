//! Points in the order they arrived → columns in ascending time, one point a time.

use std::ops::Range;

use promql::series::is_stale;
use schemas::rows::EXPLICIT_SCALE;

/// Float samples of one series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Numbers {
    pub(crate) ts: Vec<i64>,
    pub(crate) values: Vec<f64>,
}

impl Numbers {
    /// Sorts by time; of samples of the same time keeps the one that [`winner`] names.
    pub(crate) fn tidy(&mut self) {
        let order = match Order::of(&self.ts) {
            Order::Ascending => return,
            Order::Runs(runs) => {
                self.ts = runs
                    .iter()
                    .flat_map(|run| &self.ts[run.clone()])
                    .copied()
                    .collect();
                self.values = runs
                    .iter()
                    .flat_map(|run| &self.values[run.clone()])
                    .copied()
                    .collect();
                return;
            }
            Order::Mixed(order) => order,
        };
        let mut tidied = Self::default();
        for at in order {
            let (ts, value) = (self.ts[at], self.values[at]);
            match (tidied.ts.last(), tidied.values.last_mut()) {
                (Some(last), Some(kept)) if *last == ts => *kept = winner(*kept, value),
                _ => {
                    tidied.ts.push(ts);
                    tidied.values.push(value);
                }
            }
        }
        *self = tidied;
    }
}

/// Which of two values of one series and time counts: the greater; a NaN loses to a number, the stale
/// marker to everything.
pub(crate) fn winner(left: f64, right: f64) -> f64 {
    let rank = |value: f64| match value {
        _ if is_stale(value) => 0,
        _ if value.is_nan() => 1,
        _ => 2,
    };
    let order = rank(left)
        .cmp(&rank(right))
        .then_with(|| left.total_cmp(&right));
    if order.is_lt() { right } else { left }
}

/// How to bring times into ascending order.
enum Order {
    /// They are, without equal ones.
    Ascending,
    /// By taking these runs one after the other: what parts and time buckets of a table give.
    Runs(Vec<Range<usize>>),
    /// One by one, equal times in order of arrival.
    Mixed(Vec<usize>),
}

impl Order {
    fn of(ts: &[i64]) -> Self {
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut start = 0;
        for end in 1..=ts.len() {
            if end == ts.len() || ts[end] <= ts[end - 1] {
                runs.push(start..end);
                start = end;
            }
        }
        if runs.len() < 2 {
            return Self::Ascending;
        }
        runs.sort_by_key(|run| ts[run.start]);
        if runs.is_sorted_by(|left, right| ts[left.end - 1] < ts[right.start]) {
            return Self::Runs(runs);
        }
        let mut order: Vec<usize> = (0..ts.len()).collect();
        order.sort_by_key(|at| ts[*at]);
        Self::Mixed(order)
    }
}

/// Lists of counts, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ragged {
    ends: Vec<usize>,
    items: Vec<u64>,
}

impl Ragged {
    /// The list at `at`; empty where there is none.
    pub(crate) fn get(&self, at: usize) -> &[u64] {
        let start = at
            .checked_sub(1)
            .and_then(|before| self.ends.get(before))
            .copied()
            .unwrap_or(0);
        self.ends
            .get(at)
            .and_then(|end| self.items.get(start..*end))
            .unwrap_or(&[])
    }

    /// Adds a list.
    pub(crate) fn push(&mut self, items: impl IntoIterator<Item = u64>) {
        self.items.extend(items);
        self.ends.push(self.items.len());
    }

    fn gather(&self, order: &[usize]) -> Self {
        let mut gathered = Self::default();
        if !self.ends.is_empty() {
            for at in order {
                gathered.push(self.get(*at).iter().copied());
            }
        }
        gathered
    }
}

/// Histogram points of one series as columns; those that were not read are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Points {
    pub(crate) ts: Vec<i64>,
    pub(crate) count: Vec<u64>,
    /// `None` where the sender gave no sum.
    pub(crate) sum: Vec<Option<f64>>,
    pub(crate) pos: Ragged,
    pub(crate) scale: Vec<i8>,
    pub(crate) zero_threshold: Vec<f64>,
    pub(crate) zero_count: Vec<u64>,
    pub(crate) pos_offset: Vec<i32>,
    pub(crate) neg_offset: Vec<i32>,
    pub(crate) neg: Ragged,
}

impl Points {
    /// Whether the point ends its series.
    pub(crate) fn is_stale(&self, at: usize) -> bool {
        self.sum[at].is_some_and(is_stale)
    }

    /// The scale of a point.
    pub(crate) fn scale(&self, at: usize) -> i32 {
        i32::from(self.scale.get(at).copied().unwrap_or(EXPLICIT_SCALE))
    }

    /// Sorts by time; of points of the same time keeps the one with the greatest count, then sum; a stale
    /// marker loses.
    pub(crate) fn tidy(&mut self) {
        let order = match Order::of(&self.ts) {
            Order::Ascending => return,
            Order::Runs(runs) => runs.into_iter().flatten().collect(),
            Order::Mixed(order) => order,
        };
        let mut kept: Vec<usize> = Vec::with_capacity(order.len());
        for at in order {
            match kept.last_mut() {
                Some(last) if self.ts[*last] == self.ts[at] => {
                    if self.beats(at, *last) {
                        *last = at;
                    }
                }
                _ => kept.push(at),
            }
        }
        *self = self.gather(&kept);
    }

    fn beats(&self, one: usize, other: usize) -> bool {
        let key = |at: usize| (!self.is_stale(at), self.count[at]);
        let sum = |at: usize| self.sum[at].unwrap_or(f64::NEG_INFINITY);
        key(one)
            .cmp(&key(other))
            .then_with(|| sum(one).total_cmp(&sum(other)))
            .is_gt()
    }

    fn gather(&self, order: &[usize]) -> Self {
        fn pick<T: Copy>(column: &[T], order: &[usize]) -> Vec<T> {
            order
                .iter()
                .filter_map(|at| column.get(*at).copied())
                .collect()
        }
        Self {
            ts: pick(&self.ts, order),
            count: pick(&self.count, order),
            sum: pick(&self.sum, order),
            pos: self.pos.gather(order),
            scale: pick(&self.scale, order),
            zero_threshold: pick(&self.zero_threshold, order),
            zero_count: pick(&self.zero_count, order),
            pos_offset: pick(&self.pos_offset, order),
            neg_offset: pick(&self.neg_offset, order),
            neg: self.neg.gather(order),
        }
    }
}

#[cfg(test)]
mod tests {
    use promql::series::STALE_NAN;

    use super::*;

    #[test]
    fn numbers_are_sorted_and_the_greatest_of_a_time_is_kept() {
        let stale = f64::from_bits(STALE_NAN);
        let mut numbers = Numbers {
            ts: vec![3, 1, 2, 3, 1, 2, 4, 4],
            values: vec![5.0, f64::NAN, 7.0, 6.0, 1.0, 7.0, stale, f64::NAN],
        };
        numbers.tidy();
        assert_eq!(numbers.ts, [1, 2, 3, 4]);
        assert_eq!(numbers.values[..3], [1.0, 7.0, 6.0]);
        assert!(numbers.values[3].is_nan() && !is_stale(numbers.values[3]));
    }

    #[test]
    fn runs_that_do_not_overlap_are_put_together() {
        let mut numbers = Numbers {
            ts: vec![5, 6, 9, 1, 2, 7, 8],
            values: vec![5.0, 6.0, 9.0, 1.0, 2.0, 7.0, 8.0],
        };
        numbers.tidy();
        assert_eq!(numbers.ts, [1, 2, 5, 6, 7, 8, 9]);
        assert_eq!(numbers.values, [1.0, 2.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        let mut runs = Numbers {
            ts: vec![5, 6, 1, 2],
            values: vec![5.0, 6.0, 1.0, 2.0],
        };
        runs.tidy();
        assert_eq!(
            (runs.ts, runs.values),
            (vec![1, 2, 5, 6], vec![1.0, 2.0, 5.0, 6.0])
        );
        let mut none = Numbers::default();
        none.tidy();
        assert_eq!(none, Numbers::default());
    }

    proptest::proptest! {
        #[test]
        fn tidied_numbers_ascend_and_lose_no_time(samples in proptest::collection::vec((0..50_i64, -5.0..5.0_f64), 0..60)) {
            let (ts, values): (Vec<i64>, Vec<f64>) = samples.iter().copied().unzip();
            let mut numbers = Numbers { ts, values };
            numbers.tidy();
            let mut expected = std::collections::BTreeMap::new();
            for (ts, value) in samples {
                expected.entry(ts).and_modify(|kept| *kept = winner(*kept, value)).or_insert(value);
            }
            let expected: (Vec<i64>, Vec<f64>) = expected.into_iter().unzip();
            proptest::prop_assert_eq!((numbers.ts, numbers.values), expected);
        }
    }

    #[test]
    fn which_value_wins_does_not_depend_on_the_order_of_arrival() {
        let stale = f64::from_bits(STALE_NAN);
        for (left, right, kept) in [
            (1.0, 2.0, 2.0),
            (-1.0, f64::NAN, -1.0),
            (stale, 3.0, 3.0),
            (f64::INFINITY, 0.0, f64::INFINITY),
        ] {
            assert_eq!(winner(left, right), kept);
            assert_eq!(winner(right, left), kept);
        }
        assert!(!is_stale(winner(stale, f64::NAN)) && !is_stale(winner(f64::NAN, stale)));
    }

    #[test]
    fn points_move_as_a_whole() {
        let mut points = Points {
            ts: vec![20, 10, 20],
            count: vec![3, 1, 4],
            sum: vec![Some(1.0), None, Some(0.5)],
            ..Points::default()
        };
        points.pos.push([3, 0]);
        points.pos.push([1]);
        points.pos.push([]);
        points.tidy();
        assert_eq!(points.ts, [10, 20]);
        assert_eq!(points.count, [1, 4]);
        assert_eq!(points.sum, [None, Some(0.5)]);
        assert_eq!(
            (points.pos.get(0), points.pos.get(1), points.pos.get(2)),
            (&[1][..], &[][..], &[][..])
        );
        assert!(points.scale.is_empty());
    }
}
