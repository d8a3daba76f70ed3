//! Construction, validation, iteration and text.

use std::sync::Arc;

use super::super::{Bucket, Dense, Exponential, HistogramError};
use super::{Buckets, Histogram, custom, exponential, pairs, run};

#[test]
fn an_explicit_histogram_keeps_its_bounds_and_small_gaps() {
    let bounds: Arc<[f64]> = Arc::from([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let histogram =
        Histogram::from_explicit(Arc::clone(&bounds), &[0, 0, 4, 0, 3, 0, 0, 2], 9, 30.5)
            .expect("valid");
    assert_eq!(
        pairs(&histogram.positive),
        [(2, 4.0), (3, 0.0), (4, 3.0), (5, 0.0), (6, 0.0), (7, 2.0)]
    );
    assert_eq!((histogram.count, histogram.sum), (9.0, 30.5));
    assert!(Arc::ptr_eq(&histogram.custom_bounds, &bounds));
    assert_eq!(histogram.validate(), Ok(()));
}

#[test]
fn a_gap_of_three_empty_buckets_is_not_stored() {
    let bounds: Arc<[f64]> = Arc::from([1.0, 2.0, 3.0, 4.0, 5.0]);
    let histogram = Histogram::from_explicit(bounds, &[1, 0, 0, 0, 0, 0], 1, 0.5).expect("valid");
    assert_eq!(
        pairs(&histogram.positive),
        [(0, 1.0), (5, 0.0)],
        "the last bucket stays, though empty"
    );
}

#[test]
fn explicit_bounds_that_do_not_ascend_or_do_not_suffice_are_refused() {
    let build = |bounds: &[f64], counts: &[u64]| {
        Histogram::from_explicit(bounds.into(), counts, 0, 0.0).err()
    };
    assert_eq!(
        build(&[2.0, 2.0], &[]),
        Some(HistogramError::Bounds {
            previous: 2.0,
            bound: 2.0
        })
    );
    assert!(matches!(
        build(&[f64::NAN], &[]),
        Some(HistogramError::Bounds { .. })
    ));
    assert!(matches!(
        build(&[1.0, f64::INFINITY], &[]),
        Some(HistogramError::Bounds { .. })
    ));
    assert_eq!(
        build(&[1.0], &[0, 0, 5]),
        Some(HistogramError::Index {
            index: 2,
            bounds: 1
        })
    );
}

#[test]
fn an_exponential_histogram_shifts_its_indexes_by_one() {
    let point = Exponential {
        scale: 0,
        zero_threshold: 0.5,
        zero_count: 2,
        positive: Dense {
            offset: 0,
            counts: &[1, 2],
        },
        negative: Dense {
            offset: -3,
            counts: &[4],
        },
        count: 9,
        sum: 1.5,
    };
    let histogram = Histogram::from_exponential(&point).expect("valid");
    assert_eq!(
        histogram.to_string(),
        "{count:9, sum:1.5, [-0.25,-0.125):4, [-0.5,0.5]:2, (1,2]:1, (2,4]:2}"
    );
    assert_eq!(histogram.validate(), Ok(()));
}

#[test]
fn a_scale_above_eight_is_merged_down_and_one_below_minus_four_refused() {
    let counts = [0, 0, 5, 3, 1];
    let point = Exponential {
        scale: 9,
        positive: Dense {
            offset: 0,
            counts: &counts,
        },
        count: 9,
        ..Exponential::default()
    };
    let histogram = Histogram::from_exponential(&point).expect("valid");
    assert_eq!(histogram.schema, 8);
    assert_eq!(pairs(&histogram.positive), [(1, 0.0), (2, 8.0), (3, 1.0)]);
    let coarse = Exponential {
        scale: -5,
        ..Exponential::default()
    };
    assert_eq!(
        Histogram::from_exponential(&coarse),
        Err(HistogramError::Schema(-5))
    );
    let far = Exponential {
        positive: Dense {
            offset: i32::MAX,
            counts: &[1],
        },
        ..Exponential::default()
    };
    assert!(matches!(
        Histogram::from_exponential(&far),
        Err(HistogramError::Index { .. })
    ));
    let finest = Exponential {
        scale: i32::MAX,
        positive: Dense {
            offset: -1,
            counts: &[1, 1],
        },
        ..far
    };
    let merged = Histogram::from_exponential(&finest).expect("valid");
    assert_eq!(pairs(&merged.positive), [(0, 1.0), (1, 1.0)]);
}

#[test]
fn classic_buckets_become_custom_ones() {
    let buckets = [(1.0, 2.0), (2.0, 2.0), (f64::INFINITY, 5.0)];
    let histogram = Histogram::from_cumulative(&buckets, None, 7.0).expect("valid");
    assert_eq!(pairs(&histogram.positive), [(0, 2.0), (1, 0.0), (2, 3.0)]);
    assert_eq!(
        (&*histogram.custom_bounds, histogram.count),
        (&[1.0, 2.0][..], 5.0)
    );
    let without_inf = Histogram::from_cumulative(&buckets[..2], Some(5.0), 7.0).expect("valid");
    assert_eq!(without_inf, histogram);
    let falling = [(1.0, 2.0), (2.0, 1.0)];
    assert_eq!(
        Histogram::from_cumulative(&falling, None, 0.0),
        Err(HistogramError::NegativeCount(-1.0))
    );
    assert_eq!(
        Histogram::from_cumulative(&buckets, Some(6.0), 0.0),
        Err(HistogramError::Layout)
    );
}

#[test]
fn validation_names_the_rule_that_is_broken() {
    let odd_schema = exponential(9, &[1.0], 1.0, 1.0);
    assert_eq!(odd_schema.validate(), Err(HistogramError::Schema(9)));
    assert_eq!(
        exponential(0, &[1.0, -2.0], 1.0, 1.0).validate(),
        Err(HistogramError::NegativeCount(-2.0))
    );
    let mut with_zero = custom(&[1.0], &[1.0], 1.0);
    with_zero.zero_count = 1.0;
    assert_eq!(with_zero.validate(), Err(HistogramError::MixedKinds));
    let beyond = custom(&[1.0], &[1.0, 1.0, 1.0], 1.0);
    assert_eq!(
        beyond.validate(),
        Err(HistogramError::Index {
            index: 2,
            bounds: 1
        })
    );
    assert_eq!(
        Buckets::new(vec![3, 3], vec![1.0, 1.0]).err(),
        Some(HistogramError::Layout)
    );
    assert_eq!(
        Buckets::new(vec![3], vec![]).err(),
        Some(HistogramError::Layout)
    );
}

#[test]
fn a_stale_histogram_is_recognised_by_the_bits_of_its_sum() {
    assert!(Histogram::stale().is_stale());
    assert!(!exponential(0, &[], 1.0, f64::NAN).is_stale());
}

#[test]
fn buckets_run_from_the_lowest_to_the_highest_and_end_at_the_zero_threshold() {
    let mut histogram = exponential(0, &[3.0, 4.0], 12.0, 0.0);
    histogram.negative = run(0, &[2.0, 1.0]);
    histogram.zero_count = 2.0;
    histogram.zero_threshold = 0.75;
    let shown: Vec<String> = histogram
        .buckets()
        .map(|bucket| bucket.to_string())
        .collect();
    assert_eq!(
        shown,
        [
            "[-2,-1):1",
            "[-1,-0.75):2",
            "[-0.75,0.75]:2",
            "(0.75,1]:3",
            "(1,2]:4"
        ]
    );
    let boundaries: Vec<u8> = histogram
        .buckets()
        .map(|bucket| bucket.boundaries())
        .collect();
    assert_eq!(boundaries, [1, 1, 3, 0, 0]);
    assert_eq!(Bucket::default().boundaries(), 2);
    let first = custom(&[5.0], &[1.0, 2.0], 3.0)
        .buckets()
        .next()
        .expect("a bucket");
    assert_eq!(
        (first.boundaries(), first.to_string().as_str()),
        (3, "[-Inf,5]:1")
    );
}

#[test]
fn text_has_the_shortest_digits_and_exponents_from_a_million_on() {
    let histogram = custom(&[0.000_05, 1_234_567.0], &[0.5, 0.0, 1e21], 1_000_000.0);
    assert_eq!(
        histogram.to_string(),
        "{count:1e+21, sum:1e+06, [-Inf,5e-05]:0.5, (1.234567e+06,+Inf]:1e+21}"
    );
    assert_eq!(
        exponential(0, &[], 999_999.0, f64::NAN).to_string(),
        "{count:999999, sum:NaN}"
    );
}

#[test]
fn the_bucket_before_the_infinite_one_ends_at_the_greatest_number() {
    for schema in -4..=8 {
        let last = if schema < 0 {
            1024 >> -schema
        } else {
            1024 << schema
        };
        let mut histogram = exponential(schema, &[], 0.0, 0.0);
        histogram.positive = run(last, &[1.0, 1.0]);
        let uppers: Vec<f64> = histogram.buckets().map(|bucket| bucket.upper).collect();
        assert_eq!(uppers, [f64::MAX, f64::INFINITY], "schema {schema}");
    }
    let mut tiny = exponential(0, &[], 0.0, 0.0);
    tiny.positive = run(-1074, &[1.0]);
    let bucket = tiny.buckets().next().expect("a bucket");
    assert_eq!((bucket.lower, bucket.upper), (0.0, f64::from_bits(1)));
}

#[test]
fn equality_sees_layout_and_bits_but_not_hints() {
    let histogram = exponential(0, &[1.0, 2.0], 3.0, f64::NAN);
    assert_eq!(
        histogram,
        super::hinted(histogram.clone(), super::ResetHint::Gauge)
    );
    let mut wider = histogram.clone();
    wider.positive = run(0, &[1.0, 2.0, 0.0]);
    assert_ne!(histogram, wider, "an explicit empty bucket");
    wider.compact();
    assert_eq!(histogram, wider);
}
