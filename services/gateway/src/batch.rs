//! The rows of one push, as the spool keeps them: tenant, retention and metric names said once, rows by index.
//!
//! This is the form between `translate`, which makes it, and `deliver`, which merges the batches of a segment
//! into one block a table. A name of a row is an index into [`Batch::names`]; the time bucket `b` follows from
//! the timestamp and is not kept.

use serde::{Deserialize, Serialize};

mod encode;
pub(crate) mod rows;

pub use self::encode::DecodeError;

/// Everything of one push that goes to the tables of `schemas`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Tenant id.
    pub tenant: String,
    /// Days to keep the points.
    pub ret_days: u16,
    /// Metric and histogram family names of the rows below, each once; a name may be there without rows.
    pub names: Vec<String>,
    /// Gauges and sums, one a point.
    pub samples: Vec<Sample>,
    /// Histogram points, whole.
    pub histograms: Vec<Histogram>,
    /// Series of those points that were not known to be stored for that day.
    pub series: Vec<Series>,
    /// Metric families that were not known to be stored.
    pub metadata: Vec<Metadata>,
}

/// One float sample; a row of `samples`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Index of the metric name.
    pub name: u32,
    /// Series id; a hash, for which a variable length would be a waste.
    #[serde(with = "postcard::fixint::le")]
    pub id: u64,
    /// Milliseconds since the epoch.
    pub ts: i64,
    /// The value; the stale marker keeps its bits.
    pub value: f64,
    /// When the counter started, milliseconds since the epoch, 0 where unknown.
    pub start_ts: i64,
}

/// One histogram point; a row of `histograms`, whose columns the fields are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Index of the family name.
    pub name: u32,
    /// Series id; a hash, for which a variable length would be a waste.
    #[serde(with = "postcard::fixint::le")]
    pub id: u64,
    /// Milliseconds since the epoch.
    pub ts: i64,
    /// When the histogram started, milliseconds since the epoch, 0 where unknown.
    pub start_ts: i64,
    /// Number of observations.
    pub count: u64,
    /// Sum of observations, where given; the stale marker keeps its bits.
    pub sum: Option<f64>,
    /// Smallest observation, where given.
    pub min: Option<f64>,
    /// Greatest observation, where given.
    pub max: Option<f64>,
    /// Exponential scale, or [`schemas::rows::EXPLICIT_SCALE`].
    pub scale: i8,
    /// Width of the zero bucket.
    pub zero_threshold: f64,
    /// Observations in the zero bucket.
    pub zero_count: u64,
    /// Index of the first positive bucket.
    pub pos_offset: i32,
    /// Counts per bucket, not cumulative.
    pub pos: Vec<u64>,
    /// Index of the first negative bucket.
    pub neg_offset: i32,
    /// Counts per negative bucket, not cumulative.
    pub neg: Vec<u64>,
}

/// One series on one day; a row of `series`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Index of the metric or family name.
    pub name: u32,
    /// [`schemas::rows::day_of`] the points that it stands for.
    pub day: u16,
    /// Series id; a hash, for which a variable length would be a waste.
    #[serde(with = "postcard::fixint::le")]
    pub id: u64,
    /// [`schemas::rows::SeriesKind::code`].
    pub kind: u8,
    /// Labels without `__name__`, sorted by name.
    pub labels: Vec<(String, String)>,
    /// Explicit bucket bounds, ascending, without +Inf; empty for other kinds.
    pub bounds: Vec<f64>,
    /// First point of this push on that day, seconds since the epoch.
    pub first_seen: u32,
    /// Last point of this push on that day, seconds since the epoch.
    pub last_seen: u32,
}

/// What a metric family is; a row of `metadata`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Metadata {
    /// Family name.
    pub family: String,
    /// Prometheus type word.
    pub kind: String,
    /// Translated unit word (`milliseconds`), or empty.
    pub unit: String,
    /// The sender's description.
    pub help: String,
    /// When it was last pushed, seconds since the epoch.
    pub updated: u32,
}
