//! `irate` and `idelta`: the last two samples of a window become their difference.

use std::sync::Arc;

use crate::error::EvalError;
use crate::eval::Evaluator;
use crate::eval::range::{Cell, Window};
use crate::histogram::{Difference, Histogram, RateKind};
use crate::number::seconds;

use super::notes;
use super::rate::{is_restart, remark};

type Answer = Result<Option<Cell>, EvalError>;

pub(crate) fn irate(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    Ok(difference(ev, window, true))
}

pub(crate) fn idelta(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    Ok(difference(ev, window, false))
}

/// A sample of either kind.
#[derive(Clone, Copy)]
struct Sample<'w> {
    start: i64,
    time: i64,
    value: Either<'w>,
}

#[derive(Clone, Copy)]
enum Either<'w> {
    Float(f64),
    Hist(&'w Histogram),
}

fn difference(ev: &Evaluator<'_>, window: &Window<'_>, per_second: bool) -> Option<Cell> {
    let [previous, last] = last_two(window)?;
    let interval = seconds(last.time - previous.time);
    if interval == 0.0 {
        return None;
    }
    let restarted = is_restart((previous.start, previous.time), (last.start, last.time));
    match (previous.value, last.value) {
        (Either::Float(before), Either::Float(value)) => {
            let reset = per_second && (value < before || restarted);
            let change = if reset { value } else { value - before };
            Some(Cell::Float(if per_second {
                change / interval
            } else {
                change
            }))
        }
        (Either::Hist(before), Either::Hist(hist)) => {
            let kind = if per_second {
                RateKind::Counter
            } else {
                RateKind::Gauge
            };
            let found = Histogram::instant_difference(before, hist, kind, restarted);
            let Ok(Difference {
                mut histogram,
                notes,
            }) = found
            else {
                notes::mixed_schemas(ev, window);
                return None;
            };
            remark(ev, window, &notes);
            if per_second {
                histogram.div(interval);
            }
            Some(Cell::Hist(histogram))
        }
        _ => {
            notes::mixed(ev, window);
            None
        }
    }
}

/// The last two samples of either kind in order of time.
fn last_two<'w>(window: &Window<'w>) -> Option<[Sample<'w>; 2]> {
    let (floats, hists) = (window.floats, window.hists);
    let mut samples: Vec<Sample<'w>> = Vec::with_capacity(4);
    for at in floats.len().saturating_sub(2)..floats.len() {
        let value = Either::Float(floats.values[at]);
        samples.push(Sample {
            start: floats.start(at),
            time: floats.ts[at],
            value,
        });
    }
    for at in hists.len().saturating_sub(2)..hists.len() {
        let value = Either::Hist(Arc::as_ref(&hists.values[at]));
        samples.push(Sample {
            start: hists.start(at),
            time: hists.ts[at],
            value,
        });
    }
    samples.sort_by_key(|sample| sample.time);
    match samples.as_slice() {
        [.., previous, last] => Some([*previous, *last]),
        _ => None,
    }
}
