//! Functions `…_over_time`: the samples of a window become one value.

use std::sync::Arc;

use crate::error::EvalError;
use crate::eval::Evaluator;
use crate::eval::range::{Cell, Window};
use crate::eval::raw::Slice;
use crate::histogram::{Combined, Histogram, HistogramMean, HistogramSum};
use crate::kahan::{Mean, Sum};
use crate::number::{count as as_number, seconds};

use super::notes;
use super::order::quantile as quantile_of;

type Answer = Result<Option<Cell>, EvalError>;

fn float(value: f64) -> Answer {
    Ok(Some(Cell::Float(value)))
}

/// Whether the window is of floats only; a mix is remarked on and answered with nothing.
fn is_float(ev: &Evaluator<'_>, window: &Window<'_>) -> Option<bool> {
    if !window.floats.is_empty() && !window.hists.is_empty() {
        notes::mixed(ev, window);
        return None;
    }
    Some(!window.floats.is_empty())
}

/// The floats of the window; histograms beside them are remarked on.
fn floats<'w>(ev: &Evaluator<'_>, window: &Window<'w>) -> Option<Slice<'w, f64>> {
    if window.floats.is_empty() {
        return None;
    }
    if !window.hists.is_empty() {
        notes::histograms_ignored(ev, window);
    }
    Some(window.floats)
}

pub(crate) fn avg(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    match is_float(ev, window) {
        None => Ok(None),
        Some(true) => float(mean_of(window.floats.values)),
        Some(false) => {
            let (first, rest) = (&window.hists.values[0], &window.hists.values[1..]);
            let mut mean = HistogramMean::new(first);
            let done = rest.iter().try_for_each(|hist| mean.add(hist));
            let combined = mean.combined();
            match done {
                Ok(()) => {
                    combine_notes(ev, window, combined);
                    Ok(Some(Cell::Hist(mean.finish())))
                }
                Err(_) => incompatible(ev, window),
            }
        }
    }
}

pub(crate) fn sum(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    match is_float(ev, window) {
        None => Ok(None),
        Some(true) => float(sum_of(window.floats.values)),
        Some(false) => {
            let (first, rest) = (&window.hists.values[0], &window.hists.values[1..]);
            let mut sum = HistogramSum::new(first);
            let done = rest.iter().try_for_each(|hist| sum.add(hist));
            let combined = sum.combined();
            match done {
                Ok(()) => {
                    combine_notes(ev, window, combined);
                    Ok(Some(Cell::Hist(sum.finish())))
                }
                Err(_) => incompatible(ev, window),
            }
        }
    }
}

fn incompatible(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    notes::mixed_schemas(ev, window);
    Ok(None)
}

fn combine_notes(ev: &Evaluator<'_>, window: &Window<'_>, combined: Combined) {
    if combined.reset_collision {
        notes::reset_collision(ev, window.at, "aggregation");
    }
    if combined.bounds_reconciled {
        notes::reconciled(ev, window.at, "aggregation");
    }
}

/// The mean of at least one float.
#[inline]
pub(crate) fn mean_of(values: &[f64]) -> f64 {
    let mut mean = Mean::of(values[0]);
    values[1..].iter().for_each(|value| mean.add(*value));
    mean.value()
}

/// The compensated sum of floats.
#[inline]
pub(crate) fn sum_of(values: &[f64]) -> f64 {
    let sum = values
        .iter()
        .fold(Sum::default(), |sum, value| sum.plus(*value));
    if sum.sum.is_infinite() {
        sum.sum
    } else {
        sum.total()
    }
}

/// The greatest of at least one float, NaN only where all are.
#[inline]
pub(crate) fn max_of(values: &[f64]) -> f64 {
    values.iter().fold(values[0], |max, value| {
        if *value > max || max.is_nan() {
            *value
        } else {
            max
        }
    })
}

/// The least of at least one float, NaN only where all are.
#[inline]
pub(crate) fn min_of(values: &[f64]) -> f64 {
    values.iter().fold(values[0], |min, value| {
        if *value < min || min.is_nan() {
            *value
        } else {
            min
        }
    })
}

pub(crate) fn count(_: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    float(as_number(window.floats.len() + window.hists.len()))
}

pub(crate) fn present(_: &Evaluator<'_>, _: &Window<'_>) -> Answer {
    float(1.0)
}

