//! `rate`, `increase` and `delta`: the samples of a window become the change over the whole window.

use std::sync::Arc;

use crate::ast::Smoothing;
use crate::error::EvalError;
use crate::eval::Evaluator;
use crate::eval::range::{Cell, Window};
use crate::eval::raw::Slice;
use crate::histogram::{Difference, Histogram, RateKind, RateNote};
use crate::labels::Labels;
use crate::number::{count, quote, seconds};

use super::extended;
use super::notes;

type Answer = Result<Option<Cell>, EvalError>;

/// The window `(start, end]` and its length in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) seconds: f64,
}

/// What the function makes of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Falls are resets, not losses.
    pub(crate) counter: bool,
    /// Per second.
    pub(crate) per_second: bool,
}

/// `rate`.
pub(crate) const RATE: Kind = Kind {
    counter: true,
    per_second: true,
};
/// `increase`.
pub(crate) const INCREASE: Kind = Kind {
    counter: true,
    per_second: false,
};
/// `delta`.
pub(crate) const DELTA: Kind = Kind {
    counter: false,
    per_second: false,
};

pub(crate) fn rate(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    change(ev, window, RATE)
}

pub(crate) fn increase(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    change(ev, window, INCREASE)
}

pub(crate) fn delta(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    change(ev, window, DELTA)
}

fn change(ev: &Evaluator<'_>, window: &Window<'_>, kind: Kind) -> Answer {
    if !window.floats.is_empty() && !window.hists.is_empty() {
        notes::mixed(ev, window);
        return Ok(None);
    }
    let floats = window.hists.is_empty();
    Ok(match (window.smoothing, floats) {
        (Smoothing::None, true) => float_change(ev, window, kind).map(Cell::Float),
        (Smoothing::None, false) => histogram_change(ev, window, kind).map(Cell::Hist),
        (_, true) => extended::float_change(window, kind).map(Cell::Float),
        (_, false) => extended::histogram_change(ev, window, kind).map(Cell::Hist),
    })
}

fn float_change(ev: &Evaluator<'_>, window: &Window<'_>, kind: Kind) -> Option<f64> {
    if kind.counter && overlaps(window.floats) {
        ev.note(|all| all.start_overlap(window.at, window.name()));
    }
    let limits = Limits {
        start: window.start,
        end: window.end,
        seconds: window.seconds(),
    };
    change_of_floats(window.floats, limits, kind, window.falls)
}

/// The change of floats over a window; `falls` says whether they may fall at all.
#[inline(always)]
pub(crate) fn change_of_floats(
    floats: Slice<'_, f64>,
    limits: Limits,
    kind: Kind,
    falls: bool,
) -> Option<f64> {
    let (first, last) = (*floats.values.first()?, *floats.values.last()?);
    let mut change = last - first;
    if kind.counter && (falls || !floats.starts.is_empty()) {
        change = bridge_resets(floats, change);
    }
    let span = Span::of(limits, floats.ts, started(limits, floats, kind))?;
    if span.started {
        change += first;
    }
    let zero = (kind.counter && change > 0.0 && first >= 0.0).then_some((first, change));
    Some(change * span.factor(limits, kind, zero))
}

/// Adds what the counter had reached before each reset.
fn bridge_resets(floats: Slice<'_, f64>, mut change: f64) -> f64 {
    let Some((mut previous, rest)) = floats.values.split_first() else {
        return change;
    };
    for (at, value) in rest.iter().enumerate() {
        if value < previous || (!floats.starts.is_empty() && restarted(&floats, at + 1)) {
            change += previous;
        }
        previous = value;
    }
    change
}

