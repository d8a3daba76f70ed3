//! Sparse buckets of one sign: ascending indexes with a count each.

use super::HistogramError;

/// The explicit buckets of one sign, in ascending index; an index that is absent has count zero.
///
/// A bucket may be explicit and empty: Prometheus keeps small gaps that way, and its equality sees them.
#[derive(Clone, Debug, Default)]
pub struct Buckets {
    /// Strictly ascending, as many as `counts`.
    indexes: Vec<i32>,
    counts: Vec<f64>,
}

/// Where an index of a union of two layouts is found.
pub(super) enum Side {
    Left(usize),
    Right(usize),
    Both(usize, usize),
}

impl Buckets {
    /// Buckets at `indexes`, strictly ascending, with one count (not cumulative) each.
    ///
    /// # Errors
    /// [`HistogramError::Layout`] if the indexes do not ascend or are not as many as the counts.
    pub fn new(indexes: Vec<i32>, counts: Vec<f64>) -> Result<Self, HistogramError> {
        let ascending = indexes
            .windows(2)
            .all(|pair| matches!(pair, [a, b] if a < b));
        if !ascending || indexes.len() != counts.len() {
            return Err(HistogramError::Layout);
        }
        Ok(Self { indexes, counts })
    }

    /// Neighbouring buckets, the first at `offset`.
    ///
    /// # Errors
    /// [`HistogramError::Index`] if an index would be too great.
    pub fn run(offset: i32, counts: Vec<f64>) -> Result<Self, HistogramError> {
        let end = i64::from(offset).saturating_add(i64::try_from(counts.len()).unwrap_or(i64::MAX));
        match i32::try_from(end) {
            Ok(end) => Ok(Self {
                indexes: (offset..end).collect(),
                counts,
            }),
            Err(_) => Err(HistogramError::Index {
                index: end,
                bounds: 0,
            }),
        }
    }

    /// Whether there is no explicit bucket.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.indexes.is_empty()
    }

    /// How many explicit buckets there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.indexes.len()
    }

    /// Index and count of each explicit bucket, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (i32, f64)> + ExactSizeIterator + '_ {
        self.indexes
            .iter()
            .copied()
            .zip(self.counts.iter().copied())
    }

    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            indexes: Vec::with_capacity(capacity),
            counts: Vec::with_capacity(capacity),
        }
    }

    pub(super) fn indexes(&self) -> &[i32] {
        &self.indexes
    }

    pub(super) fn counts(&self) -> &[f64] {
        &self.counts
    }

    pub(super) fn counts_mut(&mut self) -> &mut [f64] {
        &mut self.counts
    }

    /// Appends a bucket; `index` is greater than all before it.
    pub(super) fn push(&mut self, index: i32, count: f64) {
        debug_assert!(
            self.indexes.last().is_none_or(|last| *last < index),
            "bucket indexes ascend"
        );
        self.indexes.push(index);
        self.counts.push(count);
    }

    /// Adds to the last bucket if it has this `index`, else appends; `index` is not below the last.
    pub(super) fn accumulate(&mut self, index: i32, count: f64) {
        match (self.indexes.last(), self.counts.last_mut()) {
            (Some(last), Some(sum)) if *last == index => *sum += count,
            _ => self.push(index, count),
        }
    }

    /// The same layout with all counts zero.
    pub(super) fn zeroed(&self) -> Self {
        Self {
            indexes: self.indexes.clone(),
            counts: vec![0.0; self.counts.len()],
        }
    }

    pub(super) fn same_bits(&self, other: &Self) -> bool {
        self.indexes == other.indexes
            && self
                .counts
                .iter()
                .zip(&other.counts)
                .all(|(a, b)| a.to_bits() == b.to_bits())
    }

    /// Drops the buckets whose count is zero.
    pub(super) fn compact(&mut self) {
        if self.counts.contains(&0.0) {
            let kept: Self = self.iter().filter(|(_, count)| *count != 0.0).collect();
            *self = kept;
        }
    }

    /// Drops the buckets whose count is zero and whose rounding remainder in `remainders`, which has the
    /// same layout, is zero too.
    pub(super) fn compact_with(&mut self, remainders: &mut Self) {
        let pairs = self.iter().zip(remainders.counts.iter().copied());
        let kept = pairs.filter(|((_, count), rest)| *count != 0.0 || *rest != 0.0);
        let (counts, rests): (Self, Self) = kept
            .map(|((index, count), rest)| ((index, count), (index, rest)))
            .unzip();
        *self = counts;
        *remainders = rests;
    }

    /// Adds `sign` times the buckets of `other` from position `from` on.
    pub(super) fn add(&mut self, other: &Self, from: usize, sign: f64) {
        let (indexes, counts) = (
            other.indexes.get(from..).unwrap_or(&[]),
            other.counts.get(from..).unwrap_or(&[]),
        );
        if self.indexes == indexes {
            for (mine, theirs) in self.counts.iter_mut().zip(counts) {
                *mine += sign * theirs;
            }
            return;
        }
        let mut sum = Self::with_capacity(self.len().max(indexes.len()));
        for (index, side) in union(&self.indexes, indexes) {
            let count = match side {
                Side::Left(mine) => self.counts[mine],
                Side::Right(theirs) => sign * counts[theirs],
                Side::Both(mine, theirs) => self.counts[mine] + sign * counts[theirs],
            };
            sum.push(index, count);
        }
        *self = sum;
    }
}

impl FromIterator<(i32, f64)> for Buckets {
    /// Collects buckets that come in strictly ascending index.
    fn from_iter<I: IntoIterator<Item = (i32, f64)>>(buckets: I) -> Self {
        let mut collected = Self::default();
        collected.extend(buckets);
        collected
    }
}

impl Extend<(i32, f64)> for Buckets {
    fn extend<I: IntoIterator<Item = (i32, f64)>>(&mut self, buckets: I) {
        for (index, count) in buckets {
            self.push(index, count);
        }
    }
}

/// All indexes of two ascending lists, ascending, with their positions.
pub(super) fn union<'a>(
    left: &'a [i32],
    right: &'a [i32],
) -> impl Iterator<Item = (i32, Side)> + 'a {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        let (l, r) = (left.get(i).copied(), right.get(j).copied());
        let index = match (l, r) {
            (Some(l), Some(r)) => l.min(r),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return None,
        };
        let side = match (l == Some(index), r == Some(index)) {
            (true, true) => Side::Both(i, j),
            (true, false) => Side::Left(i),
            _ => Side::Right(j),
        };
        i += usize::from(l == Some(index));
        j += usize::from(r == Some(index));
        Some((index, side))
    })
}
