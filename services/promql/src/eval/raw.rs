//! Samples as they were stored, or as a subquery made them, for whatever reads whole windows.

use std::borrow::Cow;
use std::sync::Arc;

use crate::histogram::{Histogram, ResetHint};
use crate::labels::Labels;
use crate::series::{Floats, Histograms, Series, is_stale};

use super::grid::{Column, Steps};

/// One series without stale markers.
#[derive(Clone, Debug)]
pub(crate) struct Raw<'a> {
    pub(crate) labels: Labels,
    /// The name is to be dropped at the end of the query.
    pub(crate) drop_name: bool,
    pub(crate) floats: Points<'a, f64>,
    pub(crate) hists: Points<'a, Arc<Histogram>>,
}

/// Samples of one kind as columns of equal length; `starts` may be empty.
#[derive(Clone, Debug)]
pub(crate) struct Points<'a, T: Clone> {
    pub(crate) ts: Cow<'a, [i64]>,
    pub(crate) values: Cow<'a, [T]>,
    pub(crate) starts: Cow<'a, [i64]>,
}

/// A run of [`Points`].
#[derive(Debug)]
pub(crate) struct Slice<'w, T> {
    pub(crate) ts: &'w [i64],
    pub(crate) values: &'w [T],
    /// Empty where start times are unknown or not to be used.
    pub(crate) starts: &'w [i64],
}

impl<T> Clone for Slice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slice<'_, T> {}

impl<T> Slice<'_, T> {
    pub(crate) fn len(&self) -> usize {
        self.ts.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ts.is_empty()
    }

    /// The start time of sample `index`, 0 where unknown.
    pub(crate) fn start(&self, index: usize) -> i64 {
        self.starts.get(index).copied().unwrap_or(0)
    }
}

impl<'a> Raw<'a> {
    /// A stored series; `starts` says whether start times matter, `stats_only` whether the buckets of
    /// histograms do not.
    pub(crate) fn stored(series: &'a Series, starts: bool, stats_only: bool) -> Self {
        Self {
            labels: series.labels.clone(),
            drop_name: false,
            floats: floats(&series.floats, starts),
            hists: histograms(&series.histograms, starts, stats_only),
        }
    }

    /// Whether there are only floats whose start times do not matter.
    pub(crate) fn is_plain(&self) -> bool {
        self.hists.ts.is_empty() && self.floats.starts.is_empty()
    }

    /// Whether the floats fall anywhere.
    pub(crate) fn falls(&self) -> bool {
        self.floats
            .values
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if b < a))
    }

    /// A column that a subquery evaluated at `steps`. What histograms say about resets was about stored
    /// neighbours, so it is forgotten.
    pub(crate) fn evaluated(column: Column, steps: Steps) -> Self {
        let (mut ts, mut values) = (Vec::new(), Vec::new());
        let Column {
            labels,
            drop_name,
            vals,
            floats,
            hists,
        } = column;
        for step in floats.iter() {
            ts.push(steps.at(step));
            values.push(vals[step]);
        }
        let (mut hist_ts, mut hist_values) = (Vec::new(), Vec::new());
        for (step, hist) in hists.into_iter().enumerate() {
            if let Some(hist) = hist {
                hist_ts.push(steps.at(step));
                hist_values.push(without_hint(hist));
            }
        }
        Self {
            labels,
            drop_name,
            floats: owned(ts, values),
            hists: owned(hist_ts, hist_values),
        }
    }
}

fn owned<'a, T: Clone>(ts: Vec<i64>, values: Vec<T>) -> Points<'a, T> {
    Points {
        ts: Cow::Owned(ts),
        values: Cow::Owned(values),
        starts: Cow::Borrowed(&[]),
    }
}

fn without_hint(mut hist: Arc<Histogram>) -> Arc<Histogram> {
    if matches!(hist.reset_hint, ResetHint::Reset | ResetHint::NotReset) {
        Arc::make_mut(&mut hist).reset_hint = ResetHint::Unknown;
    }
    hist
}

fn floats(floats: &Floats, starts: bool) -> Points<'_, f64> {
    let use_starts = starts && floats.starts.len() == floats.ts.len();
    let starts: &[i64] = if use_starts { &floats.starts } else { &[] };
    points(&floats.ts, &floats.values, starts, |value| {
        !is_stale(*value)
    })
}

