//! Selectors: stored series in, the latest sample at each step out, or whole windows.

use std::borrow::Cow;
use std::sync::Arc;

use crate::ast::Smoothing;
use crate::error::EvalError;
use crate::select::node::{RangeSelector, Selector, Shift};
use crate::series::{Series, is_stale};
use crate::value::MatrixSeries;

use super::Evaluator;
use super::grid::{Column, Steps, Words};
use super::raw::{Cursor, Raw, Slice, statistics};

/// The sample that an instant selector sees.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Latest {
    Float(usize),
    Hist(usize),
}

/// Finds the latest sample at times that never go back.
#[derive(Debug)]
pub(crate) struct Lookup<'s> {
    series: &'s Series,
    lookback: i64,
    floats: usize,
    hists: usize,
}

impl<'s> Lookup<'s> {
    pub(crate) fn new(series: &'s Series, lookback: i64) -> Self {
        Self {
            series,
            lookback,
            floats: 0,
            hists: 0,
        }
    }

    /// The latest sample in `(time - lookback, time]`, unless it ends the series.
    #[inline]
    pub(crate) fn at(&mut self, time: i64) -> Option<Latest> {
        let (floats, hists) = (&self.series.floats, &self.series.histograms);
        self.floats = advance(&floats.ts, self.floats, time);
        self.hists = advance(&hists.ts, self.hists, time);
        let float = self.floats.checked_sub(1);
        let hist = self.hists.checked_sub(1);
        let float_time = float.map_or(i64::MIN, |at| floats.ts[at]);
        let hist_time = hist.map_or(i64::MIN, |at| hists.ts[at]);
        if float_time.max(hist_time) <= time.saturating_sub(self.lookback) {
            return None;
        }
        match (float, hist) {
            (Some(at), _) if float_time >= hist_time => {
                (!is_stale(floats.values[at])).then_some(Latest::Float(at))
            }
            (_, Some(at)) => (!is_stale(hists.values[at].sum)).then_some(Latest::Hist(at)),
            _ => None,
        }
    }

    /// When the sample was taken.
    pub(crate) fn time(&self, latest: Latest) -> i64 {
        match latest {
            Latest::Float(at) => self.series.floats.ts[at],
            Latest::Hist(at) => self.series.histograms.ts[at],
        }
    }

    /// When the counter of the sample started, 0 where unknown.
    pub(crate) fn start(&self, latest: Latest) -> i64 {
        let start = match latest {
            Latest::Float(at) => self.series.floats.starts.get(at),
            Latest::Hist(at) => self.series.histograms.starts.get(at),
        };
        start.copied().unwrap_or(0)
    }
}

/// How many of the sorted times are not after `time`, given that at least `from` are not.
#[inline]
fn advance(ts: &[i64], from: usize, time: i64) -> usize {
    let mut at = if from == 0 {
        ts.partition_point(|ts| *ts <= time)
    } else {
        from
    };
    while at < ts.len() && ts[at] <= time {
        at += 1;
    }
    at
}

impl<'a> Evaluator<'a> {
    /// An instant selector at all steps.
    pub(super) fn selector(
        &self,
        selector: &Selector,
        at: usize,
        steps: Steps,
    ) -> Result<Vec<Column>, EvalError> {
        if selector.smoothing == Smoothing::Smoothed {
            return self.smoothed(selector, at, steps);
        }
        let mut columns = Vec::new();
        for series in self.series(selector.selection) {
            self.check()?;
            let column = self.latest(series, selector, steps);
            if let Some(column) = column {
                self.hold(column.weight())?;
                columns.push(column);
            }
        }
        Ok(columns)
    }