fn histogram_change(ev: &Evaluator<'_>, window: &Window<'_>, kind: Kind) -> Option<Histogram> {
    let hists = window.hists;
    let first = hists.values.first()?;
    let mut change = if hists.len() > 1 {
        Some(difference(ev, window, kind)?)
    } else {
        None
    };
    let limits = Limits {
        start: window.start,
        end: window.end,
        seconds: window.seconds(),
    };
    let span = Span::of(limits, hists.ts, started(limits, hists, kind))?;
    if span.started {
        change = match change {
            None => Some(Histogram::clone(first)),
            Some(mut change) => {
                let Ok(combined) = change.add(first) else {
                    notes::mixed_schemas(ev, window);
                    return None;
                };
                if combined.bounds_reconciled {
                    notes::reconciled(ev, window.at, "addition");
                }
                Some(change)
            }
        };
    }
    let mut change = change?;
    let zero = (kind.counter && change.count > 0.0 && first.count >= 0.0)
        .then_some((first.count, change.count));
    change.mul(span.factor(limits, kind, zero));
    Some(change)
}

/// Last minus first, resets bridged.
fn difference(ev: &Evaluator<'_>, window: &Window<'_>, kind: Kind) -> Option<Histogram> {
    let hists = window.hists;
    let points: Vec<&Histogram> = hists.values.iter().map(Arc::as_ref).collect();
    let rate_kind = if kind.counter {
        RateKind::Counter
    } else {
        RateKind::Gauge
    };
    let use_starts = !hists.starts.is_empty();
    let found = Histogram::difference(&points, rate_kind, &|at| {
        use_starts && restarted(&hists, at)
    })?;
    let Ok(Difference { histogram, notes }) = found else {
        notes::mixed_schemas(ev, window);
        return None;
    };
    remark(ev, window, &notes);
    if kind.counter && overlaps(hists) {
        ev.note(|all| all.start_overlap(window.at, window.name()));
    }
    Some(histogram)
}

/// Writes down what a histogram difference has to tell.
pub(crate) fn remark(ev: &Evaluator<'_>, window: &Window<'_>, notes: &[RateNote]) {
    for note in notes {
        match note {
            RateNote::NotACounter => notes::not_a_counter(ev, window),
            RateNote::NotAGauge => notes::not_a_gauge(ev, window),
            RateNote::ReconciledSubtraction => notes::reconciled(ev, window.at, "subtraction"),
            RateNote::ReconciledAddition => notes::reconciled(ev, window.at, "addition"),
        }
    }
}

/// The time between first and last sample, and how it is stretched to the window.
struct Span {
    /// Seconds between the samples, or from the counter's start.
    seconds: f64,
    /// Mean seconds between samples.
    average: f64,
    to_start: f64,
    to_end: f64,
    /// The counter started inside the window, at zero.
    started: bool,
}

impl Span {
    /// `None` for a single sample of a counter whose start is not known.
    #[inline(always)]
    fn of(window: Limits, ts: &[i64], started: Option<i64>) -> Option<Self> {
        let (first, last) = (*ts.first()?, *ts.last()?);
        let gaps = ts.len() - 1;
        if gaps == 0 && started.is_none() {
            return None;
        }
        let sampled = seconds(last - first);
        let average = if gaps > 0 { sampled / count(gaps) } else { 0.0 };
        let (to_start, sampled) = match started {
            Some(start) => (0.0, seconds(last - start)),
            None => (seconds(first - window.start), sampled),
        };
        let to_end = seconds(window.end - last);
        Some(Self {
            seconds: sampled,
            average,
            to_start,
            to_end,
            started: started.is_some(),
        })
    }

    /// What the change is multiplied by. The change is carried to the window's ends where the next
    /// sample would lie beyond them, else by half a distance. A counter is not carried below zero: `zero`
    /// is its first value and its change.
    #[inline(always)]
    fn factor(&self, window: Limits, kind: Kind, zero: Option<(f64, f64)>) -> f64 {
        let threshold = self.average * 1.1;
        let mut to_start = self.to_start;
        if !self.started {
            if to_start >= threshold {
                to_start = self.average / 2.0;
            }
            to_start = self.not_below_zero(to_start, zero);
        }
        let mut to_end = self.to_end;
        if to_end >= threshold {
            to_end = self.average / 2.0;
        }
        let mut factor = 1.0;
        if self.seconds != 0.0 {
            factor = (self.seconds + to_start + to_end) / self.seconds;
        }
        if kind.per_second {
            factor / window.seconds
        } else {
            factor
        }
    }

