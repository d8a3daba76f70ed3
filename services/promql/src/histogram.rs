//! Native histograms as plain values: counts per bucket in, arithmetic, quantiles and text out.
//!
//! Results are those of Prometheus 3.14's float histograms, bit for bit: the same order of additions, the
//! same compensation of rounding, the same bucket bounds.

mod bounds;
mod buckets;
mod build;
mod resolution;
mod zero;
mod custom;
mod arith;
mod compensated;
mod resets;
mod rate;
mod iterate;
mod interpolate;
mod quantile;
mod fraction;
mod stats;
mod trim;
mod display;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use thiserror::Error;

use crate::series::{STALE_NAN, is_stale};

pub use arith::Combined;
pub use buckets::Buckets;
pub use build::{DEFAULT_ZERO_THRESHOLD, Dense, Exponential};
pub use compensated::{HistogramMean, HistogramSum};
pub use iterate::Bucket;
pub use quantile::NanNote;
pub use rate::{Difference, RateKind, RateNote};

/// The schema number that says "the bounds are listed in [`Histogram::custom_bounds`]".
pub const CUSTOM_SCHEMA: i32 = -53;
/// The coarsest exponential schema: each bucket is 65,536 times wider than the one below.
pub const MIN_SCHEMA: i32 = -4;
/// The finest exponential schema: 256 buckets for each power of two.
pub const MAX_SCHEMA: i32 = 8;

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

/// A native histogram with float counts: exponential buckets or custom bounds.
///
/// With an exponential schema `s` the positive bucket of index `i` is `(b^(i-1), b^i]` where
/// `b = 2^(2^-s)`; negative buckets mirror it. With [`CUSTOM_SCHEMA`] the positive bucket of index `i` is
/// `(bounds[i-1], bounds[i]]`, the first being open below and the one after the last bound open above.
///
/// Two histograms are equal (`==`) as PromQL's `==` sees it: same schema, bounds and bucket layout (an
/// explicit empty bucket counts as layout), and all numbers equal bit for bit; reset hints are ignored.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// What is known about a reset before this sample.
    pub reset_hint: ResetHint,
    /// Resolution: [`MIN_SCHEMA`] to [`MAX_SCHEMA`], or [`CUSTOM_SCHEMA`].
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

/// Why numbers do not make a histogram.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum HistogramError {
    /// The schema is neither exponential nor the custom one.
    #[error("histogram schema is {0}, but must be between -4 and 8, or -53 for custom bounds")]
    Schema(i32),
    /// Custom bounds are not finite and strictly ascending.
    #[error(
        "custom bounds of a histogram must be finite and strictly ascending, got {previous} before {bound}"
    )]
    Bounds {
        /// The bound before the offending one; -Inf if there is none.
        previous: f64,
        /// The offending bound.
        bound: f64,
    },
    /// A bucket lies beyond the last bound, or its index does not fit.
    #[error("bucket index {index} of a histogram is outside its {bounds} custom bounds")]
    Index {
        /// The offending index.
        index: i64,
        /// How many bounds there are; 0 for exponential schemas.
        bounds: usize,
    },
    /// Bucket indexes do not ascend, or are not as many as the counts.
    #[error("bucket indexes of a histogram must ascend strictly, with one count each")]
    Layout,
    /// A count is below zero.
    #[error("a count of a histogram is negative: {0}")]
    NegativeCount(f64),
    /// The zero bucket or negative buckets are used together with custom bounds, or bounds with an exponential schema.
    #[error("a histogram has either custom bounds or a zero bucket and negative buckets, not both")]
    MixedKinds,
}

/// Two histograms cannot be combined: one has exponential buckets, the other custom bounds.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("cannot combine a histogram with exponential buckets and one with custom bounds")]
pub struct IncompatibleSchemas;

impl Histogram {
    /// The histogram that ends a series.
    #[must_use]
    pub fn stale() -> Self {
        Self {
            sum: f64::from_bits(STALE_NAN),
            ..Self::default()
        }
    }

    /// Whether this is the marker that ends a series.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        is_stale(self.sum)
    }

    /// Whether the buckets are given by [`Self::custom_bounds`].
    #[must_use]
    pub fn has_custom_bounds(&self) -> bool {
        self.schema == CUSTOM_SCHEMA
    }

    /// Checks the rules that every operation relies on: a known schema, ascending finite bounds, no
    /// negative count, no zero or negative buckets beside custom bounds. That the buckets add up to
    /// `count` is not checked, since rounding and NaN observations break it legitimately.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn validate(&self) -> Result<(), HistogramError> {
        if self.has_custom_bounds() {
            custom::check_bounds(&self.custom_bounds)?;
            self.check_custom_indexes()?;
            if self.zero_count != 0.0 || self.zero_threshold != 0.0 || !self.negative.is_empty() {
                return Err(HistogramError::MixedKinds);
            }
        } else if (MIN_SCHEMA..=MAX_SCHEMA).contains(&self.schema) {
            if !self.custom_bounds.is_empty() {
                return Err(HistogramError::MixedKinds);
            }
        } else {
            return Err(HistogramError::Schema(self.schema));
        }
        let counts = [self.zero_count, self.count];
        let buckets = self
            .negative
            .iter()
            .chain(self.positive.iter())
            .map(|(_, count)| count);
        match counts.into_iter().chain(buckets).find(|count| *count < 0.0) {
            Some(count) => Err(HistogramError::NegativeCount(count)),
            None => Ok(()),
        }
    }

    fn check_custom_indexes(&self) -> Result<(), HistogramError> {
        let bounds = self.custom_bounds.len();
        let outside = |index: i32| usize::try_from(index).map_or(true, |index| index > bounds);
        match self.positive.iter().find(|(index, _)| outside(*index)) {
            Some((index, _)) => Err(HistogramError::Index {
                index: i64::from(index),
                bounds,
            }),
            None => Ok(()),
        }
    }

    /// Drops explicit buckets without observations.
    pub fn compact(&mut self) {
        self.positive.compact();
        self.negative.compact();
    }

    /// Whether any number has overflowed to an infinity.
    #[must_use]
    pub fn has_overflow(&self) -> bool {
        let totals = [self.zero_count, self.count, self.sum];
        let buckets = self
            .positive
            .iter()
            .chain(self.negative.iter())
            .map(|(_, count)| count);
        let bounds = self.custom_bounds.iter().copied();
        totals
            .into_iter()
            .chain(buckets)
            .chain(bounds)
            .any(f64::is_infinite)
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.schema == other.schema
            && self.count.to_bits() == other.count.to_bits()
            && self.sum.to_bits() == other.sum.to_bits()
            && (!self.has_custom_bounds() || self.custom_bounds == other.custom_bounds)
            && self.zero_threshold == other.zero_threshold
            && self.zero_count.to_bits() == other.zero_count.to_bits()
            && self.negative.same_bits(&other.negative)
            && self.positive.same_bits(&other.positive)
    }
}
