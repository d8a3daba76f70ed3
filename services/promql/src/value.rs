//! The value of a query, as the HTTP API and tests read it.

use std::sync::Arc;

use crate::histogram::Histogram;
use crate::labels::Labels;

/// What an expression evaluates to. Times are milliseconds since the Unix epoch.
#[derive(Clone, Debug)]
pub enum Value {
    /// One number, of an instant query.
    Scalar {
        /// The evaluation time.
        ts: i64,
        /// The number.
        value: f64,
    },
    /// One text, of an instant query.
    String {
        /// The evaluation time.
        ts: i64,
        /// The text.
        value: String,
    },
    /// One sample a series, of an instant query; the order is part of the answer (`sort`, `topk`).
    Vector(Vec<VectorSample>),
    /// Many samples a series: every range query, and instant queries that select a range; in label order.
    Matrix(Vec<MatrixSeries>),
}

/// One series of an instant vector.
#[derive(Clone, Debug)]
pub struct VectorSample {
    /// Its labels.
    pub labels: Labels,
    /// The evaluation time.
    pub ts: i64,
    /// Its value.
    pub value: Point,
}

/// A sample's value.
#[derive(Clone, Debug)]
pub enum Point {
    /// A number.
    Float(f64),
    /// A native histogram.
    Histogram(Arc<Histogram>),
}

/// One series with its samples in ascending time; a time is in one of the two lists.
#[derive(Clone, Debug)]
pub struct MatrixSeries {
    /// Its labels.
    pub labels: Labels,
    /// Numbers with their times.
    pub floats: Vec<(i64, f64)>,
    /// Native histograms with their times.
    pub histograms: Vec<(i64, Arc<Histogram>)>,
}

/// A value and what is to be said about how it came about.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The value.
    pub value: Value,
    /// Texts that start with `PromQL warning: `, in the order of their first appearance, at most 1,000
    /// of both kinds.
    pub warnings: Vec<String>,
    /// Texts that start with `PromQL info: `, likewise.
    pub infos: Vec<String>,
    /// Samples read, summed over all steps.
    pub total_samples: u64,
    /// Most samples held at one time.
    pub peak_samples: u64,
}
