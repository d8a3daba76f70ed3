//! Floats in, sums and means out that do not lose small terms next to big ones.

/// A sum with its running error (Kahan's algorithm with Neumaier's improvement).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    /// The sum so far.
    pub(crate) sum: f64,
    /// What rounding has taken from it so far.
    pub(crate) error: f64,
}

impl Sum {
    /// A sum of one term.
    pub(crate) fn of(first: f64) -> Self {
        Self {
            sum: first,
            error: 0.0,
        }
    }

    /// The sum with one more term.
    #[must_use]
    #[inline]
    pub(crate) fn plus(self, term: f64) -> Self {
        let total = self.sum + term;
        let error = if total.is_infinite() {
            0.0
        } else if self.sum.abs() >= term.abs() {
            self.error + ((self.sum - total) + term)
        } else {
            self.error + ((term - total) + self.sum)
        };
        Self { sum: total, error }
    }

    /// Sum and error together.
    #[inline]
    pub(crate) fn total(self) -> f64 {
        self.sum + self.error
    }
}

/// A mean: the exact sum divided at the end, or, from where the sum would overflow, updated
/// incrementally.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mean {
    sum: Sum,
    count: f64,
    incremental: bool,
}

impl Mean {
    /// The mean of one term.
    pub(crate) fn of(first: f64) -> Self {
        Self {
            sum: Sum::of(first),
            count: 1.0,
            incremental: false,
        }
    }

    /// Takes one more term in.
    #[inline]
    pub(crate) fn add(&mut self, term: f64) {
        self.count += 1.0;
        if !self.incremental {
            let next = self.sum.plus(term);
            if !next.sum.is_infinite() {
                self.sum = next;
                return;
            }
            self.incremental = true;
            let before = self.count - 1.0;
            self.sum = Sum {
                sum: self.sum.sum / before,
                error: self.sum.error / before,
            };
        }
        let share = (self.count - 1.0) / self.count;
        let scaled = Sum {
            sum: share * self.sum.sum,
            error: share * self.sum.error,
        };
        self.sum = scaled.plus(term / self.count);
    }

    /// The mean of all terms taken in.
    pub(crate) fn value(self) -> f64 {
        if self.incremental {
            self.sum.total()
        } else {
            self.sum.sum / self.count + self.sum.error / self.count
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(terms: &[f64]) -> f64 {
        terms
            .iter()
            .fold(Sum::default(), |sum, term| sum.plus(*term))
            .total()
    }

    #[test]
    fn ten_tenths_are_one_and_big_terms_do_not_swallow_small_ones() {
        assert_eq!(sum(&[0.1; 10]), 1.0);
        assert_eq!(sum(&[1e100, 1.0, -1e100]), 1.0);
        assert_eq!(sum(&[f64::INFINITY, 1.0]), f64::INFINITY);
    }

    #[test]
    fn a_mean_survives_a_sum_that_overflows() {
        let mut mean = Mean::of(1.7e308);
        mean.add(1.7e308);
        assert_eq!(mean.value(), 1.7e308);
        let mut mean = Mean::of(1.0);
        mean.add(2.0);
        assert_eq!(mean.value(), 1.5);
    }
}
