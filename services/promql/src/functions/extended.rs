//! `anchored` and `smoothed`: windows with a value at both ends, carried over or interpolated.

use std::sync::Arc;

use crate::ast::Smoothing;
use crate::eval::Evaluator;
use crate::eval::range::Window;
use crate::eval::raw::Slice;
use crate::histogram::{Histogram, IncompatibleSchemas, ResetHint};

use super::notes;
use super::rate::Kind;

/// Indexes of the samples that the ends of the window are taken from; `None` where no sample is inside.
fn ends(ts: &[i64], start: i64, end: i64, smooth: bool) -> Option<(usize, usize)> {
    let mut last = ts.len().checked_sub(1)?;
    let first = ts[..last]
        .partition_point(|ts| *ts <= start)
        .saturating_sub(1);
    if smooth {
        last = ts[..last].partition_point(|ts| *ts < end);
    }
    (ts[last] > start).then_some((first, last))
}

/// The value at `time` on the line between two samples; a counter that fell starts from zero.
pub(crate) fn interpolate(first: (i64, f64), second: (i64, f64), time: i64, counter: bool) -> f64 {
    let base = if counter && second.1 < first.1 {
        0.0
    } else {
        first.1
    };
    base + (second.1 - base) * (time - first.0) as f64 / (second.0 - first.0) as f64
}

/// The values at both ends of a window.
fn end_values(
    floats: Slice<'_, f64>,
    (first, last): (usize, usize),
    (start, end): (i64, i64),
    smooth: bool,
    counter: bool,
) -> (f64, f64) {
    let point = |at: usize| (floats.ts[at], floats.values[at]);
    let left = if smooth && floats.ts[first] < start && first + 1 < floats.len() {
        interpolate(point(first), point(first + 1), start, counter)
    } else {
        floats.values[first]
    };
    let right = if smooth && last > 0 && floats.ts[last] > end {
        interpolate(point(last - 1), point(last), end, counter)
    } else {
        floats.values[last]
    };
    (left, right)
}

/// The samples of a bare range selector, with one at each end of the window.
pub(crate) fn bounded(
    floats: Slice<'_, f64>,
    start: i64,
    end: i64,
    smooth: bool,
) -> Vec<(i64, f64)> {
    let Some((first, last)) = ends(floats.ts, start, end, smooth) else {
        return Vec::new();
    };
    let (left, right) = end_values(floats, (first, last), (start, end), smooth, false);
    let (first, past) = inside(floats.ts, (first, last), (start, end));
    let inner = floats.ts.iter().copied().zip(floats.values.iter().copied());
    let inner = inner.take(past).skip(first);
    std::iter::once((start, left))
        .chain(inner)
        .chain([(end, right)])
        .collect()
}

/// The samples between both ends, as first index and index behind the last.
fn inside(ts: &[i64], (first, last): (usize, usize), (start, end): (i64, i64)) -> (usize, usize) {
    let first = if ts[first] <= start { first + 1 } else { first };
    let past = if ts[last] >= end { last } else { last + 1 };
    (first, past.max(first))
}

/// `rate`, `increase` and `delta` of floats between the ends of the window.
pub(crate) fn float_change(window: &Window<'_>, kind: Kind) -> Option<f64> {
    let smooth = window.smoothing == Smoothing::Smoothed;
    let (floats, limits) = (window.floats, (window.start, window.end));
    let found = ends(floats.ts, window.start, window.end, smooth)?;
    if smooth && floats.ts[found.0] > window.end {
        return None;
    }
    let (left, right) = end_values(floats, found, limits, smooth, kind.counter);
    let mut change = right - left;
    if kind.counter {
        let (first, past) = inside(floats.ts, found, limits);
        let mut previous = left;
        let mut lost = 0.0;
        for value in floats.values[first..past].iter().chain([&right]) {
            if *value < previous {
                lost += previous;
            }
            previous = *value;
        }
        change += lost;
    }
    Some(if kind.per_second {
        change / window.seconds()
    } else {
        change
    })
}

