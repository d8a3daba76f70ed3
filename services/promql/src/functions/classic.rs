//! Classic histogram buckets in, quantiles and fractions out.

use crate::annotations::Forced;

/// One cumulative bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bucket {
    pub(crate) bound: f64,
    pub(crate) count: f64,
}

/// Counts that differ by less than this share are equal but for rounding.
const TOLERANCE: f64 = 1e-12;

/// The quantile of buckets in ascending order of their bounds, and where counts had to be raised.
pub(crate) fn quantile(quantile: f64, buckets: &mut Vec<Bucket>) -> (f64, Option<Forced>) {
    if quantile.is_nan() {
        return (f64::NAN, None);
    }
    if quantile < 0.0 {
        return (f64::NEG_INFINITY, None);
    }
    if quantile > 1.0 {
        return (f64::INFINITY, None);
    }
    if buckets
        .last()
        .is_none_or(|last| last.bound != f64::INFINITY)
    {
        return (f64::NAN, None);
    }
    coalesce(buckets);
    let forced = make_monotonic(buckets);
    let [.., before_last, last] = buckets.as_slice() else {
        return (f64::NAN, forced);
    };
    if last.count == 0.0 {
        return (f64::NAN, forced);
    }
    let rank = quantile * last.count;
    let at = buckets[..buckets.len() - 1]
        .iter()
        .position(|bucket| bucket.count >= rank)
        .unwrap_or(buckets.len() - 1);
    let value = if at == buckets.len() - 1 {
        before_last.bound
    } else if at == 0 && buckets[0].bound <= 0.0 {
        buckets[0].bound
    } else {
        inside(buckets, at, rank)
    };
    (value, forced)
}

/// Linear interpolation inside bucket `at`.
fn inside(buckets: &[Bucket], at: usize, mut rank: f64) -> f64 {
    let Bucket {
        bound: end,
        mut count,
    } = buckets[at];
    let mut start = 0.0;
    if at > 0 {
        start = buckets[at - 1].bound;
        count -= buckets[at - 1].count;
        rank -= buckets[at - 1].count;
    }
    start + (end - start) * (rank / count)
}

/// The share of observations between two values, of buckets in ascending order of their bounds.
pub(crate) fn fraction(lower: f64, upper: f64, buckets: &mut Vec<Bucket>) -> f64 {
    if buckets
        .last()
        .is_none_or(|last| last.bound != f64::INFINITY)
    {
        return f64::NAN;
    }
    coalesce(buckets);
    let total = buckets.last().map_or(0.0, |last| last.count);
    if total == 0.0 || lower.is_nan() || upper.is_nan() {
        return f64::NAN;
    }
    if lower >= upper {
        return 0.0;
    }
    let rank = |value| match rank_of(value, buckets) {
        Some(rank) if rank > total => total,
        Some(rank) => rank,
        None => total,
    };
    (rank(upper) - rank(lower)) / total
}

/// How many observations are below `value`; `None` where it is above all bounds.
fn rank_of(value: f64, buckets: &[Bucket]) -> Option<f64> {
    let mut start = if buckets.first()?.bound <= 0.0 {
        f64::NEG_INFINITY
    } else {
        0.0
    };
    let mut below = 0.0;
    for bucket in buckets {
        if start >= value {
            return Some(below);
        }
        if bucket.bound > value {
            if start == f64::NEG_INFINITY {
                return Some(bucket.count);
            }
            let share = (bucket.count - below) * (value - start) / (bucket.bound - start);
            return Some(below + share);
        }
        below = bucket.count;
        start = bucket.bound;
    }
    None
}

/// Adds up the counts of buckets with the same bound.
fn coalesce(buckets: &mut Vec<Bucket>) {
    buckets.dedup_by(|next, kept| {
        let same = next.bound == kept.bound;
        if same {
            kept.count += next.count;
        }
        same
    });
}

