//! Counter resets and what a window of samples increased by.

use super::super::{Difference, IncompatibleSchemas, RateKind, RateNote};
use super::{Histogram, ResetHint, custom, exponential, hinted, pairs, run};

fn counter(points: &[&Histogram]) -> Result<Difference, IncompatibleSchemas> {
    Histogram::difference(points, RateKind::Counter, &|_| false).expect("two points")
}

#[test]
fn a_hint_decides_before_any_comparison() {
    let (small, great) = (
        exponential(0, &[1.0], 1.0, 1.0),
        exponential(0, &[2.0], 2.0, 2.0),
    );
    assert!(hinted(great.clone(), ResetHint::Reset).detect_reset(&small));
    assert!(!hinted(small.clone(), ResetHint::NotReset).detect_reset(&great));
    assert!(small.detect_reset(&great));
    assert!(!great.detect_reset(&small));
    assert!(hinted(small, ResetHint::Gauge).detect_reset(&great));
}

#[test]
fn a_bucket_that_shrinks_or_goes_is_a_reset_even_if_the_count_grows() {
    let before = exponential(0, &[3.0, 0.0, 1.0], 4.0, 1.0);
    assert!(!exponential(0, &[3.0, 5.0, 1.0], 9.0, 1.0).detect_reset(&before));
    assert!(exponential(0, &[2.0, 5.0, 2.0], 9.0, 1.0).detect_reset(&before));
    assert!(exponential(0, &[9.0], 9.0, 1.0).detect_reset(&before));
    let mut gap = before.clone();
    gap.compact();
    assert!(!gap.detect_reset(&before), "only an empty bucket went");
    let mut negative = before.clone();
    negative.negative = run(0, &[1.0]);
    assert!(before.detect_reset(&hinted(negative, ResetHint::Unknown)));
}

#[test]
fn resolution_and_zero_width_may_only_coarsen_without_a_reset() {
    let mut fine = exponential(1, &[], 3.0, 0.0);
    fine.positive = run(1, &[1.0, 2.0]);
    let mut coarse = exponential(0, &[], 3.0, 0.0);
    coarse.positive = run(1, &[3.0]);
    assert!(!coarse.detect_reset(&fine));
    assert!(fine.detect_reset(&coarse));
    let mut wide = exponential(1, &[], 3.0, 0.0);
    wide.zero_threshold = 2.0;
    wide.zero_count = 3.0;
    assert!(!wide.detect_reset(&fine));
    assert!(fine.detect_reset(&wide), "the zero bucket shrank");
    wide.zero_threshold = 1.5;
    assert!(wide.detect_reset(&fine), "it cuts a populated bucket");
}

#[test]
fn different_custom_bounds_are_compared_between_the_shared_ones() {
    let before = custom(&[1.0, 2.0, 4.0], &[1.0, 2.0, 3.0, 1.0], 0.0);
    assert!(!custom(&[1.0, 4.0], &[1.0, 5.0, 1.0], 0.0).detect_reset(&before));
    assert!(custom(&[1.0, 4.0], &[2.0, 4.0, 3.0], 0.0).detect_reset(&before));
    assert!(custom(&[1.0], &[9.0], 0.0).detect_reset(&exponential(0, &[1.0], 1.0, 0.0)));
}

#[test]
fn the_increase_bridges_resets() {
    let points = [
        exponential(0, &[1.0, 1.0], 2.0, 2.0),
        exponential(0, &[4.0, 1.0], 5.0, 7.0),
        exponential(0, &[1.0], 1.0, 1.0),
        exponential(0, &[2.0], 2.0, 3.0),
    ];
    let result = counter(&points.each_ref()).expect("one kind");
    // Up to the reset 5 - 2 more, afterwards 2.
    assert_eq!(result.histogram, exponential(0, &[5.0], 5.0, 8.0));
    assert_eq!(
        (result.histogram.reset_hint, result.notes),
        (ResetHint::Gauge, vec![])
    );
    let gauges = points.map(|point| hinted(point, ResetHint::Gauge));
    let delta = Histogram::difference(&gauges.each_ref(), RateKind::Gauge, &|_| false)
        .expect("points")
        .expect("one kind");
    assert_eq!(
        (
            pairs(&delta.histogram.positive),
            delta.histogram.count,
            delta.notes
        ),
        (vec![(0, 1.0), (1, -1.0)], 0.0, vec![])
    );
}

