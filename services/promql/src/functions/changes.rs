//! `changes` and `resets`: how often the samples of a window differ or fall.

use std::sync::Arc;

use crate::ast::Smoothing;
use crate::error::EvalError;
use crate::eval::Evaluator;
use crate::eval::range::{Cell, Window};
use crate::histogram::Histogram;
use crate::number::count;

use super::rate::is_restart;

type Answer = Result<Option<Cell>, EvalError>;

/// A sample of either kind with its start time and time.
#[derive(Clone, Copy)]
struct Sample<'w> {
    times: (i64, i64),
    float: f64,
    hist: Option<&'w Histogram>,
}

pub(crate) fn resets(_: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    Ok(pairs(window, |previous, current| {
        match (previous.hist, current.hist) {
            (None, None) => {
                current.float < previous.float || is_restart(previous.times, current.times)
            }
            (Some(before), Some(hist)) => {
                is_restart(previous.times, current.times) || hist.detect_reset(before)
            }
            _ => true,
        }
    }))
}

pub(crate) fn changes(_: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    Ok(pairs(window, |previous, current| {
        match (previous.hist, current.hist) {
            (None, None) => {
                let both_nan = previous.float.is_nan() && current.float.is_nan();
                current.float != previous.float && !both_nan
            }
            (Some(before), Some(hist)) => hist != before,
            _ => true,
        }
    }))
}

/// For how many neighbours `counts` holds; nothing where an anchored window is empty.
fn pairs(window: &Window<'_>, counts: impl Fn(&Sample<'_>, &Sample<'_>) -> bool) -> Option<Cell> {
    let (first_float, first_hist) = first(window)?;
    let mut samples = Merged {
        window,
        float: first_float,
        hist: first_hist,
    };
    let mut previous = samples.next()?;
    let mut found = 0;
    for current in samples {
        found += usize::from(counts(&previous, &current));
        previous = current;
    }
    Some(Cell::Float(count(found)))
}

/// The samples of a window in order of time.
struct Merged<'a, 'w> {
    window: &'a Window<'w>,
    float: usize,
    hist: usize,
}

impl<'w> Iterator for Merged<'_, 'w> {
    type Item = Sample<'w>;

    fn next(&mut self) -> Option<Sample<'w>> {
        let (floats, hists) = (self.window.floats, self.window.hists);
        let float_time = floats.ts.get(self.float);
        let hist_time = hists.ts.get(self.hist);
        let take_float = match (float_time, hist_time) {
            (Some(float), Some(hist)) => float < hist,
            (float, _) => float.is_some(),
        };
        if take_float {
            let at = self.float;
            self.float += 1;
            let times = (floats.start(at), floats.ts[at]);
            return Some(Sample {
                times,
                float: floats.values[at],
                hist: None,
            });
        }
        let at = self.hist;
        self.hist += 1;
        let hist: &'w Histogram = hists.values.get(at).map(Arc::as_ref)?;
        Some(Sample {
            times: (hists.start(at), hists.ts[at]),
            float: 0.0,
            hist: Some(hist),
        })
    }
}

/// Where counting starts. An anchored window starts with the last sample of either kind that is not
/// inside; without samples inside there is nothing to count.
fn first(window: &Window<'_>) -> Option<(usize, usize)> {
    if window.smoothing != Smoothing::Anchored {
        return Some((0, 0));
    }
    let (floats, hists) = (window.floats.ts, window.hists.ts);
    let float = floats.partition_point(|ts| *ts <= window.start);
    let hist = hists.partition_point(|ts| *ts <= window.start);
    if float >= floats.len() && hist >= hists.len() {
        return None;
    }
    let last_float = float.checked_sub(1).map(|at| floats[at]);
    let last_hist = hist.checked_sub(1).map(|at| hists[at]);
    Some(match (last_float, last_hist) {
        (None, None) => (0, 0),
        (Some(_), None) => (float - 1, hist),
        (Some(float_time), Some(hist_time)) if float_time >= hist_time => (float - 1, hist),
        _ => (float, hist - 1),
    })
}