/// Evens out rounding, then raises every count that is below an earlier one.
fn make_monotonic(buckets: &mut [Bucket]) -> Option<Forced> {
    let (first, rest) = buckets.split_first_mut()?;
    let mut forced: Option<Forced> = None;
    let mut previous = first.count;
    for bucket in rest {
        let count = bucket.count;
        if count == previous {
            continue;
        }
        if almost_equal(previous, count) {
            bucket.count = previous;
        } else if count < previous {
            bucket.count = previous;
            let new = Forced {
                min_bucket: bucket.bound,
                max_bucket: bucket.bound,
                max_diff: previous - count,
                first: 0,
                last: 0,
                samples: 1,
            };
            forced = Some(match forced {
                None => new,
                Some(old) => Forced {
                    min_bucket: old.min_bucket.min(new.min_bucket),
                    max_bucket: old.max_bucket.max(new.max_bucket),
                    max_diff: old.max_diff.max(new.max_diff),
                    ..old
                },
            });
        } else {
            previous = count;
        }
    }
    forced
}

fn almost_equal(left: f64, right: f64) -> bool {
    if left.is_nan() && right.is_nan() || left == right {
        return true;
    }
    let sum = left.abs() + right.abs();
    let difference = (left - right).abs();
    if left == 0.0 || right == 0.0 || sum < f64::MIN_POSITIVE {
        return difference < TOLERANCE * f64::MIN_POSITIVE;
    }
    difference / sum.min(f64::MAX) < TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(pairs: &[(f64, f64)]) -> Vec<Bucket> {
        pairs
            .iter()
            .map(|(bound, count)| Bucket {
                bound: *bound,
                count: *count,
            })
            .collect()
    }

    const INF: f64 = f64::INFINITY;

    #[test]
    fn quantiles_interpolate_linearly_between_bounds() {
        let all = [(1.0, 10.0), (2.0, 20.0), (INF, 20.0)];
        assert_eq!(quantile(0.75, &mut buckets(&all)).0, 1.5);
        assert_eq!(quantile(0.25, &mut buckets(&all)).0, 0.5);
        assert_eq!(quantile(1.0, &mut buckets(&all)).0, 2.0);
        assert_eq!(quantile(-0.1, &mut buckets(&all)).0, f64::NEG_INFINITY);
    }

    #[test]
    fn the_infinite_bucket_answers_with_the_highest_bound_and_its_absence_with_nan() {
        assert_eq!(
            quantile(0.9, &mut buckets(&[(1.0, 1.0), (INF, 10.0)])).0,
            1.0
        );
        assert!(
            quantile(0.9, &mut buckets(&[(1.0, 1.0), (2.0, 10.0)]))
                .0
                .is_nan()
        );
        assert!(quantile(0.9, &mut buckets(&[(INF, 10.0)])).0.is_nan());
        assert_eq!(
            quantile(0.1, &mut buckets(&[(-1.0, 5.0), (INF, 10.0)])).0,
            -1.0
        );
    }

    #[test]
    fn falling_counts_are_raised_and_reported_but_rounding_is_not() {
        let (_, forced) = quantile(0.5, &mut buckets(&[(1.0, 10.0), (2.0, 7.0), (INF, 20.0)]));
        let forced = forced.unwrap();
        assert_eq!(
            (forced.min_bucket, forced.max_bucket, forced.max_diff),
            (2.0, 2.0, 3.0)
        );
        let rounding = [(1.0, 10.0), (2.0, 10.0 - 1e-13), (INF, 20.0)];
        assert_eq!(quantile(0.5, &mut buckets(&rounding)).1, None);
    }

    #[test]
    fn fractions_are_the_inverse_of_quantiles() {
        let all = [(1.0, 10.0), (2.0, 20.0), (INF, 40.0)];
        assert_eq!(fraction(0.0, 1.5, &mut buckets(&all)), 15.0 / 40.0);
        assert_eq!(fraction(f64::NEG_INFINITY, INF, &mut buckets(&all)), 1.0);
        assert_eq!(fraction(2.0, 1.0, &mut buckets(&all)), 0.0);
        assert_eq!(fraction(2.0, INF, &mut buckets(&all)), 0.5);
    }
}
