//! Native histograms as plain values: counts per bucket in, arithmetic, quantiles and text out.

use std::sync::Arc;

/// The schema number that says "the bounds are listed in [`Histogram::custom_bounds`]".
pub const CUSTOM_SCHEMA: i32 = -53;

/// What is known about a counter reset between the previous sample of a series and this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetHint {
    /// Nothing is known: a reset has to be detected by comparing buckets.
    #[default]
    Unknown,
    /// The counter was reset just before this sample.
    Reset,
    /// The counter was not reset just before this sample.
    NotReset,
    /// The histogram is a gauge: it has no resets and must not be used with `rate`.
    Gauge,
}

/// The populated buckets of one sign, in ascending index; an index that is absent has count zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets {
    /// Bucket indexes, strictly ascending.
    pub indexes: Vec<i32>,
    /// Counts of observations, one for each index (not cumulative).
    pub counts: Vec<f64>,
}

/// A native histogram with float counts: exponential buckets or custom bounds.
///
/// With an exponential schema `s` the positive bucket of index `i` is `(b^(i-1), b^i]` where
/// `b = 2^(2^-s)`; negative buckets mirror it. With [`CUSTOM_SCHEMA`] the positive bucket of index `i` is
/// `(bounds[i-1], bounds[i]]`, the first being open below and the one after the last bound open above.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// What is known about a reset before this sample.
    pub reset_hint: ResetHint,
    /// Resolution: -4 to 8, or [`CUSTOM_SCHEMA`].
    pub schema: i32,
    /// Half the width of the zero bucket, which is `[-zero_threshold, zero_threshold]`.
    pub zero_threshold: f64,
    /// Observations in the zero bucket.
    pub zero_count: f64,
    /// All observations, those that fell into no bucket (NaN) included.
    pub count: f64,
    /// Sum of all observations; the stale NaN in a stale marker.
    pub sum: f64,
    /// Buckets above zero, or all buckets of a histogram with custom bounds.
    pub positive: Buckets,
    /// Buckets below zero, by ascending distance from zero.
    pub negative: Buckets,
    /// Upper bounds, strictly ascending, without the implied +Inf; empty for exponential schemas.
    pub custom_bounds: Arc<[f64]>,
}
