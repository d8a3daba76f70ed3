//! Trimming, where the buckets around the limit are split.

use super::{Histogram, assert_close, custom, exponential, pairs, run};

fn above(mut histogram: Histogram, limit: f64) -> Histogram {
    histogram.trim_above(limit);
    histogram
}

fn below(mut histogram: Histogram, limit: f64) -> Histogram {
    histogram.trim_below(limit);
    histogram
}

#[test]
fn a_limit_at_a_bound_splits_nothing() {
    let histogram = exponential(0, &[1.0, 4.0, 2.0], 7.0, 13.0);
    let kept = above(histogram.clone(), 2.0);
    assert_eq!(pairs(&kept.positive), [(0, 1.0), (1, 4.0)]);
    assert_eq!(kept.count, 5.0);
    assert_close(kept.sum, 0.5_f64.sqrt() + 4.0 * 2_f64.sqrt());
    let rest = below(histogram, 2.0);
    assert_eq!((pairs(&rest.positive), rest.count), (vec![(2, 2.0)], 2.0));
    assert_close(rest.sum, 2.0 * 8_f64.sqrt());
}

#[test]
fn a_limit_beyond_all_buckets_changes_nothing_not_even_the_sum() {
    let histogram = exponential(0, &[1.0, 4.0, 2.0], 7.0, 13.0);
    assert_eq!(above(histogram.clone(), 4.0), histogram);
    assert_eq!(below(histogram.clone(), 0.5), histogram);
}

#[test]
fn an_exponential_bucket_is_split_on_a_logarithmic_scale() {
    let middle = 2_f64.sqrt();
    let mut histogram = exponential(0, &[], 8.0, 11.0);
    histogram.positive = run(1, &[4.0]);
    histogram.negative = run(1, &[4.0]);
    let kept = above(histogram.clone(), middle);
    assert_close(kept.positive.iter().next().expect("a bucket").1, 2.0);
    assert_close(kept.sum, 2.0 * middle.sqrt() - 4.0 * middle);
    let rest = below(histogram, -middle);
    assert_close(rest.negative.iter().next().expect("a bucket").1, 2.0);
    assert_close(rest.sum, 4.0 * middle - 2.0 * middle.sqrt());
}

#[test]
fn the_zero_bucket_is_split_by_distance_within_its_populated_side() {
    let mut histogram = exponential(0, &[], 4.0, 1.0);
    histogram.zero_count = 4.0;
    histogram.zero_threshold = 0.25;
    assert_eq!(
        (
            above(histogram.clone(), 0.125).zero_count,
            above(histogram.clone(), 0.125).sum
        ),
        (3.0, -0.1875)
    );
    histogram.positive = run(1, &[2.0]);
    histogram.count = 6.0;
    let kept = above(histogram.clone(), 0.125);
    assert_eq!((kept.zero_count, kept.sum, kept.count), (2.0, 0.125, 2.0));
    let rest = below(histogram, 0.125);
    assert_eq!((rest.zero_count, rest.count), (2.0, 4.0));
    assert_close(rest.sum, 0.375 + 2.0 * 2_f64.sqrt());
}

#[test]
fn custom_buckets_are_split_by_distance() {
    let histogram = custom(&[2.0, 6.0], &[4.0, 4.0, 2.0], 30.0);
    let kept = above(histogram.clone(), 5.0);
    assert_eq!(
        (pairs(&kept.positive), kept.count, kept.sum),
        (vec![(0, 4.0), (1, 3.0)], 7.0, 4.0 + 3.0 * 3.5)
    );
    let first = above(histogram.clone(), 1.0);
    assert_eq!((pairs(&first.positive), first.sum), (vec![(0, 2.0)], 1.0));
    let rest = below(histogram.clone(), 1.0);
    assert_eq!(
        (pairs(&rest.positive), rest.sum),
        (vec![(0, 2.0), (1, 4.0), (2, 2.0)], 3.0 + 16.0 + 12.0)
    );
    assert_eq!(pairs(&below(histogram.clone(), 7.0).positive), [(2, 2.0)]);
    assert_eq!(pairs(&above(histogram, 7.0).positive), [(0, 4.0), (1, 4.0)]);
}

#[test]
fn a_first_bucket_below_zero_is_kept_whole_from_above_and_lost_from_below() {
    let histogram = custom(&[-2.0, 6.0], &[4.0, 4.0], 10.0);
    let kept = above(histogram.clone(), -3.0);
    assert_eq!((pairs(&kept.positive), kept.sum), (vec![(0, 4.0)], -12.0));
    assert_eq!(pairs(&below(histogram, -3.0).positive), [(1, 4.0)]);
}
