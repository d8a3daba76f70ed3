//! Addition, subtraction, scaling, resolution.

use super::super::{Combined, IncompatibleSchemas};
use super::{Buckets, Histogram, ResetHint, custom, exponential, hinted, pairs, run};

const CLEAN: Combined = Combined {
    reset_collision: false,
    bounds_reconciled: false,
};

#[test]
fn buckets_of_both_histograms_are_added_by_index() {
    let mut sum = exponential(0, &[1.0, 2.0], 3.0, 5.0);
    let mut other = exponential(0, &[], 10.0, 20.0);
    other.positive = Buckets::new(vec![-3, 1, 7], vec![4.0, 5.0, 1.0]).expect("ascending");
    other.negative = run(2, &[9.0]);
    assert_eq!(sum.add(&other), Ok(CLEAN));
    assert_eq!(
        pairs(&sum.positive),
        [(-3, 4.0), (0, 1.0), (1, 7.0), (7, 1.0)]
    );
    assert_eq!(pairs(&sum.negative), [(2, 9.0)]);
    assert_eq!((sum.count, sum.sum), (13.0, 25.0));
    assert_eq!(sum.sub(&other), Ok(CLEAN));
    assert_eq!(
        pairs(&sum.positive),
        [(-3, 0.0), (0, 1.0), (1, 2.0), (7, 0.0)]
    );
    sum.compact();
    assert_eq!(sum, exponential(0, &[1.0, 2.0], 3.0, 5.0));
}

#[test]
fn the_coarser_schema_wins_on_either_side() {
    // At schema 1 the buckets 1 and 2 are the halves of bucket 1 at schema 0, 3 and 4 those of bucket 2.
    let mut fine = exponential(1, &[], 15.0, 0.0);
    fine.positive = run(1, &[1.0, 2.0, 4.0, 8.0]);
    let mut coarse = exponential(0, &[], 10.0, 0.0);
    coarse.positive = run(1, &[10.0]);
    let mut left = fine.clone();
    left.add(&coarse).expect("one kind");
    let mut right = coarse.clone();
    right.add(&fine).expect("one kind");
    assert_eq!(
        (left.schema, pairs(&left.positive)),
        (0, vec![(1, 13.0), (2, 12.0)])
    );
    assert_eq!(left, right);
    assert_eq!(
        fine.at_schema(-1).to_string(),
        "{count:15, sum:0, (1,4]:15}"
    );
    assert!(!fine.clone().reduce_resolution(1), "its own schema");
    assert!(
        !custom(&[1.0], &[1.0], 1.0).reduce_resolution(0),
        "custom bounds"
    );
}

#[test]
fn the_wider_zero_bucket_swallows_what_it_covers() {
    let mut narrow = exponential(0, &[], 10.0, 0.0);
    narrow.positive = run(-1, &[1.0, 2.0, 3.0]); // up to 0.5, 1, 2
    narrow.negative = run(-1, &[4.0]); // down to -0.5
    let mut wide = exponential(0, &[], 5.0, 0.0);
    wide.zero_count = 5.0;
    wide.zero_threshold = 1.0;
    let mut sum = narrow.clone();
    sum.add(&wide).expect("one kind");
    assert_eq!((sum.zero_threshold, sum.zero_count), (1.0, 12.0));
    assert_eq!(
        (pairs(&sum.positive), pairs(&sum.negative)),
        (vec![(1, 3.0)], vec![])
    );
    let mut other_way = wide.clone();
    other_way.add(&narrow).expect("one kind");
    assert_eq!(sum, other_way);
}

#[test]
fn a_zero_bucket_that_would_cut_a_populated_bucket_grows_to_its_end() {
    let mut cut = exponential(0, &[], 3.0, 0.0);
    cut.negative = run(1, &[3.0]); // [-2,-1)
    let mut sum = exponential(0, &[], 1.0, 0.0);
    sum.zero_threshold = 1.5;
    sum.zero_count = 1.0;
    sum.add(&cut).expect("one kind");
    assert_eq!(
        (sum.zero_threshold, sum.zero_count, sum.negative.len()),
        (2.0, 4.0, 0)
    );
}

