//! One row struct per table, in the order of the table's columns; a test compares them with the DDL.

use clickhouse::Row;
use serde::{Deserialize, Serialize};

/// Width of the time bucket `b`, in seconds: the part of the sorting key that makes windows prune.
pub const BUCKET_SECONDS: i64 = 2 * 60 * 60;

/// The start of the bucket that holds `ts_ms` (milliseconds since the epoch), in seconds; times
/// outside the range of a ClickHouse `DateTime` land in its first or last bucket.
#[must_use]
pub fn bucket_of(ts_ms: i64) -> u32 {
    let seconds = ts_ms.div_euclid(1000);
    let start = seconds - seconds.rem_euclid(BUCKET_SECONDS);
    u32::try_from(start.max(0)).unwrap_or(u32::MAX)
}

/// The day that holds `ts_ms` (milliseconds since the epoch), in days since the epoch; times outside
/// the range of a ClickHouse `Date` land on its first or last day.
#[must_use]
pub fn day_of(ts_ms: i64) -> u16 {
    u16::try_from(ts_ms.div_euclid(86_400_000).max(0)).unwrap_or(u16::MAX)
}

/// One float sample.
#[derive(Clone, Debug, PartialEq, Row, Serialize, Deserialize)]
pub struct SampleRow {
    /// Tenant id.
    pub tenant: String,
    /// Metric name as Prometheus knows it.
    pub metric: String,
    /// [`bucket_of`] the timestamp.
    pub b: u32,
    /// Series id: xxh3-64 of the sorted label set, unique within tenant and metric.
    pub id: u64,
    /// Milliseconds since the epoch.
    pub ts: i64,
    /// The value; the stale marker keeps its bits.
    pub value: f64,
    /// When the counter started, milliseconds since the epoch, 0 where unknown.
    pub start_ts: i64,
    /// Days to keep the row.
    pub ret_days: u16,
}

/// One histogram point, whole.
#[derive(Clone, Debug, PartialEq, Row, Serialize, Deserialize)]
pub struct HistogramRow {
    /// Tenant id.
    pub tenant: String,
    /// Family name, without `_bucket`, `_count`, `_sum`.
    pub metric: String,
    /// [`bucket_of`] the timestamp.
    pub b: u32,
    /// Series id; kind and bounds are part of it.
    pub id: u64,
    /// Milliseconds since the epoch.
    pub ts: i64,
    /// When the histogram started, milliseconds since the epoch, 0 where unknown.
    pub start_ts: i64,
    /// Number of observations.
    pub count: u64,
    /// Sum of observations; `None` where the sender gave none. The stale marker here ends every series
    /// of the point.
    pub sum: Option<f64>,
    /// Smallest observation, where given.
    pub min: Option<f64>,
    /// Greatest observation, where given.
    pub max: Option<f64>,
    /// Exponential scale, or [`EXPLICIT_SCALE`].
    pub scale: i8,
    /// Width of the zero bucket (exponential only).
    pub zero_threshold: f64,
    /// Observations in the zero bucket (exponential only).
    pub zero_count: u64,
    /// Index of the first positive bucket (exponential only).
    pub pos_offset: i32,
    /// Counts per bucket, not cumulative. Explicit: one more than bounds, or empty without bounds.
    pub pos: Vec<u64>,
    /// Index of the first negative bucket (exponential only).
    pub neg_offset: i32,
    /// Counts per negative bucket, not cumulative (exponential only).
    pub neg: Vec<u64>,
    /// Days to keep the row.
    pub ret_days: u16,
}

/// The `scale` of a histogram with explicit bounds.
pub const EXPLICIT_SCALE: i8 = -53;

/// What kind of points a series has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SeriesKind {
    /// Rows in `samples`.
    Number,
    /// Rows in `histograms` with explicit bounds.
    ExplicitHistogram,
    /// Rows in `histograms` with exponential buckets.
    ExponentialHistogram,
}

impl SeriesKind {
    /// The number stored in `series.kind`.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Number => 0,
            Self::ExplicitHistogram => 1,
            Self::ExponentialHistogram => 2,
        }
    }

    /// The kind stored as `code`; `None` for a number this version does not know.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Number),
            1 => Some(Self::ExplicitHistogram),
            2 => Some(Self::ExponentialHistogram),
            _ => None,
        }
    }
}

/// One series on one day.
#[derive(Clone, Debug, PartialEq, Row, Serialize, Deserialize)]
pub struct SeriesRow {
    /// Tenant id.
    pub tenant: String,
    /// Metric or histogram family name.
    pub metric: String,
    /// [`day_of`] the points that it stands for.
    pub day: u16,
    /// Series id.
    pub id: u64,
    /// [`SeriesKind::code`].
    pub kind: u8,
    /// Labels without `__name__`, sorted by name.
    pub labels: Vec<(String, String)>,
    /// Explicit bucket bounds, ascending, without +Inf; empty for other kinds.
    pub bounds: Vec<f64>,
    /// First sample seen on that day, seconds since the epoch.
    pub first_seen: u32,
    /// Last sample seen on that day, seconds since the epoch.
    pub last_seen: u32,
}

/// What a metric family is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Row, Serialize, Deserialize)]
pub struct MetadataRow {
    /// Tenant id.
    pub tenant: String,
    /// Family name.
    pub family: String,
    /// Prometheus type word: `counter`, `gauge`, `histogram`, `summary`, `unknown`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Translated unit word (`milliseconds`), or empty.
    pub unit: String,
    /// The sender's description.
    pub help: String,
    /// When it was last pushed, seconds since the epoch.
    pub updated: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_start_on_even_hours_and_never_leave_the_column() {
        assert_eq!(bucket_of(1_793_534_400_000), 1_793_534_400);
        assert_eq!(bucket_of(1_793_534_400_000 + 7_199_999), 1_793_534_400);
        assert_eq!(bucket_of(1_793_534_400_000 - 1), 1_793_534_400 - 7_200);
        assert_eq!(bucket_of(-1), 0);
        assert_eq!(bucket_of(i64::MAX), u32::MAX);
    }

    #[test]
    fn days_count_from_the_epoch_and_never_leave_the_column() {
        assert_eq!(day_of(86_400_000), 1);
        assert_eq!(day_of(86_399_999), 0);
        assert_eq!(day_of(-5), 0);
        assert_eq!(day_of(i64::MAX), u16::MAX);
    }
}
