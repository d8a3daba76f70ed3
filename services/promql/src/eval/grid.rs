//! The shape of intermediate results: one column of values per series, one cell per step.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::EvalError;
use crate::histogram::Histogram;
use crate::labels::{Labels, Pair, is_metadata};

mod bits;

pub(crate) use bits::{Bits, Words};

/// The evaluation times of one pass, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steps {
    pub(crate) start: i64,
    /// At least 1.
    pub(crate) step: i64,
    pub(crate) count: usize,
    /// Start and end are the same: an instant query, or part of one.
    pub(crate) single: bool,
}

impl Steps {
    /// All times from `start` to `end`, `step` apart; none where `end` is earlier.
    pub(crate) fn new(start: i64, end: i64, step: i64) -> Self {
        let step = step.max(1);
        let count = if end < start {
            0
        } else {
            usize::try_from(end.saturating_sub(start) / step).unwrap_or(usize::MAX - 1) + 1
        };
        Self {
            start,
            step,
            count,
            single: start == end,
        }
    }

    /// The first time alone.
    pub(crate) fn once(self) -> Self {
        Self {
            count: self.count.min(1),
            single: true,
            ..self
        }
    }

    /// The time of step `index`.
    #[inline]
    pub(crate) fn at(self, index: usize) -> i64 {
        self.start + self.step * i64::try_from(index).unwrap_or(i64::MAX)
    }

    /// The last time.
    pub(crate) fn last(self) -> i64 {
        self.at(self.count.saturating_sub(1))
    }
}

/// One series of a result. A step has a float, a histogram or nothing.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) labels: Labels,
    /// The name is to be dropped at the end of the query (only with delayed name removal; else it is
    /// gone already).
    pub(crate) drop_name: bool,
    /// One value per step; meaningless where `floats` is not set.
    pub(crate) vals: Vec<f64>,
    /// The steps that have a float.
    pub(crate) floats: Bits,
    /// One entry per step, or none at all where the series has no histograms.
    pub(crate) hists: Vec<Option<Arc<Histogram>>>,
}

impl Column {
    /// A column of `steps` empty cells.
    pub(crate) fn new(labels: Labels, steps: usize) -> Self {
        Self {
            labels,
            drop_name: false,
            vals: vec![0.0; steps],
            floats: Bits::new(steps),
            hists: Vec::new(),
        }
    }