/// The value and time that `better(candidate, best)` prefers over all others.
fn best(
    ev: &Evaluator<'_>,
    window: &Window<'_>,
    better: impl Fn(f64, f64) -> bool,
) -> Option<(f64, i64)> {
    let floats = floats(ev, window)?;
    let mut best = (floats.values[0], floats.ts[0]);
    for (value, ts) in floats.values.iter().zip(floats.ts) {
        if better(*value, best.0) || best.0.is_nan() {
            best = (*value, *ts);
        }
    }
    Some(best)
}

pub(crate) fn max(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    Ok(best(ev, window, |value, best| value > best).map(|best| Cell::Float(best.0)))
}

pub(crate) fn min(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    Ok(best(ev, window, |value, best| value < best).map(|best| Cell::Float(best.0)))
}

pub(crate) fn ts_of_max(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    Ok(best(ev, window, |value, best| value >= best).map(|best| Cell::Float(seconds(best.1))))
}

pub(crate) fn ts_of_min(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    Ok(best(ev, window, |value, best| value <= best).map(|best| Cell::Float(seconds(best.1))))
}

pub(crate) fn ts_of_first(_: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    let first = window
        .floats
        .ts
        .first()
        .into_iter()
        .chain(window.hists.ts.first())
        .min();
    Ok(first.map(|ts| Cell::Float(seconds(*ts))))
}

pub(crate) fn ts_of_last(_: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    let last = window
        .floats
        .ts
        .last()
        .into_iter()
        .chain(window.hists.ts.last())
        .max();
    Ok(last.map(|ts| Cell::Float(seconds(*ts))))
}

/// The float with its time, or the histogram with its, where `float_wins` does not hold for the times.
fn one(
    float: Option<(&i64, &f64)>,
    hist: Option<(&i64, &Arc<Histogram>)>,
    float_wins: impl Fn(i64, i64) -> bool,
) -> Option<Cell> {
    match (float, hist) {
        (Some((float, value)), Some((hist, _))) if float_wins(*float, *hist) => {
            Some(Cell::Float(*value))
        }
        (_, Some((_, hist))) => Some(Cell::Shared(Arc::clone(hist))),
        (float, None) => float.map(|(_, value)| Cell::Float(*value)),
    }
}

pub(crate) fn first(_: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    let (floats, hists) = (window.floats, window.hists);
    let float = floats.ts.first().zip(floats.values.first());
    let hist = hists.ts.first().zip(hists.values.first());
    Ok(one(float, hist, |float, hist| float < hist))
}

pub(crate) fn last(_: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    let (floats, hists) = (window.floats, window.hists);
    let float = floats.ts.last().zip(floats.values.last());
    let hist = hists.ts.last().zip(hists.values.last());
    Ok(one(float, hist, |float, hist| hist < float))
}

/// The variance around the mean, both updated value by value with their rounding errors.
fn variance(ev: &Evaluator<'_>, window: &Window<'_>) -> Option<f64> {
    let floats = floats(ev, window)?;
    let mut count = 0.0;
    let (mut mean, mut squares) = (Sum::default(), Sum::default());
    for value in floats.values {
        count += 1.0;
        let delta = value - mean.total();
        mean = mean.plus(delta / count);
        squares = squares.plus(delta * (value - mean.total()));
    }
    Some(squares.total() / count)
}

pub(crate) fn stdvar(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    Ok(variance(ev, window).map(Cell::Float))
}

pub(crate) fn stddev(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    Ok(variance(ev, window).map(|variance| Cell::Float(variance.sqrt())))
}

pub(crate) fn quantile(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    let quantile = window.params.first().copied().unwrap_or(f64::NAN);
    if window.floats.is_empty() {
        return Ok(None);
    }
    notes::bad_quantile(ev, window.at, quantile);
    Ok(floats(ev, window)
        .map(|floats| Cell::Float(quantile_of(quantile, &mut floats.values.to_vec()))))
}

pub(crate) fn mad(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    let Some(floats) = floats(ev, window) else {
        return Ok(None);
    };
    if floats.values.iter().any(|value| value.is_nan()) {
        return float(f64::NAN);
    }
    let mut values = floats.values.to_vec();
    let median = quantile_of(0.5, &mut values);
    for value in &mut values {
        *value = (*value - median).abs();
    }
    float(quantile_of(0.5, &mut values))
}
