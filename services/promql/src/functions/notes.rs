//! Remarks that several functions make, in Prometheus' words.

use crate::eval::Evaluator;
use crate::eval::range::Window;
use crate::number::{general, quote};

/// Floats and histograms in one window.
pub(crate) fn mixed(ev: &Evaluator<'_>, window: &Window<'_>) {
    let name = quote(window.name());
    let text = format!("encountered a mix of histograms and floats for metric name {name}");
    ev.note(|all| all.warn(window.at, text));
}

/// Exponential buckets and custom bounds in one window.
pub(crate) fn mixed_schemas(ev: &Evaluator<'_>, window: &Window<'_>) {
    mixed_schemas_of(ev, window.at, window.name());
}

/// Exponential buckets and custom bounds for one metric.
pub(crate) fn mixed_schemas_of(ev: &Evaluator<'_>, at: usize, name: &str) {
    let text = format!(
        "vector contains a mix of histograms with exponential and custom buckets schemas for metric name {}",
        quote(name)
    );
    ev.note(|all| all.warn(at, text));
}

/// A counter function met a gauge histogram.
pub(crate) fn not_a_counter(ev: &Evaluator<'_>, window: &Window<'_>) {
    let text = format!(
        "this native histogram metric is not a counter: {}",
        quote(window.name())
    );
    ev.note(|all| all.warn(window.at, text));
}

/// A gauge function met a counter histogram.
pub(crate) fn not_a_gauge(ev: &Evaluator<'_>, window: &Window<'_>) {
    let text = format!(
        "this native histogram metric is not a gauge: {}",
        quote(window.name())
    );
    ev.note(|all| all.warn(window.at, text));
}

/// Custom bounds differed; `operation` is a noun.
pub(crate) fn reconciled(ev: &Evaluator<'_>, at: usize, operation: &str) {
    let text = format!("mismatched custom buckets were reconciled during {operation}");
    ev.note(|all| all.info(at, text));
}

/// What was known about resets contradicts itself.
pub(crate) fn reset_collision(ev: &Evaluator<'_>, at: usize, operation: &str) {
    let text = format!("conflicting counter resets during histogram {operation}");
    ev.note(|all| all.warn(at, text));
}

/// A function of floats passed over histograms.
pub(crate) fn histograms_ignored(ev: &Evaluator<'_>, window: &Window<'_>) {
    let text = format!(
        "ignored histograms in a range containing both floats and histograms for metric name {}",
        quote(window.name())
    );
    ev.note(|all| all.info(window.at, text));
}

/// A quantile outside 0 to 1.
pub(crate) fn bad_quantile(ev: &Evaluator<'_>, at: usize, quantile: f64) {
    if !(0.0..=1.0).contains(&quantile) {
        let got = general(quantile);
        let text = format!("quantile value should be between 0 and 1, got {got}");
        ev.note(|all| all.warn(at, text));
    }
}
