//! Samples in, columns out: the series that a query evaluates over.

use std::sync::Arc;

use crate::histogram::Histogram;
use crate::labels::Labels;

/// The bits of the NaN that ends a series ("stale marker"). Compare bits, never values.
pub const STALE_NAN: u64 = 0x7ff0_0000_0000_0002;

/// Whether `value` is the stale marker rather than an ordinary NaN.
#[must_use]
pub fn is_stale(value: f64) -> bool {
    value.to_bits() == STALE_NAN
}

/// One series' samples inside one window, in ascending time, one sample per timestamp, stale markers
/// included. Times are milliseconds since the Unix epoch. A timestamp is in `floats` or in
/// `histograms`, never in both.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// All labels, `__name__` included.
    pub labels: Labels,
    /// Float samples.
    pub floats: Floats,
    /// Native histogram samples.
    pub histograms: Histograms,
}

/// Float samples as columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Floats {
    /// Sample times, strictly ascending.
    pub ts: Vec<i64>,
    /// Sample values; may be the stale marker.
    pub values: Vec<f64>,
    /// Start times of the counters, 0 where unknown; empty where none is known.
    pub starts: Vec<i64>,
}

/// Native histogram samples as columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Histograms {
    /// Sample times, strictly ascending.
    pub ts: Vec<i64>,
    /// Sample values; a stale marker is a histogram whose sum is the stale NaN.
    pub values: Vec<Arc<Histogram>>,
    /// Start times, 0 where unknown; empty where none is known.
    pub starts: Vec<i64>,
}

/// What one selection (see [`crate::select`]) found, sorted by labels.
#[derive(Clone, Debug, Default)]
pub struct SeriesSet {
    /// The series, in label order, no two with equal labels.
    pub series: Vec<Series>,
}
