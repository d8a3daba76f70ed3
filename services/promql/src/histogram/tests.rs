//! Histograms small enough to compute by hand, and what has to come of them.

mod arith;
mod build;
mod compensated;
mod properties;
mod quantile;
mod rate;
mod trim;

use super::{Buckets, CUSTOM_SCHEMA, Histogram, ResetHint};

/// Exponential buckets from index 0 up, count and sum as given.
fn exponential(schema: i32, counts: &[f64], count: f64, sum: f64) -> Histogram {
    Histogram {
        schema,
        count,
        sum,
        positive: run(0, counts),
        ..Histogram::default()
    }
}

/// Custom buckets from index 0 up; the count is their sum.
fn custom(bounds: &[f64], counts: &[f64], sum: f64) -> Histogram {
    Histogram {
        schema: CUSTOM_SCHEMA,
        count: counts.iter().sum(),
        sum,
        positive: run(0, counts),
        custom_bounds: bounds.into(),
        ..Histogram::default()
    }
}

fn run(offset: i32, counts: &[f64]) -> Buckets {
    Buckets::run(offset, counts.to_vec()).expect("the indexes fit")
}

fn hinted(mut histogram: Histogram, hint: ResetHint) -> Histogram {
    histogram.reset_hint = hint;
    histogram
}

fn pairs(buckets: &Buckets) -> Vec<(i32, f64)> {
    buckets.iter().collect()
}

#[track_caller]
fn assert_close(actual: f64, expected: f64) {
    let scale = expected.abs().max(1.0);
    assert!(
        (actual - expected).abs() <= 1e-12 * scale,
        "{actual} is not {expected}"
    );
}
