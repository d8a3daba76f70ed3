//! Promises of the evaluator that users rely on, with values computed by hand.

use crate::ast::Matcher;
use crate::error::EvalError;
use crate::labels::Labels;
use crate::parse::parse;
use crate::select::{Features, MatcherSet, Params, Plan, Selection};
use crate::series::{Floats, STALE_NAN, Series, SeriesSet};
use crate::value::{Answer, MatrixSeries, Point, Value, VectorSample};

mod answers;
mod errors;
mod order;
mod steps;

const STALE: f64 = f64::from_bits(STALE_NAN);

/// A series `name{a="1",…}` with samples at seconds.
fn series(labels: &[(&str, &str)], samples: &[(i64, f64)]) -> Series {
    let floats = Floats {
        ts: samples.iter().map(|(seconds, _)| seconds * 1000).collect(),
        values: samples.iter().map(|(_, value)| *value).collect(),
        starts: Vec::new(),
    };
    Series {
        labels: Labels::from_pairs(labels.iter().copied()),
        floats,
        ..Series::default()
    }
}

/// What a store would answer.
fn fetch(selection: &Selection, stored: &[Series]) -> SeriesSet {
    let matchers: &[Matcher] = &selection.matchers;
    let matchers = MatcherSet::new(matchers).unwrap();
    let cut = |series: &Series| {
        let inside = |(ts, _): &(i64, f64)| *ts > selection.start && *ts <= selection.end;
        let samples = series
            .floats
            .ts
            .iter()
            .copied()
            .zip(series.floats.values.iter().copied());
        let (ts, values) = samples.filter(inside).unzip();
        let floats = Floats {
            ts,
            values,
            starts: Vec::new(),
        };
        Series {
            labels: series.labels.clone(),
            floats,
            ..Series::default()
        }
    };
    let found = stored
        .iter()
        .filter(|series| matchers.matches(&series.labels));
    SeriesSet {
        series: found
            .map(cut)
            .filter(|series| !series.floats.ts.is_empty())
            .collect(),
    }
}

fn evaluate(query: &str, params: Params, stored: &[Series]) -> Result<Answer, EvalError> {
    let plan = Plan::new(parse(query).unwrap(), params)?.with_text(query);
    let sets = plan
        .selections()
        .iter()
        .map(|selection| fetch(selection, stored))
        .collect();
    super::evaluate(&plan, sets)
}

/// The instant vector at a time in seconds.
fn vector(query: &str, seconds: i64, stored: &[Series]) -> Vec<VectorSample> {
    match evaluate(query, Params::instant(seconds * 1000), stored)
        .unwrap()
        .value
    {
        Value::Vector(samples) => samples,
        other => panic!("{query} is no vector: {other:?}"),
    }
}

/// The values of an instant vector with their labels as text, in its order.
fn at(query: &str, seconds: i64, stored: &[Series]) -> Vec<(String, f64)> {
    let samples = vector(query, seconds, stored);
    samples
        .iter()
        .map(|sample| (sample.labels.to_string(), number(&sample.value)))
        .collect()
}

/// The values alone.
fn values(query: &str, seconds: i64, stored: &[Series]) -> Vec<f64> {
    at(query, seconds, stored)
        .into_iter()
        .map(|(_, value)| value)
        .collect()
}

fn number(point: &Point) -> f64 {
    match point {
        Point::Float(value) => *value,
        Point::Histogram(hist) => panic!("a histogram: {hist:?}"),
    }
}

/// The matrix of a range query over seconds.
fn matrix(
    query: &str,
    (start, end, step): (i64, i64, i64),
    stored: &[Series],
) -> Vec<MatrixSeries> {
    let params = Params::range(start * 1000, end * 1000, step * 1000);
    match evaluate(query, params, stored).unwrap().value {
        Value::Matrix(series) => series,
        other => panic!("{query} is no matrix: {other:?}"),
    }
}

fn error(query: &str, params: Params, stored: &[Series]) -> String {
    evaluate(query, params, stored).unwrap_err().to_string()
}