/// The histogram at `time` between two samples; `counter` ones that were reset grow from nothing.
pub(crate) fn interpolate_histograms(
    (first_time, first): (i64, &Histogram),
    (second_time, second): (i64, &Histogram),
    time: i64,
    counter: bool,
    reconciled: &mut dyn FnMut(&'static str),
) -> Result<Histogram, IncompatibleSchemas> {
    if time == first_time {
        return Ok(first.clone());
    }
    let mut between = second.clone();
    if time == second_time {
        return Ok(between);
    }
    let fraction = (time - first_time) as f64 / (second_time - first_time) as f64;
    if counter && second.detect_reset(first) {
        between.mul(fraction);
        return Ok(between);
    }
    if between.sub(first)?.bounds_reconciled {
        reconciled("subtraction");
    }
    between.mul(fraction);
    if between.add(first)?.bounds_reconciled {
        reconciled("addition");
    }
    Ok(between)
}

/// `rate`, `increase` and `delta` of native histograms between the ends of the window.
pub(crate) fn histogram_change(
    ev: &Evaluator<'_>,
    window: &Window<'_>,
    kind: Kind,
) -> Option<Histogram> {
    let smooth = window.smoothing == Smoothing::Smoothed;
    let hists = window.hists;
    let (first, last) = ends(hists.ts, window.start, window.end, smooth)?;
    if smooth && hists.ts[first] > window.end {
        return None;
    }
    if !uniform(ev, window, &hists.values[first..=last], kind.counter) {
        return None;
    }
    let mut change = Change {
        ev,
        window,
        kind,
        smooth,
        first,
        last,
    };
    let Ok(found) = change.compute() else {
        notes::mixed_schemas(ev, window);
        return None;
    };
    Some(found)
}

/// Whether all samples have buckets of one kind; gauges given to a counter function are remarked on.
fn uniform(
    ev: &Evaluator<'_>,
    window: &Window<'_>,
    hists: &[Arc<Histogram>],
    counter: bool,
) -> bool {
    let custom = hists[0].has_custom_bounds();
    for hist in hists {
        if hist.has_custom_bounds() != custom {
            notes::mixed_schemas(ev, window);
            return false;
        }
        if counter && hist.reset_hint == ResetHint::Gauge {
            notes::not_a_counter(ev, window);
        }
    }
    true
}

/// The work of one window of histograms.
struct Change<'a, 'w> {
    ev: &'a Evaluator<'a>,
    window: &'a Window<'w>,
    kind: Kind,
    smooth: bool,
    first: usize,
    last: usize,
}

impl Change<'_, '_> {
    fn compute(&mut self) -> Result<Histogram, IncompatibleSchemas> {
        let (ev, window) = (self.ev, self.window);
        let (left, right) = (self.left()?, self.right()?);
        let gauges = [&left, &right]
            .iter()
            .all(|end| end.reset_hint == ResetHint::Gauge);
        if !self.kind.counter && !gauges {
            notes::not_a_gauge(ev, window);
        }
        let mut change = right.clone();
        if change.sub(&left)?.bounds_reconciled {
            notes::reconciled(ev, window.at, "subtraction");
        }
        if self.kind.counter
            && let Some(lost) = self.lost(&left, &right)?
        {
            self.plus(&mut change, &lost)?;
        }
        if self.kind.per_second {
            change.div(window.seconds());
        }
        change.reset_hint = ResetHint::Gauge;
        change.compact();
        Ok(change)
    }

    fn plus(&self, sum: &mut Histogram, more: &Histogram) -> Result<(), IncompatibleSchemas> {
        if sum.add(more)?.bounds_reconciled {
            notes::reconciled(self.ev, self.window.at, "addition");
        }
        Ok(())
    }

    fn point(&self, at: usize) -> (i64, &Histogram) {
        (self.window.hists.ts[at], &self.window.hists.values[at])
    }

    fn between(&self, at: usize, time: i64) -> Result<Histogram, IncompatibleSchemas> {
        let mut note = |operation| notes::reconciled(self.ev, self.window.at, operation);
        let (first, second) = (self.point(at), self.point(at + 1));
        interpolate_histograms(first, second, time, self.kind.counter, &mut note)
    }

    fn left(&self) -> Result<Histogram, IncompatibleSchemas> {
        let (time, hist) = self.point(self.first);
        let next = self.first + 1 < self.window.hists.len();
        if self.smooth && time < self.window.start && next {
            return self.between(self.first, self.window.start);
        }
        Ok(hist.clone())
    }

    fn right(&self) -> Result<Histogram, IncompatibleSchemas> {
        let (time, hist) = self.point(self.last);
        if self.smooth && self.last > 0 && time > self.window.end {
            return self.between(self.last - 1, self.window.end);
        }
        Ok(hist.clone())
    }

    /// What the counter had reached before each reset between both ends. The ends themselves stand for
    /// the first and last sample; a reset that the left end was interpolated across is in it already.
    fn lost(
        &self,
        left: &Histogram,
        right: &Histogram,
    ) -> Result<Option<Histogram>, IncompatibleSchemas> {
        let mut from = self.first + 1;
        let mut previous = left;
        let (time, hist) = self.point(self.first);
        if self.smooth && time < self.window.start && from < self.window.hists.len() {
            let next = self.point(from).1;
            if next.detect_reset(hist) {
                previous = next;
                from += 1;
            }
        }
        if from > self.last {
            return Ok(None);
        }
        let mut lost = None;
        for at in from..self.last {
            let hist = self.point(at).1;
            if hist.detect_reset(previous) {
                self.collect(&mut lost, previous)?;
            }
            previous = hist;
        }
        if right.detect_reset(previous) {
            self.collect(&mut lost, previous)?;
        }
        Ok(lost)
    }

    fn collect(
        &self,
        lost: &mut Option<Histogram>,
        more: &Histogram,
    ) -> Result<(), IncompatibleSchemas> {
        match lost {
            None => *lost = Some(more.clone()),
            Some(lost) => self.plus(lost, more)?,
        }
        Ok(())
    }
}