    /// A column of floats at every step.
    pub(crate) fn filled(labels: Labels, vals: Vec<f64>) -> Self {
        let floats = Bits::full(vals.len());
        Self {
            labels,
            drop_name: false,
            vals,
            floats,
            hists: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn set_float(&mut self, step: usize, value: f64) {
        self.vals[step] = value;
        self.floats.set(step);
    }

    pub(crate) fn set_hist(&mut self, step: usize, value: Arc<Histogram>) {
        if self.hists.is_empty() {
            self.hists = vec![None; self.vals.len()];
        }
        self.hists[step] = Some(value);
    }

    #[inline]
    pub(crate) fn float(&self, step: usize) -> Option<f64> {
        self.floats.get(step).then(|| self.vals[step])
    }

    #[inline]
    pub(crate) fn hist(&self, step: usize) -> Option<&Arc<Histogram>> {
        self.hists.get(step).and_then(Option::as_ref)
    }

    #[inline]
    pub(crate) fn has(&self, step: usize) -> bool {
        self.floats.get(step) || self.hist(step).is_some()
    }

    /// The steps that have anything.
    pub(crate) fn presence(&self) -> Bits {
        let mut bits = self.floats.clone();
        for (step, hist) in self.hists.iter().enumerate() {
            if hist.is_some() {
                bits.set(step);
            }
        }
        bits
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.floats.any() && self.hists.iter().all(Option::is_none)
    }

    /// What the column weighs against the query's budget: its samples, and its empty cells in part.
    pub(crate) fn weight(&self) -> usize {
        let hists: usize = self
            .hists
            .iter()
            .flatten()
            .map(|hist| weight_of(hist))
            .sum();
        self.floats.ones().max(self.vals.len() / 4) + hists
    }

    /// Gives the first cell to each of `steps` steps.
    pub(crate) fn repeat(&mut self, steps: usize) {
        self.vals = vec![self.vals.first().copied().unwrap_or(0.0); steps];
        let has_float = self.floats.any();
        self.floats = if has_float {
            Bits::full(steps)
        } else {
            Bits::new(steps)
        };
        if let Some(hist) = self.hists.first().cloned() {
            self.hists = vec![hist; steps];
        }
    }

    /// Forgets the cells outside `kept`.
    pub(crate) fn restrict(&mut self, kept: &Bits) {
        self.floats.keep(kept);
        for (step, hist) in self.hists.iter_mut().enumerate() {
            if !kept.get(step) {
                *hist = None;
            }
        }
    }

    /// Takes over the cells of `other`, which has none where this column has one.
    fn absorb(&mut self, other: &Self) {
        for step in other.floats.iter() {
            self.set_float(step, other.vals[step]);
        }
        for (step, hist) in other.hists.iter().enumerate() {
            if let Some(hist) = hist {
                self.set_hist(step, Arc::clone(hist));
            }
        }
    }
}

/// What a histogram weighs against the query's budget, in samples of 16 bytes.
pub(crate) fn weight_of(hist: &Histogram) -> usize {
    let buckets = hist.positive.len() + hist.negative.len();
    (104 + 12 * buckets + 8 * hist.custom_bounds.len()) / 16
}

/// Puts columns with equal labels together where no step has both.
///
/// # Errors
///
/// Where a step has two samples with the same labels; with `strict`, already where two series have them.
pub(crate) fn merge(columns: Vec<Column>, strict: bool) -> Result<Vec<Column>, EvalError> {
    if columns.len() < 2 {
        return Ok(columns);
    }
    let mut places: HashMap<Labels, usize> = HashMap::with_capacity(columns.len());
    let mut merged: Vec<Column> = Vec::with_capacity(columns.len());
    for column in columns {
        match places.get(&column.labels) {
            None => {
                places.insert(column.labels.clone(), merged.len());
                merged.push(column);
            }
            Some(_) if strict => return Err(EvalError::same_labelset()),
            Some(place) => {
                let known = &mut merged[*place];
                if known.presence().overlaps(&column.presence()) {
                    return Err(EvalError::same_labelset());
                }
                known.absorb(&column);
            }
        }
    }
    Ok(merged)
}

/// Whether series that differ now still differ without name, type and unit.
pub(crate) fn distinct_without_metadata<'l>(mut labels: impl Iterator<Item = &'l Labels>) -> bool {
    let Some(first) = labels.next() else {
        return true;
    };
    let metadata = |labels: &Labels| -> Vec<Pair> {
        let pairs = labels.iter().filter(|(name, _)| is_metadata(name));
        pairs
            .map(|(name, value)| (Arc::clone(name), Arc::clone(value)))
            .collect()
    };
    let known = metadata(first);
    labels.all(|labels| {
        let mut left = known.iter();
        let same = labels
            .iter()
            .filter(|(name, _)| is_metadata(name))
            .all(|(name, value)| {
                left.next()
                    .is_some_and(|pair| pair.0 == *name && pair.1 == *value)
            });
        same && left.next().is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_include_the_end_and_know_when_there_are_none() {
        assert_eq!(Steps::new(0, 100, 50).count, 3);
        assert_eq!(Steps::new(0, 99, 50).count, 2);
        assert_eq!(Steps::new(5, 4, 50).count, 0);
        assert_eq!(Steps::new(0, 100, 50).last(), 100);
        assert!(Steps::new(7, 7, 1).single);
    }

    #[test]
    fn equal_labels_merge_only_where_steps_do_not_meet() {
        let mut left = Column::new(Labels::empty(), 2);
        left.set_float(0, 1.0);
        let mut right = Column::new(Labels::empty(), 2);
        right.set_float(1, 2.0);
        let merged = merge(vec![left.clone(), right.clone()], false).unwrap();
        assert_eq!(merged.len(), 1);
        assert_eq!(merged[0].vals, [1.0, 2.0]);
        assert!(merge(vec![left.clone(), right.clone()], true).is_err());
        right.set_float(0, 3.0);
        assert!(merge(vec![left, right], false).is_err());
    }
}
