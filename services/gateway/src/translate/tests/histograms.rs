//! What translation promises of histograms with explicit bounds, rule by rule.

use opentelemetry_proto::tonic::metrics::v1::HistogramDataPoint;
use schemas::rows::{EXPLICIT_SCALE, HistogramRow};

use super::build::{NOW_MS, NOW_NANOS, buckets, histogram, request, run};
use super::values::only_reason;
use crate::translate::rows::STALE_BITS;
use crate::translate::{Reason, Warning};

fn one_row(point: HistogramDataPoint) -> HistogramRow {
    let mut batch = run(request(vec![histogram("h", vec![point])]));
    assert_eq!(batch.histograms.len(), 1);
    batch.histograms.remove(0)
}

fn bounds_of(point: HistogramDataPoint) -> Vec<f64> {
    run(request(vec![histogram("h", vec![point])]))
        .series
        .remove(0)
        .bounds
}

fn refused(point: HistogramDataPoint) -> Reason {
    let batch = run(request(vec![histogram(
        "h",
        vec![point, buckets(&[7.0], &[1, 1])],
    )]));
    assert_eq!((batch.tally.accepted(), batch.histograms.len()), (1, 1));
    only_reason(&batch)
}

#[test]
fn rule_55_no_recorded_value_ends_a_histogram_under_the_id_of_its_bounds() {
    let live = one_row(buckets(&[1.0, 2.0], &[1, 2, 3]));
    let stale = HistogramDataPoint {
        flags: 1,
        explicit_bounds: vec![1.0, 2.0],
        time_unix_nano: NOW_NANOS,
        ..HistogramDataPoint::default()
    };
    let row = one_row(stale);
    assert_eq!(row.sum.unwrap().to_bits(), STALE_BITS);
    assert_eq!((row.id, row.count, row.pos.len()), (live.id, 0, 0));
}

#[test]
fn a_histogram_point_is_one_row_with_all_it_has() {
    let point = HistogramDataPoint {
        start_time_unix_nano: NOW_NANOS - 1_000_000_000,
        min: Some(0.5),
        max: Some(4.0),
        ..buckets(&[1.0, 2.5], &[1, 0, 3])
    };
    let batch = run(request(vec![histogram("h", vec![point])]));
    assert_eq!(batch.tally.accepted(), 1);
    let row = &batch.histograms[0];
    assert_eq!(
        (row.count, row.sum, row.min, row.max),
        (4, Some(10.5), Some(0.5), Some(4.0))
    );
    assert_eq!(
        (&row.pos[..], row.scale, row.start_ts),
        (&[1, 0, 3][..], EXPLICIT_SCALE, NOW_MS - 1000)
    );
    assert_eq!(
        (batch.series[0].kind, &batch.series[0].bounds[..]),
        (1, &[1.0, 2.5][..])
    );
}

#[test]
fn rule_48_a_histogram_without_buckets_keeps_count_and_sum() {
    for counts in [&[][..], &[9][..]] {
        let row = one_row(HistogramDataPoint {
            count: 9,
            ..buckets(&[], counts)
        });
        assert_eq!((row.count, row.sum, row.pos.len()), (9, Some(10.5), 0));
    }
}

#[test]
fn rule_49_a_missing_sum_stays_missing() {
    assert_eq!(
        one_row(HistogramDataPoint {
            sum: None,
            ..buckets(&[1.0], &[1, 2])
        })
        .sum,
        None
    );
    assert_eq!(
        one_row(HistogramDataPoint {
            sum: Some(0.0),
            ..buckets(&[1.0], &[1, 2])
        })
        .sum,
        Some(0.0)
    );
}

#[test]
fn rule_50_bounds_and_counts_that_do_not_fit_are_rejected() {
    assert_eq!(
        refused(buckets(&[1.0, 2.0], &[1, 2])),
        Reason::BucketMismatch
    );
    assert_eq!(refused(buckets(&[1.0, 2.0], &[])), Reason::BucketMismatch);
    assert_eq!(refused(buckets(&[1.0], &[1, 2, 3])), Reason::BucketMismatch);
    assert_eq!(refused(buckets(&[], &[1, 2])), Reason::BucketMismatch);
    let mut beyond = buckets(&[1.0], &[1, 1]);
    beyond.bucket_counts = vec![u64::MAX, 1];
    assert_eq!(refused(beyond), Reason::BucketMismatch);
}

#[test]
fn rule_50_a_trailing_infinite_bound_is_dropped_with_its_second_count() {
    let infinite = [1.0, 2.0, f64::INFINITY];
    assert_eq!(bounds_of(buckets(&infinite, &[1, 2, 3])), [1.0, 2.0]);
    assert_eq!(one_row(buckets(&infinite, &[1, 2, 3])).pos, [1, 2, 3]);
    assert_eq!(one_row(buckets(&infinite, &[1, 2, 3, 4])).pos, [1, 2, 7]);
    assert_eq!(
        one_row(buckets(&infinite, &[1, 2, 3])).id,
        one_row(buckets(&infinite[..2], &[1, 2, 3])).id
    );
    assert_eq!(refused(buckets(&infinite, &[1, 2])), Reason::BucketMismatch);
}

#[test]
fn bounds_that_do_not_increase_or_are_not_finite_are_rejected() {
    for bounds in [
        [1.0, 1.0],
        [2.0, 1.0],
        [1.0, f64::NAN],
        [f64::NAN, 1.0],
        [f64::NEG_INFINITY, 1.0],
        [f64::INFINITY, f64::INFINITY],
    ] {
        assert_eq!(
            refused(buckets(&bounds, &[1, 1, 1])),
            Reason::InvalidBounds,
            "{bounds:?}"
        );
    }
}

#[test]
fn minus_zero_is_the_same_bound_as_zero() {
    assert_eq!(
        one_row(buckets(&[-0.0], &[1, 1])).id,
        one_row(buckets(&[0.0], &[1, 1])).id
    );
}

#[test]
fn the_count_field_is_kept_where_the_buckets_disagree_and_the_sender_is_told() {
    let point = HistogramDataPoint {
        count: 5,
        ..buckets(&[1.0], &[1, 2])
    };
    let batch = run(request(vec![histogram("h", vec![point])]));
    assert_eq!(
        (batch.histograms[0].count, &batch.histograms[0].pos[..]),
        (5, &[1, 2][..])
    );
    assert_eq!(batch.tally.warned_of(Warning::CountDiffers), 1);
    assert_eq!(batch.tally.partial_success().unwrap().0, 0);
}
