//! Laws that hold for any histogram.

use std::sync::Arc;

use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};

use super::{Histogram, run};

fn buckets() -> impl Strategy<Value = (i32, Vec<u32>)> {
    (-40..40_i32, prop::collection::vec(0..1000_u32, 0..12))
}

/// Whole counts, so that every order of addition gives the same. The zero threshold is a bucket bound at
/// every schema: with others, coarsening after widening the zero bucket counts some observations twice, in
/// Prometheus too.
fn exponential() -> impl Strategy<Value = Histogram> {
    let zero = (
        0..100_u32,
        prop::sample::select(vec![0.0, 2_f64.powi(-16), 1.0, 65536.0]),
    );
    (-4..=8_i32, buckets(), buckets(), zero).prop_map(
        |(schema, positive, negative, (zero_count, zero_threshold))| {
            let floats =
                |counts: &[u32]| -> Vec<f64> { counts.iter().copied().map(f64::from).collect() };
            let mut histogram = Histogram {
                schema,
                sum: 1.0,
                positive: run(positive.0, &floats(&positive.1)),
                negative: run(negative.0, &floats(&negative.1)),
                ..Histogram::default()
            };
            let zero = Histogram {
                schema,
                zero_threshold,
                zero_count: f64::from(zero_count),
                ..Histogram::default()
            };
            histogram.add(&zero).expect("one kind");
            histogram.count = in_buckets(&histogram);
            histogram
        },
    )
}

fn in_buckets(histogram: &Histogram) -> f64 {
    histogram.buckets().map(|bucket| bucket.count).sum()
}

proptest! {
    #[test]
    fn addition_commutes(left in exponential(), right in exponential()) {
        let (mut a, mut b) = (left.clone(), right.clone());
        a.add(&right).expect("one kind");
        b.add(&left).expect("one kind");
        a.compact();
        b.compact();
        prop_assert_eq!(a.to_string(), b.to_string());
        prop_assert_eq!(a.zero_threshold, b.zero_threshold);
    }

    #[test]
    fn a_coarser_schema_loses_no_observation(histogram in exponential(), schema in -4..=8_i32) {
        let coarse = histogram.at_schema(schema);
        prop_assert_eq!(coarse.schema, schema.min(histogram.schema));
        prop_assert_eq!(in_buckets(&coarse), in_buckets(&histogram));
        prop_assert_eq!(coarse.count, histogram.count);
        prop_assert!(!coarse.detect_reset(&histogram));
    }

    #[test]
    fn quantiles_do_not_fall(histogram in exponential(), low in 0.0..=1.0_f64, high in 0.0..=1.0_f64) {
        let (low, high) = (low.min(high), low.max(high));
        let (below, above) = (histogram.quantile(low).0, histogram.quantile(high).0);
        prop_assert!(below.is_nan() || below <= above + 1e-9 * above.abs(), "{} > {}", below, above);
    }

    #[test]
    fn explicit_counts_come_back(counts in prop::collection::vec(any::<u16>(), 1..30)) {
        let bounds: Arc<[f64]> = (1..counts.len()).map(|bound| bound as f64).collect();
        let counts: Vec<u64> = counts.into_iter().map(|count| u64::from(count % 7)).collect();
        let total = counts.iter().sum();
        let histogram = Histogram::from_explicit(bounds, &counts, total, 1.5).expect("valid");
        let mut back = vec![0; counts.len()];
        for (index, count) in histogram.positive.iter() {
            back[usize::try_from(index).expect("not negative")] = count.to_string().parse().expect("whole");
        }
        prop_assert_eq!(back, counts);
        prop_assert_eq!(histogram.validate(), Ok(()));
    }
}
