//! Sums, differences, products and quotients of histograms, in place.

use std::borrow::Cow;
use std::sync::Arc;

use super::resolution::coarser;
use super::zero::first_above;
use super::{Buckets, Histogram, IncompatibleSchemas, ResetHint};

/// What had to be smoothed over while histograms were combined; each makes an annotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Combined {
    /// One histogram was hinted to come after a counter reset, another not to ("conflicting counter resets").
    pub reset_collision: bool,
    /// Custom bounds differed, and only the shared ones were kept ("mismatched custom buckets").
    pub bounds_reconciled: bool,
}

impl Histogram {
    /// Adds `other` in place: zero buckets widened, schemas coarsened, custom bounds reduced to the shared
    /// ones as needed. The result may hold empty explicit buckets ([`Self::compact`] drops them).
    ///
    /// # Errors
    /// One histogram has custom bounds, the other not; this one is unchanged then.
    pub fn add(&mut self, other: &Self) -> Result<Combined, IncompatibleSchemas> {
        self.combine(other, 1.0)
    }

    /// Subtracts `other` in place, as [`Self::add`] adds. PromQL's `-` marks the result as a gauge; this
    /// does not.
    ///
    /// # Errors
    /// One histogram has custom bounds, the other not; this one is unchanged then.
    pub fn sub(&mut self, other: &Self) -> Result<Combined, IncompatibleSchemas> {
        self.combine(other, -1.0)
    }

    /// Multiplies all counts and the sum by `factor`. A negative factor makes a gauge.
    pub fn mul(&mut self, factor: f64) {
        self.map_numbers(|number| number * factor);
        if factor < 0.0 {
            self.reset_hint = ResetHint::Gauge;
        }
    }

    /// Divides all counts and the sum by `divisor`. A negative divisor makes a gauge; zero removes all
    /// buckets but the zero bucket.
    pub fn div(&mut self, divisor: f64) {
        if divisor == 0.0 {
            self.positive = Buckets::default();
            self.negative = Buckets::default();
        }
        self.map_numbers(|number| number / divisor);
        if divisor < 0.0 {
            self.reset_hint = ResetHint::Gauge;
        }
    }

    /// The histogram of PromQL's unary minus: all counts and the sum negated, a gauge.
    #[must_use]
    pub fn neg(&self) -> Self {
        let mut negated = self.clone();
        negated.mul(-1.0);
        negated
    }

    fn map_numbers(&mut self, map: impl Fn(f64) -> f64) {
        self.zero_count = map(self.zero_count);
        self.count = map(self.count);
        self.sum = map(self.sum);
        let buckets = self
            .positive
            .counts_mut()
            .iter_mut()
            .chain(self.negative.counts_mut());
        buckets.for_each(|count| *count = map(*count));
    }

    fn combine(&mut self, other: &Self, sign: f64) -> Result<Combined, IncompatibleSchemas> {
        let reset_collision = self.begin_combining(other)?;
        if !self.has_custom_bounds() {
            let (zero_count, _) = self.reconcile_zero(other, None);
            self.zero_count += sign * zero_count;
        }
        self.count += sign * other.count;
        self.sum += sign * other.sum;
        let bounds_reconciled = self.bounds_differ(other);
        if bounds_reconciled {
            self.combine_custom(other, sign, None);
        } else {
            self.combine_buckets(other, sign);
        }
        Ok(Combined {
            reset_collision,
            bounds_reconciled,
        })
    }

    fn combine_buckets(&mut self, other: &Self, sign: f64) {
        self.reduce_resolution(other.schema);
        let (schema, threshold) = (self.schema, self.zero_threshold);
        let add = |mine: &mut Buckets, theirs: &Buckets| {
            let theirs = at_coarser_schema(theirs, other.schema, schema);
            mine.add(&theirs, first_above(&theirs, schema, threshold), sign);
        };
        add(&mut self.positive, &other.positive);
        add(&mut self.negative, &other.negative);
    }

    /// Checks that the histograms can be combined and merges their hints; says whether those collided.
    pub(super) fn begin_combining(&mut self, other: &Self) -> Result<bool, IncompatibleSchemas> {
        if self.has_custom_bounds() != other.has_custom_bounds() {
            return Err(IncompatibleSchemas);
        }
        let (hint, collision) = match (self.reset_hint, other.reset_hint) {
            (mine, theirs) if mine == theirs => (mine, false),
            (ResetHint::Gauge, _) | (_, ResetHint::Gauge) => (ResetHint::Gauge, false),
            (ResetHint::Unknown, _) | (_, ResetHint::Unknown) => (ResetHint::Unknown, false),
            _ => (ResetHint::Unknown, true),
        };
        self.reset_hint = hint;
        Ok(collision)
    }

    /// Whether both have custom bounds, and these differ.
    pub(super) fn bounds_differ(&self, other: &Self) -> bool {
        self.has_custom_bounds()
            && !Arc::ptr_eq(&self.custom_bounds, &other.custom_bounds)
            && self.custom_bounds != other.custom_bounds
    }
}

/// `buckets` of schema `from` at schema `to`, unchanged if that is not coarser.
pub(super) fn at_coarser_schema(buckets: &Buckets, from: i32, to: i32) -> Cow<'_, Buckets> {
    if from > to {
        Cow::Owned(coarser(buckets, from, to))
    } else {
        Cow::Borrowed(buckets)
    }
}