fn histograms(hists: &Histograms, starts: bool, stats_only: bool) -> Points<'_, Arc<Histogram>> {
    let use_starts = starts && hists.starts.len() == hists.ts.len();
    let starts: &[i64] = if use_starts { &hists.starts } else { &[] };
    let mut points = points(&hists.ts, &hists.values, starts, |hist| !is_stale(hist.sum));
    if stats_only {
        points.values = Cow::Owned(statistics(&points.values));
    }
    points
}

/// The samples that `keep` holds for; borrowed where that is all of them.
fn points<'a, T: Clone>(
    ts: &'a [i64],
    values: &'a [T],
    starts: &'a [i64],
    keep: impl Fn(&T) -> bool,
) -> Points<'a, T> {
    if values.iter().all(&keep) {
        return Points {
            ts: Cow::Borrowed(ts),
            values: Cow::Borrowed(values),
            starts: Cow::Borrowed(starts),
        };
    }
    let kept = |index: &usize| values.get(*index).is_some_and(&keep);
    Points {
        ts: (0..ts.len()).filter(kept).map(|index| ts[index]).collect(),
        values: (0..ts.len())
            .filter(kept)
            .map(|index| values[index].clone())
            .collect(),
        starts: (0..starts.len())
            .filter(kept)
            .map(|index| starts[index])
            .collect(),
    }
}

/// Counts and sums alone, with resets detected while the buckets are still there.
pub(crate) fn statistics(hists: &[Arc<Histogram>]) -> Vec<Arc<Histogram>> {
    let mut previous: Option<&Histogram> = None;
    let mut out = Vec::with_capacity(hists.len());
    for hist in hists {
        if is_stale(hist.sum) {
            out.push(Arc::clone(hist));
            continue;
        }
        let reset_hint = match (hist.reset_hint, previous) {
            (ResetHint::Unknown, Some(previous)) if hist.detect_reset(previous) => ResetHint::Reset,
            (ResetHint::Unknown, Some(_)) => ResetHint::NotReset,
            (hint, _) => hint,
        };
        previous = Some(hist);
        out.push(Arc::new(Histogram {
            reset_hint,
            schema: hist.schema,
            count: hist.count,
            sum: hist.sum,
            ..Histogram::default()
        }));
    }
    out
}

/// A window that only moves forward over sorted times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    low: usize,
    high: usize,
}

impl Cursor {
    /// The samples in `(start, end]`; neither may be earlier than at the last call.
    #[inline]
    pub(crate) fn slice<'w, T: Clone>(
        &mut self,
        points: &'w Points<'_, T>,
        start: i64,
        end: i64,
    ) -> Slice<'w, T> {
        let ts = &*points.ts;
        if self.low == 0 {
            self.low = ts.partition_point(|ts| *ts <= start);
            self.high = self.high.max(self.low);
        }
        while self.low < ts.len() && ts[self.low] <= start {
            self.low += 1;
        }
        self.high = self.high.max(self.low);
        while self.high < ts.len() && ts[self.high] <= end {
            self.high += 1;
        }
        let (low, high) = (self.low, self.high);
        Slice {
            ts: &ts[low..high],
            values: &points.values[low..high],
            starts: points.starts.get(low..high).unwrap_or(&[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_open_on_the_left_and_closed_on_the_right() {
        let points = owned(vec![60, 120, 180, 240], vec![1.0, 2.0, 3.0, 4.0]);
        let mut cursor = Cursor::default();
        assert_eq!(cursor.slice(&points, 60, 180).ts, [120, 180]);
        assert_eq!(cursor.slice(&points, 100, 181).ts, [120, 180]);
        assert_eq!(cursor.slice(&points, 200, 210).ts, [0_i64; 0]);
        assert_eq!(cursor.slice(&points, 210, 240).ts, [240]);
        assert_eq!(cursor.slice(&points, 400, 500).ts, [0_i64; 0]);
    }

    #[test]
    fn stale_markers_are_not_samples_of_a_range() {
        let floats = Floats {
            ts: vec![1, 2, 3],
            values: vec![1.0, f64::from_bits(crate::series::STALE_NAN), f64::NAN],
            starts: vec![0, 1, 2],
        };
        let points = super::floats(&floats, true);
        assert_eq!(*points.ts, [1, 3]);
        assert_eq!(*points.starts, [0, 2]);
    }
}
