//! Quantiles, fractions, mean and variance.

use super::super::NanNote;
use super::{Histogram, assert_close, custom, exponential, run};

/// Two observations in the zero bucket, one in (0.5,1], four in (1,2], two in (2,4].
fn mixed() -> Histogram {
    let mut histogram = exponential(0, &[1.0, 4.0, 2.0], 9.0, 14.0);
    histogram.zero_count = 2.0;
    histogram.zero_threshold = 0.25;
    histogram
}

fn mirrored() -> Histogram {
    let mut histogram = mixed();
    std::mem::swap(&mut histogram.positive, &mut histogram.negative);
    histogram
}

#[test]
fn quantiles_outside_zero_to_one_and_of_nothing_have_no_value() {
    assert_eq!(mixed().quantile(-0.1).0, f64::NEG_INFINITY);
    assert_eq!(mixed().quantile(1.1).0, f64::INFINITY);
    assert!(mixed().quantile(f64::NAN).0.is_nan());
    assert!(exponential(0, &[], 0.0, 0.0).quantile(0.5).0.is_nan());
}

#[test]
fn exponential_buckets_are_interpolated_on_a_logarithmic_scale() {
    // Rank 4.5 is 1.5 of 4 into (1,2]: seen from above, 4.5 - 2 = 2.5 of 4 are left.
    assert_close(mixed().quantile(0.5).0, 2_f64.powf(1.5 / 4.0));
    assert_close(mixed().quantile(8.0 / 9.0).0, 2_f64.powf(1.5));
    assert_close(mirrored().quantile(0.5).0, -(2_f64.powf(1.5 / 4.0)));
}

#[test]
fn the_zero_bucket_is_linear_and_ends_at_zero_if_all_else_is_on_one_side() {
    assert_close(mixed().quantile(1.0 / 9.0).0, 0.125);
    assert_close(mirrored().quantile(8.0 / 9.0).0, -0.125);
    let mut both = mixed();
    both.negative = run(0, &[1.0]);
    both.count = 10.0;
    assert_close(both.quantile(0.2).0, 0.0);
}

#[test]
fn custom_buckets_are_linear_from_zero_and_stop_at_the_last_bound() {
    let histogram = custom(&[2.0, 6.0], &[4.0, 4.0, 2.0], 30.0);
    assert_close(histogram.quantile(0.2).0, 1.0);
    assert_close(histogram.quantile(0.6).0, 4.0);
    assert_eq!(histogram.quantile(0.95).0, 6.0);
    assert_eq!(custom(&[-1.0, 1.0], &[4.0, 1.0], 0.0).quantile(0.1).0, -1.0);
}

#[test]
fn nan_observations_skew_quantiles_and_end_in_nan() {
    // Four of ten observations were NaN: the count knows them, the buckets do not.
    let histogram = exponential(0, &[2.0, 4.0], 10.0, f64::NAN);
    let (value, note) = histogram.quantile(0.4);
    assert_close(value, 2_f64.powf(0.5));
    assert_eq!(note, Some(NanNote::QuantileSkewedHigher));
    let (value, note) = histogram.quantile(0.9);
    assert!(value.is_nan());
    assert_eq!(note, Some(NanNote::QuantileIsNan));
    // Infinite observations of both signs make the sum NaN too, but nothing is missing.
    assert_eq!(
        exponential(0, &[2.0, 4.0], 6.0, f64::NAN).quantile(0.5).1,
        None
    );
}

#[test]
fn a_rank_beyond_all_buckets_is_the_highest_bound() {
    assert_eq!(exponential(0, &[1.0], 10.0, 5.0).quantile(0.4).0, 1.0);
}

#[test]
fn fractions_interpolate_as_quantiles_do() {
    assert_close(mixed().fraction(f64::NEG_INFINITY, f64::INFINITY).0, 1.0);
    assert_close(mixed().fraction(1.0, 2.0).0, 4.0 / 9.0);
    assert_close(mixed().fraction(2_f64.sqrt(), 2.0).0, 2.0 / 9.0);
    assert_close(mixed().fraction(-1.0, 0.125).0, 1.0 / 9.0);
    assert_close(mirrored().fraction(-2.0, -(2_f64.sqrt())).0, 2.0 / 9.0);
    assert_close(
        custom(&[2.0, 6.0], &[4.0, 4.0, 2.0], 30.0)
            .fraction(1.0, 4.0)
            .0,
        0.4,
    );
    // Nothing is known about where in (6,+Inf] observations are: they count as beyond any limit.
    assert_close(
        custom(&[2.0, 6.0], &[4.0, 4.0, 2.0], 30.0)
            .fraction(0.0, 1000.0)
            .0,
        0.8,
    );
    for q in [0.05, 0.3, 0.5, 0.77, 0.95] {
        assert_close(
            mixed().fraction(f64::NEG_INFINITY, mixed().quantile(q).0).0,
            q,
        );
    }
}

#[test]
fn fractions_of_nothing_and_of_empty_ranges_are_decided() {
    assert!(exponential(0, &[], 0.0, 0.0).fraction(0.0, 1.0).0.is_nan());
    assert!(mixed().fraction(f64::NAN, 1.0).0.is_nan());
    assert_eq!(mixed().fraction(2.0, 2.0), (0.0, None));
    let with_nan = exponential(0, &[2.0, 4.0], 10.0, f64::NAN);
    assert_eq!(
        with_nan.fraction(f64::NEG_INFINITY, f64::INFINITY),
        (0.6, Some(NanNote::ExcludedFromFraction))
    );
}

#[test]
fn mean_and_variance_come_from_the_middles_of_the_buckets() {
    // Geometric middles sqrt(0.5) and sqrt(2); mean 3/2.
    let histogram = exponential(0, &[1.0, 1.0], 2.0, 3.0);
    assert_eq!(histogram.avg(), 1.5);
    let expected = ((0.5_f64.sqrt() - 1.5).powi(2) + (2_f64.sqrt() - 1.5).powi(2)) / 2.0;
    assert_close(histogram.stdvar(), expected);
    assert_close(histogram.stddev(), expected.sqrt());
    // Arithmetic middles 3 and 7, mean 5: the variance is 4.
    let mut bounded = custom(&[2.0, 4.0, 10.0], &[0.0, 3.0, 3.0], 30.0);
    assert_eq!(bounded.stdvar(), 4.0);
    bounded.count = 0.0;
    assert!(exponential(0, &[], 0.0, 0.0).avg().is_nan());
    let mut zero = exponential(0, &[], 2.0, 0.0);
    zero.zero_count = 2.0;
    assert_eq!(zero.stdvar(), 0.0);
}