    #[inline(always)]
    fn not_below_zero(&self, to_start: f64, zero: Option<(f64, f64)>) -> f64 {
        let Some((first, change)) = zero else {
            return to_start;
        };
        // Most counters are far from zero; then the division's exact value does not matter.
        if self.seconds * first > 1.001 * change * to_start {
            return to_start;
        }
        let to_zero = self.seconds * (first / change);
        if to_zero < to_start {
            to_zero
        } else {
            to_start
        }
    }
}

/// When the counter started, if that was inside the window and before its first sample.
fn started<T>(window: Limits, slice: Slice<'_, T>, kind: Kind) -> Option<i64> {
    let (start, first) = (*slice.starts.first()?, *slice.ts.first()?);
    (kind.counter && start != 0 && start > window.start && start < first).then_some(start)
}

/// Whether start times tell that the counter was reset between samples `at - 1` and `at`.
pub(crate) fn restarted<T>(slice: &Slice<'_, T>, at: usize) -> bool {
    let before = at.wrapping_sub(1);
    let (Some(previous), Some(current)) = (slice.ts.get(before), slice.ts.get(at)) else {
        return false;
    };
    is_restart(
        (slice.start(before), *previous),
        (slice.start(at), *current),
    )
}

/// The same for two samples given as (start time, time). A start that is unknown (0) or not before its
/// own sample says nothing; one equal to the previous sample's time is a delta only if that sample knew
/// its own start.
pub(crate) fn is_restart(previous: (i64, i64), current: (i64, i64)) -> bool {
    let (start, time) = current;
    if start == 0 || start >= time || start < previous.1 {
        return false;
    }
    if start > previous.1 {
        return true;
    }
    previous.0 < previous.1 && previous.0 != 0
}

/// Whether some sample says it started before the sample ahead of it, at another time than that one.
fn overlaps<T>(slice: Slice<'_, T>) -> bool {
    (1..slice.starts.len()).any(|at| {
        let (previous, start) = (slice.starts[at - 1], slice.starts[at]);
        start != 0 && start < slice.ts[at - 1] && start != previous
    })
}

/// Remarks that a metric does not look like a counter.
pub(crate) fn check_counter(ev: &Evaluator<'_>, labels: &Labels, at: usize) {
    let name = labels.name();
    if name.is_empty() {
        return;
    }
    if ev.params.features.type_and_unit_labels {
        let kind = labels.get("__type__");
        if kind != "counter" && kind != "histogram" {
            let text = format!(
                "metric might not be a counter, __type__ label is not set to \"counter\" or \
                 \"histogram\", got {}: {}",
                quote(kind),
                quote(name)
            );
            ev.note(|all| all.info(at, text));
        }
        return;
    }
    if !["_total", "_sum", "_count", "_bucket"]
        .iter()
        .any(|end| name.ends_with(end))
    {
        let text = format!(
            "metric might not be a counter, name does not end in _total/_sum/_count/_bucket: {}",
            quote(name)
        );
        ev.note(|all| all.info(at, text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_times_tell_resets_only_where_they_can() {
        assert!(is_restart((1, 10), (15, 20)));
        assert!(is_restart((1, 10), (10, 20)));
        assert!(!is_restart((0, 10), (10, 20)));
        assert!(!is_restart((10, 10), (10, 20)));
        assert!(!is_restart((1, 10), (5, 20)));
        assert!(!is_restart((1, 10), (0, 20)));
        assert!(!is_restart((1, 10), (20, 20)));
        assert!(!is_restart((12, 10), (10, 20)));
    }
}
