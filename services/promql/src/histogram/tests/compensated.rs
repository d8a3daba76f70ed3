//! Sums and means of many histograms.

use super::super::{Combined, HistogramMean, HistogramSum, IncompatibleSchemas};
use super::{Histogram, ResetHint, custom, exponential, hinted, pairs, run};

fn sum(histograms: &[Histogram]) -> Histogram {
    let mut sum = HistogramSum::new(&histograms[0]);
    histograms[1..]
        .iter()
        .for_each(|histogram| sum.add(histogram).expect("one kind"));
    sum.finish()
}

fn mean(histograms: &[Histogram]) -> Histogram {
    let mut mean = HistogramMean::new(&histograms[0]);
    histograms[1..]
        .iter()
        .for_each(|histogram| mean.add(histogram).expect("one kind"));
    mean.finish()
}

#[test]
fn small_addends_survive_between_great_ones() {
    // Plain addition loses the ones: 1e16 + 1 rounds to 1e16, twice.
    let numbers = [1e16, 1.0, 1.0, -1e16];
    let histograms = numbers.map(|number| exponential(0, &[number], number, number));
    let total = sum(&histograms);
    assert_eq!(
        (total.count, total.sum, pairs(&total.positive)),
        (2.0, 2.0, vec![(0, 2.0)])
    );
    assert_eq!(mean(&histograms).sum, 0.5);
}

#[test]
fn a_bucket_that_appears_later_is_compensated_too() {
    let first = exponential(0, &[], 0.0, 0.0);
    let numbers = [1e16, 1.0, 1.0, -1e16];
    let mut histograms = vec![first];
    for number in numbers {
        let mut later = exponential(1, &[], 0.0, 0.0);
        later.positive = run(1, &[number, 0.0]);
        later.negative = run(5, &[number]);
        histograms.push(later);
    }
    let total = sum(&histograms);
    assert_eq!(
        (pairs(&total.positive), pairs(&total.negative)),
        (vec![(1, 2.0)], vec![(3, 2.0)])
    );
}

#[test]
fn remainders_follow_a_change_of_resolution_zero_width_and_bounds() {
    let fine = |number: f64| exponential(1, &[number, 0.0, 0.0], number, 0.0);
    let coarse = exponential(0, &[-1e16], -1e16, 0.0);
    assert_eq!(
        pairs(&sum(&[fine(1e16), fine(1.0), fine(1.0), coarse]).positive),
        [(0, 2.0), (1, 0.0)]
    );

    let mut wide = exponential(1, &[], 0.0, 0.0);
    wide.zero_threshold = 1.0;
    wide.zero_count = -1e16;
    let swallowed = sum(&[fine(1e16), fine(1.0), fine(1.0), wide]);
    assert_eq!((swallowed.zero_count, swallowed.positive.len()), (2.0, 0));

    let old = |number: f64| custom(&[1.0, 2.0], &[number], 0.0);
    let reduced = sum(&[old(1e16), old(1.0), old(1.0), custom(&[2.0], &[-1e16], 0.0)]);
    assert_eq!(
        (&*reduced.custom_bounds, pairs(&reduced.positive)),
        (&[2.0][..], vec![(0, 2.0)])
    );
}

#[test]
fn a_mean_whose_sum_overflows_goes_on_incrementally() {
    let histograms =
        [f64::MAX, f64::MAX, f64::MAX].map(|number| exponential(0, &[number], number, 1.0));
    let result = mean(&histograms);
    assert!(!result.has_overflow());
    assert!((result.count / f64::MAX - 1.0).abs() < 1e-12);
    assert!((result.sum - 1.0).abs() < 1e-12);
    assert_eq!(
        mean(&[
            exponential(0, &[2.0], 2.0, 3.0),
            exponential(0, &[4.0], 4.0, 5.0)
        ]),
        exponential(0, &[3.0], 3.0, 4.0)
    );
}

#[test]
fn what_was_smoothed_over_is_told() {
    let reset = hinted(custom(&[1.0], &[1.0], 1.0), ResetHint::Reset);
    let not_reset = hinted(custom(&[2.0], &[1.0], 1.0), ResetHint::NotReset);
    let mut total = HistogramSum::new(&reset);
    assert_eq!(total.combined(), Combined::default());
    total.add(&not_reset).expect("one kind");
    assert_eq!(
        total.combined(),
        Combined {
            reset_collision: true,
            bounds_reconciled: true
        }
    );
    assert_eq!(
        total.add(&exponential(0, &[], 0.0, 0.0)),
        Err(IncompatibleSchemas)
    );
    let mut average = HistogramMean::new(&reset);
    average.add(&not_reset).expect("one kind");
    assert_eq!(average.combined(), total.combined());
    assert_eq!(
        average.add(&exponential(0, &[], 0.0, 0.0)),
        Err(IncompatibleSchemas)
    );
}
