//! Many histograms become their sum or mean with little rounding error.

use std::sync::Arc;

use crate::kahan::Sum;

use super::arith::Combined;
use super::buckets::{Side, union};
use super::resolution::coarser_compensated;
use super::zero::first_above;
use super::{Buckets, Histogram, IncompatibleSchemas, ResetHint};

/// Adds `addend` to `sum` whose lost digits so far are `remainder`; both come back.
pub(super) fn kahan(addend: f64, sum: f64, remainder: f64) -> (f64, f64) {
    let Sum { sum, error } = Sum {
        sum,
        error: remainder,
    }
    .plus(addend);
    (sum, error)
}

/// A running sum of histograms, for `sum` and `sum_over_time`.
#[derive(Clone, Debug)]
pub struct HistogramSum {
    value: Histogram,
    /// What rounding lost from `value`, in the same layout; nothing before the first addition.
    remainders: Option<Histogram>,
    smoothed: Smoothed,
}

/// A running mean of histograms, for `avg` and `avg_over_time`: a sum as long as that does not overflow, an
/// incremental mean from then on.
#[derive(Clone, Debug)]
pub struct HistogramMean {
    /// The sum, or the mean once `incremental` is set.
    value: Histogram,
    remainders: Option<Histogram>,
    incremental: bool,
    count: f64,
    smoothed: Smoothed,
}

/// What was seen that makes annotations.
#[derive(Clone, Copy, Debug, Default)]
struct Smoothed {
    reset: bool,
    not_reset: bool,
    bounds_reconciled: bool,
}

impl Smoothed {
    fn see(&mut self, histogram: &Histogram) {
        self.reset |= histogram.reset_hint == ResetHint::Reset;
        self.not_reset |= histogram.reset_hint == ResetHint::NotReset;
    }

    fn combined(self) -> Combined {
        Combined {
            reset_collision: self.reset && self.not_reset,
            bounds_reconciled: self.bounds_reconciled,
        }
    }
}

impl HistogramSum {
    /// A sum of one histogram.
    #[must_use]
    pub fn new(first: &Histogram) -> Self {
        let mut smoothed = Smoothed::default();
        smoothed.see(first);
        Self {
            value: first.clone(),
            remainders: None,
            smoothed,
        }
    }

    /// Adds one histogram.
    ///
    /// # Errors
    /// It has custom bounds and the sum has not, or the other way round; the sum is worthless then.
    pub fn add(&mut self, histogram: &Histogram) -> Result<(), IncompatibleSchemas> {
        self.smoothed.see(histogram);
        self.smoothed.bounds_reconciled |= self
            .value
            .add_compensated(histogram, &mut self.remainders)?;
        Ok(())
    }

    /// What has been smoothed over so far.
    #[must_use]
    pub fn combined(&self) -> Combined {
        self.smoothed.combined()
    }

    /// The sum, not compacted (`sum` compacts it, `sum_over_time` does not).
    #[must_use]
    pub fn finish(mut self) -> Histogram {
        self.value.settle(self.remainders.as_ref());
        self.value
    }
}

impl HistogramMean {
    /// The mean of one histogram.
    #[must_use]
    pub fn new(first: &Histogram) -> Self {
        let HistogramSum {
            value,
            remainders,
            smoothed,
        } = HistogramSum::new(first);
        Self {
            value,
            remainders,
            incremental: false,
            count: 1.0,
            smoothed,
        }
    }

    /// Takes one more histogram into the mean.
    ///
    /// # Errors
    /// It has custom bounds and the mean has not, or the other way round; the mean is worthless then.
    pub fn add(&mut self, histogram: &Histogram) -> Result<(), IncompatibleSchemas> {
        self.smoothed.see(histogram);
        self.count += 1.0;
        if !self.incremental {
            let (mut sum, mut remainders) = (self.value.clone(), self.remainders.clone());
            self.smoothed.bounds_reconciled |= sum.add_compensated(histogram, &mut remainders)?;
            if !sum.has_overflow() {
                (self.value, self.remainders) = (sum, remainders);
                return Ok(());
            }
            self.incremental = true;
            self.value.div(self.count - 1.0);
            if let Some(remainders) = &mut self.remainders {
                remainders.div(self.count - 1.0);
            }
        }
        let weight = (self.count - 1.0) / self.count;
        if let Some(remainders) = &mut self.remainders {
            remainders.mul(weight);
        }
        self.value.mul(weight);
        let mut share = histogram.clone();
        share.div(self.count);
        self.smoothed.bounds_reconciled |=
            self.value.add_compensated(&share, &mut self.remainders)?;
        Ok(())
    }

    /// What has been smoothed over so far.
    #[must_use]
    pub fn combined(&self) -> Combined {
        self.smoothed.combined()
    }

    /// The mean, not compacted (`avg` compacts it, `avg_over_time` does not).
    #[must_use]
    pub fn finish(mut self) -> Histogram {
        if !self.incremental {
            self.value.div(self.count);
            if let Some(remainders) = &mut self.remainders {
                remainders.div(self.count);
            }
        }
        self.value.settle(self.remainders.as_ref());
        self.value
    }
}

