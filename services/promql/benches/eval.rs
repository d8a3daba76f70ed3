//! Queries of a dashboard over a day of samples in, nanoseconds per sample out.
//!
//! 1,400 series (100 apps with 14 buckets each), one sample a minute for 24 hours, evaluated every minute. Samples
//! are those stored in the range, so that figures of different queries compare. `cargo bench -p promql`.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program that prints figures"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use promql::eval::evaluate;
use promql::labels::Labels;
use promql::parse::parse;
use promql::select::{Params, Plan};
use promql::series::{Floats, Series, SeriesSet};

const APPS: i64 = 100;
const BOUNDS: [&str; 14] = [
    "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "30", "60",
    "+Inf",
];
const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;
/// 2023-11-14, so that times are as long as real ones.
const START: i64 = 1_700_000_000_000;
const RUNS: usize = 7;

const QUERIES: [&str; 6] = [
    "m",
    "rate(m[5m])",
    "sum by (app) (rate(m[5m]))",
    "histogram_quantile(0.99, sum by (app, le) (rate(m[5m])))",
    "max_over_time(m[1h])",
    "topk(5, rate(m[5m]))",
];

fn main() {
    let set = series();
    let samples: usize = set.series.iter().map(|one| one.floats.ts.len()).sum();
    println!(
        "{} series, {samples} samples, best of {RUNS}",
        set.series.len()
    );
    for query in QUERIES {
        let params = Params::range(START, START + DAY - MINUTE, MINUTE);
        let plan = Plan::new(parse(query).expect("a query"), params).expect("a plan");
        let best = (0..RUNS)
            .map(|_| run(&plan, &set))
            .min()
            .unwrap_or_default();
        let nanos = best.as_nanos() as f64 / samples as f64;
        println!(
            "{nanos:7.2} ns/sample {:8.2} ms  {query}",
            best.as_secs_f64() * 1e3
        );
    }
}

/// The time of the evaluation alone.
fn run(plan: &Plan, set: &SeriesSet) -> Duration {
    let sets = vec![set.clone()];
    let start = Instant::now();
    let answer = evaluate(plan, sets).expect("an answer");
    let took = start.elapsed();
    black_box(answer);
    took
}

/// Counters that grow by whole numbers, the buckets of an app not falling with the bound; samples come a few
/// milliseconds early or late.
fn series() -> SeriesSet {
    let mut all = Vec::new();
    for app in 0..APPS {
        for (bucket, le) in (1..).zip(BOUNDS) {
            let ts: Vec<i64> = (0..DAY / MINUTE)
                .map(|at| START + at * MINUTE + (at * 7919 + app) % 20 - 10)
                .collect();
            let mut count = 0;
            let values = (0..DAY / MINUTE).map(|at| {
                count += bucket * ((at * 31 + app * 17) % 7);
                count as f64
            });
            let floats = Floats {
                values: values.collect(),
                ts,
                starts: Vec::new(),
            };
            let labels = [
                ("__name__", "m".to_owned()),
                ("app", format!("app{app:03}")),
                ("instance", format!("10.0.0.{app}:9100")),
                ("job", "serving".to_owned()),
                ("le", le.to_owned()),
                ("region", "us-east-1".to_owned()),
            ];
            all.push(Series {
                labels: Labels::from_pairs(labels),
                floats,
                ..Series::default()
            });
        }
    }
    all.sort_by(|left, right| left.labels.cmp(&right.labels));
    SeriesSet { series: all }
}