#[test]
fn different_custom_bounds_leave_the_shared_ones() {
    let mut sum = custom(&[1.0, 2.0, 4.0], &[1.0, 2.0, 3.0, 4.0], 10.0);
    let other = custom(&[1.0, 3.0, 4.0], &[10.0, 20.0, 30.0, 40.0], 100.0);
    assert_eq!(
        sum.add(&other),
        Ok(Combined {
            bounds_reconciled: true,
            ..CLEAN
        })
    );
    assert_eq!(sum, custom(&[1.0, 4.0], &[11.0, 55.0, 44.0], 110.0));
    let mut disjoint = custom(&[7.0], &[1.0, 1.0], 1.0);
    assert_eq!(
        disjoint.sub(&sum),
        Ok(Combined {
            bounds_reconciled: true,
            ..CLEAN
        })
    );
    assert_eq!(disjoint, custom(&[], &[-108.0], -109.0));
}

#[test]
fn exponential_and_custom_buckets_do_not_mix() {
    let mut sum = exponential(0, &[1.0], 1.0, 1.0);
    assert_eq!(
        sum.add(&custom(&[1.0], &[1.0], 1.0)),
        Err(IncompatibleSchemas)
    );
    assert_eq!(sum, exponential(0, &[1.0], 1.0, 1.0));
}

#[test]
fn hints_merge_and_only_reset_against_not_reset_collides() {
    use ResetHint::{Gauge, NotReset, Reset, Unknown};
    let merged = |mine, theirs| {
        let mut sum = hinted(exponential(0, &[], 0.0, 0.0), mine);
        let combined = sum
            .add(&hinted(exponential(0, &[], 0.0, 0.0), theirs))
            .expect("one kind");
        (sum.reset_hint, combined.reset_collision)
    };
    assert_eq!(merged(Reset, Reset), (Reset, false));
    assert_eq!(merged(Reset, Gauge), (Gauge, false));
    assert_eq!(merged(Unknown, NotReset), (Unknown, false));
    assert_eq!(merged(NotReset, Unknown), (Unknown, false));
    assert_eq!(merged(Reset, NotReset), (Unknown, true));
}

#[test]
fn factors_scale_every_number_and_a_negative_one_makes_a_gauge() {
    let mut scaled = exponential(0, &[1.0, 2.0], 4.0, 6.0);
    scaled.zero_count = 1.0;
    scaled.mul(3.0);
    assert_eq!(
        scaled.to_string(),
        "{count:12, sum:18, [-0,0]:3, (0.5,1]:3, (1,2]:6}"
    );
    assert_eq!(scaled.reset_hint, ResetHint::Unknown);
    scaled.div(-6.0);
    assert_eq!(
        (scaled.count, scaled.sum, scaled.zero_count),
        (-2.0, -3.0, -0.5)
    );
    assert_eq!(scaled.reset_hint, ResetHint::Gauge);
    assert_eq!(scaled.neg().count, 2.0);
    scaled.div(0.0);
    assert_eq!(
        (scaled.count, scaled.positive.len()),
        (f64::NEG_INFINITY, 0)
    );
}

#[test]
fn an_infinite_number_anywhere_is_an_overflow() {
    assert!(!exponential(0, &[1.0], f64::NAN, 1.0).has_overflow());
    assert!(exponential(0, &[f64::INFINITY], 1.0, 1.0).has_overflow());
    assert!(custom(&[f64::NEG_INFINITY], &[1.0], 1.0).has_overflow());
    assert!(
        Histogram {
            sum: f64::INFINITY,
            ..Histogram::default()
        }
        .has_overflow()
    );
}