impl Histogram {
    /// Adds what rounding lost. Both are of one kind, so this cannot fail.
    fn settle(&mut self, remainders: Option<&Self>) {
        if let Some(remainders) = remainders {
            debug_assert_eq!(
                self.has_custom_bounds(),
                remainders.has_custom_bounds(),
                "one kind of buckets"
            );
            self.add(remainders).ok();
        }
    }

    /// As [`Self::add`], with rounding errors collected in `remainders`. Says whether custom bounds differed.
    fn add_compensated(
        &mut self,
        other: &Self,
        remainders: &mut Option<Self>,
    ) -> Result<bool, IncompatibleSchemas> {
        self.begin_combining(other)?;
        let rests = remainders.get_or_insert_with(|| self.no_remainders());
        if !self.has_custom_bounds() {
            let (count, remainder) = self.reconcile_zero(other, Some(&mut *rests));
            for addend in [count, remainder] {
                (self.zero_count, rests.zero_count) =
                    kahan(addend, self.zero_count, rests.zero_count);
            }
        }
        (self.count, rests.count) = kahan(other.count, self.count, rests.count);
        (self.sum, rests.sum) = kahan(other.sum, self.sum, rests.sum);
        let bounds_differ = self.bounds_differ(other);
        if bounds_differ {
            rests.positive = self.combine_custom(other, 1.0, Some(&rests.positive));
            rests.custom_bounds = Arc::clone(&self.custom_bounds);
        } else {
            self.add_buckets_compensated(other, rests);
            rests.schema = self.schema;
            rests.zero_threshold = self.zero_threshold;
        }
        Ok(bounds_differ)
    }

    fn no_remainders(&self) -> Self {
        Self {
            reset_hint: self.reset_hint,
            schema: self.schema,
            zero_threshold: self.zero_threshold,
            custom_bounds: Arc::clone(&self.custom_bounds),
            positive: self.positive.zeroed(),
            negative: self.negative.zeroed(),
            ..Self::default()
        }
    }

    fn add_buckets_compensated(&mut self, other: &Self, rests: &mut Self) {
        if other.schema < self.schema {
            (self.positive, rests.positive) =
                coarser_compensated(&self.positive, &rests.positive, self.schema, other.schema);
            (self.negative, rests.negative) =
                coarser_compensated(&self.negative, &rests.negative, self.schema, other.schema);
            self.schema = other.schema;
        }
        let (schema, threshold) = (self.schema, self.zero_threshold);
        let add = |mine: &mut Buckets, rests: &mut Buckets, theirs: &Buckets| {
            if other.schema > schema {
                let (theirs, their_rests) =
                    coarser_compensated(theirs, &theirs.zeroed(), other.schema, schema);
                let from = first_above(&theirs, schema, threshold);
                add_compensated(mine, rests, (&theirs, Some(&their_rests)), from);
            } else {
                let from = first_above(theirs, schema, threshold);
                add_compensated(mine, rests, (theirs, None), from);
            }
        };
        add(&mut self.positive, &mut rests.positive, &other.positive);
        add(&mut self.negative, &mut rests.negative, &other.negative);
    }
}

/// Adds `theirs` (counts, and remainders if they have any) from position `from` on to `mine`, whose
/// remainders are `rests`, in the same layout.
fn add_compensated(
    mine: &mut Buckets,
    rests: &mut Buckets,
    theirs: (&Buckets, Option<&Buckets>),
    from: usize,
) {
    let indexes = theirs.0.indexes().get(from..).unwrap_or(&[]);
    let theirs_at = |at: usize| {
        (
            theirs.0.counts()[from + at],
            theirs.1.map_or(0.0, |rests| rests.counts()[from + at]),
        )
    };
    let sum = |(mut count, mut rest): (f64, f64), (addend, addend_rest): (f64, f64)| {
        (count, rest) = kahan(addend, count, rest);
        if addend_rest != 0.0 {
            (count, rest) = kahan(addend_rest, count, rest);
        }
        (count, rest)
    };
    if mine.indexes() == indexes {
        let pairs = mine
            .counts_mut()
            .iter_mut()
            .zip(rests.counts_mut())
            .enumerate();
        pairs.for_each(|(at, (count, rest))| (*count, *rest) = sum((*count, *rest), theirs_at(at)));
        return;
    }
    let capacity = mine.len().max(indexes.len());
    let (mut counts, mut remainders) = (
        Buckets::with_capacity(capacity),
        Buckets::with_capacity(capacity),
    );
    for (index, side) in union(mine.indexes(), indexes) {
        let (count, rest) = match side {
            Side::Left(at) => (mine.counts()[at], rests.counts()[at]),
            Side::Right(at) => theirs_at(at),
            Side::Both(at, their) => sum((mine.counts()[at], rests.counts()[at]), theirs_at(their)),
        };
        counts.push(index, count);
        remainders.push(index, rest);
    }
    (*mine, *rests) = (counts, remainders);
}
