//! Functions that see a line in the samples of a window: its slope, its future, its smoothed end.

use crate::error::EvalError;
use crate::eval::Evaluator;
use crate::eval::range::{Cell, Window};
use crate::eval::raw::Slice;
use crate::kahan::Sum;
use crate::number::{general, seconds};

use super::notes;

type Answer = Result<Option<Cell>, EvalError>;

/// Whether there are two floats to draw a line through; histograms beside floats are remarked on.
fn has_line(ev: &Evaluator<'_>, window: &Window<'_>) -> bool {
    if !window.floats.is_empty() && !window.hists.is_empty() {
        notes::histograms_ignored(ev, window);
    }
    window.floats.len() >= 2
}

pub(crate) fn deriv(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    if !has_line(ev, window) {
        return Ok(None);
    }
    // Times near those of the samples keep the products small, and so exact.
    let (slope, _) = regression(window.floats, window.floats.ts[0]);
    Ok(Some(Cell::Float(slope)))
}

pub(crate) fn predict_linear(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    let duration = window.params.first().copied().unwrap_or(f64::NAN);
    if !has_line(ev, window) {
        return Ok(None);
    }
    let (slope, intercept) = regression(window.floats, window.ts);
    Ok(Some(Cell::Float(slope * duration + intercept)))
}

/// Slope and value at `origin` of the least-squares line.
fn regression(floats: Slice<'_, f64>, origin: i64) -> (f64, f64) {
    let first = floats.values[0];
    if floats.values.iter().all(|value| *value == first) || floats.len() == 1 {
        return if first.is_infinite() {
            (f64::NAN, f64::NAN)
        } else {
            (0.0, first)
        };
    }
    let mut count = 0.0;
    let [mut x, mut y, mut xy, mut xx] = [Sum::default(); 4];
    for (ts, value) in floats.ts.iter().zip(floats.values) {
        count += 1.0;
        let time = seconds(ts - origin);
        x = x.plus(time);
        y = y.plus(*value);
        xy = xy.plus(time * value);
        xx = xx.plus(time * time);
    }
    let [x, y, xy, xx] = [x, y, xy, xx].map(Sum::total);
    let covariance = xy - x * y / count;
    let variance = xx - x * x / count;
    let slope = covariance / variance;
    (slope, y / count - slope * x / count)
}

pub(crate) fn double_exponential_smoothing(ev: &Evaluator<'_>, window: &Window<'_>) -> Answer {
    let [smoothing, trend] = *window.params else {
        return Ok(None);
    };
    check_factor("smoothing", "sf", smoothing)?;
    check_factor("trend", "tf", trend)?;
    if !has_line(ev, window) {
        return Ok(None);
    }
    let values = window.floats.values;
    let (mut before, mut smoothed) = (0.0, values[0]);
    let mut slope = values[1] - values[0];
    for (at, value) in values.iter().enumerate().skip(1) {
        let raw = smoothing * value;
        if at > 1 {
            slope = trend * (smoothed - before) + (1.0 - trend) * slope;
        }
        let carried = (1.0 - smoothing) * (smoothed + slope);
        (before, smoothed) = (smoothed, raw + carried);
    }
    Ok(Some(Cell::Float(smoothed)))
}

fn check_factor(name: &str, short: &str, factor: f64) -> Result<(), EvalError> {
    if factor <= 0.0 || factor >= 1.0 {
        let got = match factor.is_infinite() {
            true => general(factor),
            false => format!("{factor:.6}"),
        };
        let text = format!("invalid {name} factor. Expected: 0 < {short} < 1, got: {got}");
        return Err(EvalError::Execution(text));
    }
    Ok(())
}
