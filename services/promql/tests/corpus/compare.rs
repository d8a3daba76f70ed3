//! A value and what was expected in, agreement or the first difference out.

use std::sync::Arc;

use promql::histogram::{Buckets, Histogram};
use promql::labels::Labels;
use promql::series::is_stale;
use promql::value::{MatrixSeries, Point, Value, VectorSample};

use crate::expect::Expectations;
use crate::script::Eval;
use crate::sequence::Sample;

/// Whether two numbers are the same but for rounding.
pub(crate) fn almost_equal(a: f64, b: f64) -> bool {
    const EPSILON: f64 = 1e-6;
    if is_stale(a) || is_stale(b) {
        return is_stale(a) && is_stale(b);
    }
    if (a.is_nan() && b.is_nan()) || a == b {
        return true;
    }
    let (sum, difference) = (a.abs() + b.abs(), (a - b).abs());
    if a == 0.0 || b == 0.0 || sum < f64::MIN_POSITIVE {
        return difference < EPSILON * f64::MIN_POSITIVE;
    }
    difference / sum.min(f64::MAX) < EPSILON
}

pub(crate) fn value(eval: &Eval, found: &Value) -> Result<(), String> {
    let expect = &eval.expect;
    match found {
        Value::Scalar { value, .. } => match expect.scalar {
            Some(expected) if almost_equal(expected, *value) => Ok(()),
            expected => Err(format!("scalar {value}, expected {expected:?}")),
        },
        Value::String { value, .. } => match &expect.text {
            Some(expected) if expected == value => Ok(()),
            expected => Err(format!("string {value:?}, expected {expected:?}")),
        },
        Value::Vector(samples) => vector(expect, samples),
        Value::Matrix(series) => matrix(eval, series),
    }
}

pub(crate) fn vector(expect: &Expectations, samples: &[VectorSample]) -> Result<(), String> {
    if expect.scalar.is_some() {
        return Err(format!(
            "a vector of {} samples, expected a scalar",
            samples.len()
        ));
    }
    for (position, sample) in samples.iter().enumerate() {
        let at = expect
            .series
            .iter()
            .position(|(labels, _)| *labels == sample.labels);
        let Some(at) = at else {
            return Err(format!("unexpected {} = {:?}", sample.labels, sample.value));
        };
        if expect.ordered && at != position {
            return Err(format!(
                "{} is at {position}, expected at {at}",
                sample.labels
            ));
        }
        let Some(Some(expected)) = expect.series[at].1.first() else {
            return Err(format!("{}: no value is expected", sample.labels));
        };
        same(&sample.labels, expected, &sample.value)?;
    }
    missing(expect, samples.iter().map(|sample| &sample.labels))
}

fn same(labels: &Labels, expected: &Sample, found: &Point) -> Result<(), String> {
    let agrees = match (expected, found) {
        (Sample::Float(expected), Point::Float(found)) => almost_equal(*expected, *found),
        (Sample::Histogram(expected, hinted), Point::Histogram(found)) => {
            same_histogram(expected, found, *hinted)
        }
        _ => false,
    };
    if agrees {
        Ok(())
    } else {
        Err(format!("{labels} is {found:?}, expected {expected:?}"))
    }
}

fn missing<'l>(
    expect: &Expectations,
    mut found: impl Iterator<Item = &'l Labels> + Clone,
) -> Result<(), String> {
    let unseen = expect
        .series
        .iter()
        .find(|(labels, _)| !found.clone().any(|seen| seen == labels));
    let _ = found.next();
    match unseen {
        Some((labels, _)) => Err(format!("expected {labels} is not there")),
        None => Ok(()),
    }
}

fn matrix(eval: &Eval, found: &[MatrixSeries]) -> Result<(), String> {
    let expect = &eval.expect;
    if expect.scalar.is_some() || expect.ordered {
        return Err("a matrix, expected something else".to_owned());
    }
    sorted(found)?;
    for series in found {
        let labels = &series.labels;
        let Some((_, values)) = expect
            .series
            .iter()
            .find(|(expected, _)| expected == labels)
        else {
            return Err(format!(
                "unexpected {labels} = {:?} {:?}",
                series.floats, series.histograms
            ));
        };
        let mut floats = series.floats.iter();
        let mut histograms = series.histograms.iter();
        for (position, value) in values.iter().enumerate() {
            let ts = eval.start + eval.step * i64::try_from(position).unwrap();
            if ts > eval.end {
                return Err(format!(
                    "{labels}: more values expected than there are steps"
                ));
            }
            let found = match value {
                None => continue,
                Some(Sample::Float(_)) => {
                    floats.next().map(|(ts, value)| (*ts, Point::Float(*value)))
                }
                Some(Sample::Histogram(..)) => histograms
                    .next()
                    .map(|(ts, value)| (*ts, Point::Histogram(Arc::clone(value)))),
            };
            match (value, found) {
                (Some(expected), Some((found_ts, found))) if found_ts == ts => {
                    same(labels, expected, &found)?
                }
                (_, found) => {
                    return Err(format!(
                        "{labels} at {ts}: got {found:?}, expected {value:?}"
                    ));
                }
            }
        }
        if floats.next().is_some() || histograms.next().is_some() {
            return Err(format!(
                "{labels}: more values than expected: {:?}",
                series.floats
            ));
        }
    }
    missing(expect, found.iter().map(|series| &series.labels))
}

/// The series of a matrix stand in the order of their labels.
pub(crate) fn sorted(series: &[MatrixSeries]) -> Result<(), String> {
    if series.is_sorted_by(|left, right| left.labels < right.labels) {
        return Ok(());
    }
    Err("the series of the matrix are not sorted".to_owned())
}

fn same_histogram(expected: &Histogram, found: &Histogram, hinted: bool) -> bool {
    let (mut expected, mut found) = (expected.clone(), found.clone());
    expected.compact();
    found.compact();
    expected.schema == found.schema
        && almost_equal(expected.count, found.count)
        && almost_equal(expected.sum, found.sum)
        && expected.custom_bounds == found.custom_bounds
        && expected.zero_threshold == found.zero_threshold
        && almost_equal(expected.zero_count, found.zero_count)
        && same_buckets(&expected.positive, &found.positive)
        && same_buckets(&expected.negative, &found.negative)
        && (!hinted || expected.reset_hint == found.reset_hint)
}

fn same_buckets(expected: &Buckets, found: &Buckets) -> bool {
    expected.len() == found.len()
        && expected
            .iter()
            .zip(found.iter())
            .all(|(left, right)| left.0 == right.0 && almost_equal(left.1, right.1))
}
