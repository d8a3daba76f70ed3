//! Views of points whose buckets were added up by hand.

use promql::series::is_stale;

use super::*;
use crate::fetch::columns::Ragged;

fn lists(lists: &[&[u64]]) -> Ragged {
    let mut ragged = Ragged::default();
    for list in lists {
        ragged.push(list.iter().copied());
    }
    ragged
}

/// Bounds 1, 5: two points, a stale marker, a point without sum.
fn explicit() -> Points {
    Points {
        ts: vec![10, 20, 30, 40],
        count: vec![6, 9, 0, 1],
        sum: vec![Some(12.5), Some(20.0), Some(STALE), None],
        pos: lists(&[&[3, 2, 1], &[4, 2, 3], &[], &[0, 1, 0]]),
        ..Points::default()
    }
}

fn shown(floats: &Floats) -> Vec<(i64, String)> {
    let text = |value: f64| {
        if is_stale(value) {
            "stale".to_owned()
        } else {
            value.to_string()
        }
    };
    floats
        .ts
        .iter()
        .copied()
        .zip(floats.values.iter().map(|value| text(*value)))
        .collect()
}

fn line(values: &[(i64, &str)]) -> Vec<(i64, String)> {
    values
        .iter()
        .map(|(ts, text)| (*ts, (*text).to_owned()))
        .collect()
}

#[test]
fn classic_buckets_add_up_from_below() {
    let points = explicit();
    let expected = [
        [(10, "3"), (20, "4"), (30, "stale"), (40, "0")],
        [(10, "5"), (20, "6"), (30, "stale"), (40, "1")],
        [(10, "6"), (20, "9"), (30, "stale"), (40, "1")],
    ];
    for (bound, values) in expected.iter().enumerate() {
        assert_eq!(shown(&bucket(&points, bound, 2)), line(values));
    }
}

#[test]
fn a_stale_point_ends_every_series_and_a_missing_sum_is_absent() {
    let points = explicit();
    assert_eq!(
        shown(&counts(&points)),
        line(&[(10, "6"), (20, "9"), (30, "stale"), (40, "1")])
    );
    assert_eq!(
        shown(&sums(&points)),
        line(&[(10, "12.5"), (20, "20"), (30, "stale")])
    );
    let native = native(&points, &Arc::from([1.0, 5.0]));
    assert_eq!(native.ts, [10, 20, 30, 40]);
    assert!(native.values[2].is_stale());
    assert_eq!((native.values[3].count, native.values[3].sum), (1.0, 0.0));
}

#[test]
fn a_histogram_without_bounds_has_one_bucket() {
    let points = Points {
        ts: vec![10],
        count: vec![7],
        sum: vec![Some(1.0)],
        pos: lists(&[&[]]),
        ..Points::default()
    };
    assert_eq!(shown(&bucket(&points, 0, 0)), line(&[(10, "7")]));
}

#[test]
fn explicit_points_are_native_samples_with_custom_bounds() {
    let native = native(&explicit(), &Arc::from([1.0, 5.0]));
    let first: Vec<_> = native.values[0]
        .buckets()
        .map(|bucket| (bucket.upper, bucket.count))
        .collect();
    assert_eq!(first, [(1.0, 3.0), (5.0, 2.0), (f64::INFINITY, 1.0)]);
    assert_eq!((native.values[0].count, native.values[0].sum), (6.0, 12.5));
}

/// Scale 0 (base 2): zero bucket 1, (1,2] 2, (2,4] 0, (4,8] 3, negative [-2,-1) 4.
fn base_two() -> Points {
    Points {
        ts: vec![10],
        count: vec![10],
        sum: vec![Some(15.0)],
        pos: lists(&[&[2, 0, 3]]),
        scale: vec![0],
        zero_threshold: vec![0.0],
        zero_count: vec![1],
        pos_offset: vec![0],
        neg_offset: vec![0],
        neg: lists(&[&[4]]),
    }
}

#[test]
fn exponential_buckets_show_as_classic_ones_at_their_scale() {
    let shown = buckets(&base_two())
        .into_iter()
        .map(|(le, floats)| (le, shown(&floats)));
    let expected = [
        ("+Inf", "10"),
        ("-1", "4"),
        ("0", "5"),
        ("2", "7"),
        ("4", "7"),
        ("8", "10"),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(le, count)| ((*le).to_owned(), line(&[(10, count)])))
        .collect();
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

#[test]
fn exponential_points_are_native_samples() {
    let native = native(&base_two(), &Arc::from([]));
    let sample = &native.values[0];
    assert_eq!((sample.schema, sample.count, sample.sum), (0, 10.0, 15.0));
    let populated: Vec<_> = sample
        .buckets()
        .filter(|bucket| bucket.count != 0.0)
        .map(|bucket| (bucket.lower, bucket.upper, bucket.count))
        .collect();
    let zero = DEFAULT_ZERO_THRESHOLD;
    assert_eq!(
        populated,
        [
            (-2.0, -1.0, 4.0),
            (-zero, zero, 1.0),
            (1.0, 2.0, 2.0),
            (4.0, 8.0, 3.0)
        ]
    );
}

#[test]
fn bounds_between_powers_of_two_are_prometheus_own() {
    let mut bounds = Bounds::default();
    // The last digit is one below that of the square root, in Prometheus' table too.
    assert_eq!(
        bounds.upper(1, 1).to_bits() + 1,
        std::f64::consts::SQRT_2.to_bits()
    );
    assert_eq!(bounds.upper(3, 8), 2.0);
    assert_eq!(bounds.upper(-1, 1), 4.0);
    assert_eq!(bounds.upper(0, -2), 0.25);
    assert_eq!(bounds.upper(9, 512), 2.0);
}

#[test]
fn absurd_counts_stay_at_the_greatest_number() {
    let points = Points {
        ts: vec![10],
        count: vec![u64::MAX],
        sum: vec![Some(1.0)],
        pos: lists(&[&[u64::MAX, u64::MAX, 0]]),
        ..Points::default()
    };
    assert_eq!(bucket(&points, 0, 2).values, [u64::MAX as f64]);
    assert_eq!(bucket(&points, 1, 2).values, [u64::MAX as f64]);
}