    /// The series of a selection.
    pub(crate) fn series(&self, selection: usize) -> &'a [Series] {
        self.sets.get(selection).map_or(&[], |set| &set.series)
    }

    /// One series without histograms at all steps.
    fn latest_float(&self, series: &Series, shift: Shift, steps: Steps) -> Option<Column> {
        let (ts, values) = (&series.floats.ts[..], &series.floats.values[..]);
        let mut vals = vec![0.0; steps.count];
        let mut words = Words::new(steps.count);
        let mut next = ts.partition_point(|ts| *ts <= shift.of(steps.start));
        for (step, cell) in vals.iter_mut().enumerate() {
            let time = shift.of(steps.at(step));
            while next < ts.len() && ts[next] <= time {
                next += 1;
            }
            let oldest = time.saturating_sub(self.params.lookback);
            let last = next.checked_sub(1).filter(|last| ts[*last] > oldest);
            let value = last
                .map(|last| values[last])
                .filter(|value| !is_stale(*value));
            *cell = value.unwrap_or(0.0);
            words.push(value.is_some());
        }
        let floats = words.finish();
        self.read(floats.ones());
        let labels = series.labels.clone();
        floats.any().then(|| Column {
            labels,
            drop_name: false,
            vals,
            floats,
            hists: Vec::new(),
        })
    }

    /// One series at all steps.
    fn latest(&self, series: &Series, selector: &Selector, steps: Steps) -> Option<Column> {
        if series.histograms.ts.is_empty() {
            return self.latest_float(series, selector.shift, steps);
        }
        let mut lookup = Lookup::new(series, self.params.lookback);
        let mut column: Option<Column> = None;
        let mut samples = 0;
        let hists = match selector.stats_only {
            true => Cow::Owned(statistics(&series.histograms.values)),
            false => Cow::Borrowed(&series.histograms.values),
        };
        for step in 0..steps.count {
            let Some(latest) = lookup.at(selector.shift.of(steps.at(step))) else {
                continue;
            };
            let column =
                column.get_or_insert_with(|| Column::new(series.labels.clone(), steps.count));
            match latest {
                Latest::Float(at) => column.set_float(step, series.floats.values[at]),
                Latest::Hist(at) => column.set_hist(step, Arc::clone(&hists[at])),
            }
            samples += 1;
        }
        self.read(samples);
        column
    }

    /// The stored series of a range selector, without stale markers.
    pub(crate) fn raw(&self, selector: &Selector, starts: bool) -> impl Iterator<Item = Raw<'a>> {
        let stats_only = selector.stats_only;
        self.series(selector.selection)
            .iter()
            .map(move |series| Raw::stored(series, starts, stats_only))
    }

    /// A bare range selector: its samples with their own times.
    pub(super) fn window(
        &self,
        range: &RangeSelector,
        time: i64,
    ) -> Result<Vec<MatrixSeries>, EvalError> {
        let lookback = self.params.lookback;
        let (start, end) = window(range.selector.shift, range.range, time);
        let (before, after) = match range.selector.smoothing {
            Smoothing::None => (0, 0),
            Smoothing::Anchored => (lookback, 0),
            Smoothing::Smoothed => (lookback, lookback),
        };
        let mut matrix = Vec::new();
        for raw in self.raw(&range.selector, false) {
            self.check()?;
            let (from, to) = (start.saturating_sub(before), end.saturating_add(after));
            let floats = Cursor::default().slice(&raw.floats, from, to);
            let hists = Cursor::default().slice(&raw.hists, from, to);
            let floats = match range.selector.smoothing {
                Smoothing::None => pairs(floats),
                smoothing if hists.is_empty() => {
                    let smooth = smoothing == Smoothing::Smoothed;
                    crate::functions::extended::bounded(floats, start, end, smooth)
                }
                smoothing => return Err(unsupported(smoothing)),
            };
            self.hold(floats.len() + hists.len())?;
            self.read(floats.len() + hists.len());
            let histograms = pairs(hists);
            matrix.push(MatrixSeries {
                labels: raw.labels.clone(),
                floats,
                histograms,
            });
        }
        Ok(matrix)
    }
}

fn unsupported(smoothing: Smoothing) -> EvalError {
    let word = if smoothing == Smoothing::Anchored {
        "anchored"
    } else {
        "smoothed"
    };
    EvalError::Execution(format!("{word} modifier is not supported with histograms"))
}

/// The window `(start, end]` of a range at the evaluation time `time`.
pub(crate) fn window(shift: Shift, range: i64, time: i64) -> (i64, i64) {
    let end = shift.of(time);
    (end.saturating_sub(range), end)
}

fn pairs<T: Clone>(slice: Slice<'_, T>) -> Vec<(i64, T)> {
    slice
        .ts
        .iter()
        .copied()
        .zip(slice.values.iter().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{Floats, STALE_NAN};

    #[test]
    fn lookback_is_open_on_the_left_and_ends_at_a_stale_marker() {
        let values = vec![1.0, f64::from_bits(STALE_NAN), 3.0];
        let floats = Floats {
            ts: vec![0, 100, 200],
            values,
            starts: Vec::new(),
        };
        let series = Series {
            floats,
            ..Series::default()
        };
        let mut lookup = Lookup::new(&series, 60);
        let mut seen = Vec::new();
        for time in [-1, 0, 59, 60, 100, 199, 200, 259, 260] {
            seen.push(lookup.at(time).map(|latest| lookup.time(latest)));
        }
        let (none, first, last) = (None, Some(0), Some(200));
        assert_eq!(
            seen,
            [none, first, first, none, none, none, last, last, none]
        );
    }
}
