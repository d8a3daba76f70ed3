//! A range query equals the instant query at each of its steps.

use proptest::prelude::*;

use super::*;

const QUERIES: &[&str] = &[
    "m",
    "m offset 37s",
    "m @ 600",
    "rate(m[3m])",
    "increase(m[90s])",
    "delta(m[5m] offset -1m)",
    "irate(m[3m])",
    "idelta(m[3m])",
    "deriv(m[4m])",
    "predict_linear(m[4m], 60)",
    "double_exponential_smoothing(m[5m], 0.4, 0.6)",
    "sum_over_time(m[2m])",
    "avg_over_time(m[5m])",
    "min_over_time(m[5m])",
    "max_over_time(m[5m])",
    "stddev_over_time(m[5m])",
    "quantile_over_time(0.7, m[5m])",
    "mad_over_time(m[5m])",
    "changes(m[5m])",
    "resets(m[5m])",
    "last_over_time(m[2m])",
    "ts_of_max_over_time(m[5m])",
    "absent_over_time(m[30s])",
    "absent(m)",
    "sum(m)",
    "sum by (a) (m)",
    "avg without (a) (m)",
    "count(m)",
    "min(m)",
    "max by (b) (m)",
    "stdvar(m)",
    "quantile(0.3, m)",
    "topk(2, m)",
    "bottomk(1, m)",
    "limitk(2, m)",
    "limit_ratio(0.5, m)",
    "count_values(\"v\", m > 1)",
    "m + m",
    "m - on(a, b) other",
    "m / ignoring(b) group_left sum by (a) (m)",
    "m > other",
    "m > bool 1",
    "other * on(a) group_right m",
    "m == on(a, b) other",
    "m and other",
    "m or other * 2",
    "m unless on(a) other > 0",
    "m + on(a, b) fill(3) other",
    "-m",
    "abs(m) + time()",
    "timestamp(m)",
    "vector(scalar(other))",
    "clamp(m, scalar(m), 5)",
    "round(m, 0.3)",
    "label_replace(m, \"c\", \"$1\", \"a\", \"(.)\")",
    "max_over_time(rate(m[2m])[5m:30s])",
    "sum_over_time(m[3m:17s] @ 700)",
    "sum(rate(m[3m])) / sum(rate(other[3m]))",
    "histogram_quantile(0.6, label_replace(m, \"le\", \"$1\", \"b\", \"(.*)\"))",
    "year() + minute()",
    "increase(m[3m] anchored)",
    "rate(m[3m] smoothed)",
    "m smoothed",
];

/// Samples about every 15 seconds: numbers, gaps, NaN and stale markers.
fn samples() -> impl Strategy<Value = Vec<(i64, f64)>> {
    let value = prop_oneof![
        8 => (0_i32..50).prop_map(|value| f64::from(value) / 4.0),
        1 => Just(f64::NAN),
        1 => Just(STALE),
        1 => Just(f64::INFINITY),
    ];
    let sample = (0_i64..14, proptest::option::weighted(0.9, value));
    proptest::collection::vec(sample, 80).prop_map(|samples| {
        let numbered = samples.into_iter().zip(0_i64..);
        numbered
            .filter_map(|((jitter, value), at)| Some((at * 15 + jitter, value?)))
            .collect()
    })
}

fn stored() -> impl Strategy<Value = Vec<Series>> {
    let names = [
        ("m", "0", "1"),
        ("m", "0", "2"),
        ("m", "1", "+Inf"),
        ("other", "0", "1"),
        ("other", "1", "2"),
    ];
    proptest::collection::vec(samples(), names.len()).prop_map(move |all| {
        let named = names.iter().zip(all);
        named
            .map(|((name, a, b), samples)| {
                series(&[("__name__", *name), ("a", *a), ("b", *b)], &samples)
            })
            .collect()
    })
}

/// Labels and bits of what a range query has at one time.
fn cells(matrix: &[MatrixSeries], ts: i64) -> Vec<(String, u64)> {
    let mut cells: Vec<(String, u64)> = matrix
        .iter()
        .filter_map(|series| {
            let (_, value) = series.floats.iter().find(|(time, _)| *time == ts)?;
            Some((series.labels.to_string(), bits(*value)))
        })
        .collect();
    cells.sort();
    cells
}

fn bits(value: f64) -> u64 {
    if value.is_nan() {
        f64::NAN.to_bits()
    } else {
        value.to_bits()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Scenario: random series, a range query with steps that fit neither samples nor windows.
    /// Guarantees: at every step the same series with the same bits as the instant query there.
    #[test]
    fn every_step_equals_the_instant_query_there(stored in stored(), step in 7_i64..90, start in 0_i64..400) {
        for query in QUERIES {
            let range = (start, start + 11 * step, step);
            let whole = matrix(query, range, &stored);
            for index in 0..12 {
                let seconds = start + index * step;
                let mut single: Vec<(String, u64)> = at(query, seconds, &stored)
                    .into_iter()
                    .map(|(labels, value)| (labels, bits(value)))
                    .collect();
                single.sort();
                prop_assert_eq!(cells(&whole, seconds * 1000), single, "{} at {}", query, seconds);
            }
        }
    }
}