#[test]
fn a_restart_told_by_start_timestamps_is_a_reset() {
    let (first, second) = (
        exponential(0, &[1.0], 1.0, 1.0),
        exponential(0, &[4.0], 4.0, 4.0),
    );
    let points = [&first, &second, &second];
    let increase = |restart: usize| {
        let difference = Histogram::difference(&points, RateKind::Counter, &|at| at == restart);
        difference
            .expect("points")
            .expect("one kind")
            .histogram
            .count
    };
    assert_eq!((increase(0), increase(1), increase(2)), (3.0, 4.0, 7.0));
    assert!(Histogram::difference(&[&first], RateKind::Counter, &|_| false).is_none());
}

#[test]
fn a_first_sample_before_a_reset_may_be_of_another_kind() {
    let old = exponential(0, &[9.0], 9.0, 9.0);
    let new = custom(&[1.0], &[2.0, 1.0], 3.0);
    let newer = custom(&[1.0], &[3.0, 1.0], 4.0);
    assert_eq!(
        counter(&[&old, &new, &newer]).expect("one kind").histogram,
        newer
    );
    assert_eq!(counter(&[&new, &old, &newer]), Err(IncompatibleSchemas));
    assert_eq!(counter(&[&new, &newer, &old]), Err(IncompatibleSchemas));
}

#[test]
fn the_coarsest_schema_of_the_window_is_used() {
    let mut fine = exponential(2, &[], 4.0, 0.0);
    fine.positive = run(1, &[1.0, 1.0, 1.0, 1.0]);
    let coarse = {
        let mut coarse = fine.at_schema(0);
        coarse.mul(2.0);
        coarse
    };
    let mut last = fine.clone();
    last.mul(3.0);
    let last = hinted(last, ResetHint::NotReset);
    let result = counter(&[&fine, &coarse, &last])
        .expect("one kind")
        .histogram;
    assert_eq!(
        (result.schema, pairs(&result.positive)),
        (0, vec![(1, 8.0)])
    );
}

#[test]
fn gauges_counters_and_reconciled_bounds_are_told() {
    let plain = exponential(0, &[1.0], 1.0, 1.0);
    let gauge = hinted(plain.clone(), ResetHint::Gauge);
    let notes = |points: &[&Histogram], kind| {
        Histogram::difference(points, kind, &|_| false)
            .expect("points")
            .expect("one kind")
            .notes
    };
    assert_eq!(
        notes(&[&plain, &gauge, &gauge], RateKind::Counter),
        [RateNote::NotACounter]
    );
    assert_eq!(
        notes(&[&plain, &gauge, &plain], RateKind::Counter),
        [RateNote::NotACounter]
    );
    assert_eq!(
        notes(&[&gauge, &plain], RateKind::Gauge),
        [RateNote::NotAGauge]
    );
    let (few, many) = (
        custom(&[1.0], &[1.0, 1.0], 2.0),
        custom(&[1.0, 2.0], &[2.0, 1.0, 1.0], 2.0),
    );
    assert_eq!(
        notes(&[&few, &many], RateKind::Counter),
        [RateNote::ReconciledSubtraction]
    );
    let shrunk = custom(&[1.0], &[0.0, 1.0], 1.0);
    assert_eq!(
        notes(&[&few, &many, &shrunk], RateKind::Counter),
        [RateNote::ReconciledAddition]
    );
}

#[test]
fn the_instant_difference_of_a_reset_counter_is_its_last_sample() {
    let (small, great) = (
        exponential(0, &[1.0], 1.0, 1.0),
        exponential(0, &[3.0], 3.0, 2.0),
    );
    let instant = |previous, last, kind, restarted| {
        Histogram::instant_difference(previous, last, kind, restarted).expect("one kind")
    };
    assert_eq!(
        instant(&small, &great, RateKind::Counter, false)
            .histogram
            .count,
        2.0
    );
    assert_eq!(
        instant(&small, &great, RateKind::Counter, true)
            .histogram
            .count,
        3.0
    );
    assert_eq!(
        instant(&great, &small, RateKind::Counter, false)
            .histogram
            .count,
        1.0
    );
    let delta = instant(&great, &small, RateKind::Gauge, false);
    assert_eq!(
        (delta.histogram.count, delta.notes),
        (-2.0, vec![RateNote::NotAGauge])
    );
}
