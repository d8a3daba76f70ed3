//! What is to be read → the SQL that reads it: the only file of this service with SQL text.
//!
//! Every function takes a [`TenantScope`] first, so nothing here can be asked without an authenticated
//! request. Values reach the text through the client's `bind`, which quotes them; a property test holds
//! it to that.

use std::sync::Arc;

use auth::tenant::TenantScope;
use clickhouse::Client;
use clickhouse::query::Query;
use schemas::rows::{SeriesKind, bucket_of, day_of};
use schemas::tables::{HISTOGRAMS, LABEL_VALUES, METADATA, SAMPLES, SERIES};

/// Names of stored metrics.
pub(crate) type Names = [Arc<str>];

/// A label that must have exactly this value (`""`: be absent).
pub(crate) type Equal = (String, String);

/// The last millisecond that a ClickHouse `DateTime` reaches.
const LAST_TIME: i64 = 4_294_967_295_999;
/// A day in milliseconds.
const DAY: i64 = 86_400_000;

/// Samples after `start` and up to `end`, milliseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Window {
    start: i64,
    end: i64,
}

impl Window {
    /// The part of `(start, end]` in which there can be samples; `None` if there is none.
    pub(crate) fn new(start: i64, end: i64) -> Option<Self> {
        let (start, end) = (start.max(-1), end.min(LAST_TIME));
        (start < end).then_some(Self { start, end })
    }

    /// The days that the window touches.
    pub(crate) fn days(self) -> Days {
        Days {
            first: day_of(self.start.saturating_add(1)),
            last: day_of(self.end),
        }
    }
}

/// Days since the epoch, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Days {
    pub(crate) first: u16,
    pub(crate) last: u16,
}

impl Days {
    /// The days of `start` to `end`, milliseconds, both included; none where the end comes first.
    pub(crate) fn between(start: i64, end: i64) -> Self {
        if end < start {
            return Self { first: 1, last: 0 };
        }
        Self {
            first: day_of(start),
            last: day_of(end),
        }
    }

    /// All of these days; `None` where there are none.
    pub(crate) fn window(self) -> Option<Window> {
        let midnight = |day: i64| (day * DAY).saturating_sub(1);
        Window::new(
            midnight(self.first.into()),
            midnight(i64::from(self.last) + 1),
        )
    }
}

/// Which rows of `samples` or `histograms` are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read<'a> {
    /// At least one stored metric.
    pub(crate) metrics: &'a Names,
    pub(crate) window: Window,
    /// Only these series, where not all.
    pub(crate) ids: Option<&'a [u64]>,
}

/// How much of a histogram point is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    /// Count and sum.
    Totals,
    /// And the buckets of explicit bounds.
    Explicit,
    /// And all that exponential buckets need.
    Everything,
}

impl Detail {
    const fn columns(self) -> &'static str {
        match self {
            Self::Totals => "count, sum",
            Self::Explicit => "count, sum, pos",
            Self::Everything => {
                "count, sum, pos, scale, zero_threshold, zero_count, pos_offset, neg_offset, neg"
            }
        }
    }
}

/// The column that says which metric of [`Read::metrics`] a row belongs to, counted from 1; there only
/// if there are several.
pub(crate) const METRIC_COLUMN: &str = "m";

/// Float samples as a Native stream: `[m], id, ts, value`.
pub(crate) fn samples(scope: &TenantScope, client: &Client, read: &Read<'_>) -> Query {
    points(scope, client, SAMPLES, "value", read)
}

/// Histogram points as a Native stream: `[m], id, ts` and the columns of `detail`.
pub(crate) fn histograms(
    scope: &TenantScope,
    client: &Client,
    read: &Read<'_>,
    detail: Detail,
) -> Query {
    points(scope, client, HISTOGRAMS, detail.columns(), read)
}

/// No ORDER BY and no JOIN: rows come in runs of one series, as the sorting key has them.
fn points(
    scope: &TenantScope,
    client: &Client,
    table: &str,
    columns: &str,
    read: &Read<'_>,
) -> Query {
    let several = read.metrics.len() > 1;
    // A look-up in a hash table, done once for each entry of the column's dictionary.
    let which = if several {
        "CAST(transform(metric, ?, ?, 0) AS UInt32) AS m, "
    } else {
        ""
    };
    let metric = if several { "IN ?" } else { "= ?" };
    let ids = if read.ids.is_some() {
        " AND id IN ?"
    } else {
        ""
    };
    let mut query = client.query(&format!(
        "SELECT {which}id, ts, {columns} FROM {table} WHERE tenant = ? AND metric {metric} \
         AND b >= toDateTime(?, 'UTC') AND b <= toDateTime(?, 'UTC') \
         AND ts > fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND ts <= fromUnixTimestamp64Milli(toInt64(?), 'UTC'){ids}"
    ));
    if several {
        let positions: Vec<usize> = (1..=read.metrics.len()).collect();
        query = query.bind(read.metrics).bind(positions);
    }
    query = query.bind(scope.tenant().as_str());
    query = match read.metrics {
        [metric] => query.bind(&**metric),
        metrics => query.bind(metrics),
    };
    query = query
        .bind(bucket_of(read.window.start.saturating_add(1)))
        .bind(bucket_of(read.window.end))
        .bind(read.window.start)
        .bind(read.window.end);
    match read.ids {
        Some(ids) => query.bind(ids),
        None => query,
    }
}

/// Which metrics have points on these days, with the kinds of their series: `metric, kinds`.
pub(crate) fn metrics(scope: &TenantScope, client: &Client, days: Days, limit: usize) -> Query {
    let text = format!(
        "SELECT metric, groupUniqArray(toUInt8(kind)) AS kinds FROM {SERIES} \
         WHERE tenant = ? AND day >= toDate(?) AND day <= toDate(?) GROUP BY metric LIMIT ?"
    );
    client
        .query(&text)
        .bind(scope.tenant().as_str())
        .bind(days.first)
        .bind(days.last)
        .bind(limit)
}

/// The series of `metrics` on these days whose labels have the values in `equals` (`""`: absent):
/// `metric, id, kind, labels, bounds`.
pub(crate) fn series(
    scope: &TenantScope,
    client: &Client,
    (metrics, equals): (&Names, &[Equal]),
    days: Days,
    limit: usize,
) -> Query {
    let conditions = " AND labels[?] = ?".repeat(equals.len());
    let text = format!(
        "SELECT metric, id, kind, labels, bounds FROM {SERIES} \
         WHERE tenant = ? AND metric IN ? AND day >= toDate(?) AND day <= toDate(?){conditions} \
         LIMIT 1 BY metric, id LIMIT ?"
    );
    let mut query = client
        .query(&text)
        .bind(scope.tenant().as_str())
        .bind(metrics)
        .bind(days.first)
        .bind(days.last);
    for (name, value) in equals {
        query = query.bind(name.as_str()).bind(value.as_str());
    }
    query.bind(limit)
}

/// The label names of `metrics` (`None`: of all) on these days: one column.
pub(crate) fn label_names(
    scope: &TenantScope,
    client: &Client,
    metrics: Option<&Names>,
    days: Days,
) -> Query {
    let condition = if metrics.is_some() {
        " AND metric IN ?"
    } else {
        ""
    };
    let text = format!(
        "SELECT DISTINCT toString(key) FROM {LABEL_VALUES} \
         WHERE tenant = ? AND day >= toDate(?) AND day <= toDate(?){condition}"
    );
    let query = client
        .query(&text)
        .bind(scope.tenant().as_str())
        .bind(days.first)
        .bind(days.last);
    match metrics {
        Some(metrics) => query.bind(metrics),
        None => query,
    }
}

/// The values of label `name` of `metrics` (`None`: of all) on these days, in order: one column.
pub(crate) fn label_values(
    scope: &TenantScope,
    client: &Client,
    (name, metrics): (&str, Option<&Names>),
    days: Days,
    limit: usize,
) -> Query {
    let condition = if metrics.is_some() {
        " AND metric IN ?"
    } else {
        ""
    };
    let text = format!(
        "SELECT DISTINCT val FROM {LABEL_VALUES} \
         WHERE tenant = ? AND key = ?{condition} AND day >= toDate(?) AND day <= toDate(?) ORDER BY val LIMIT ?"
    );
    let mut query = client.query(&text).bind(scope.tenant().as_str()).bind(name);
    if let Some(metrics) = metrics {
        query = query.bind(metrics);
    }
    query.bind(days.first).bind(days.last).bind(limit)
}

/// The bucket bounds of the explicit histograms among `metrics` on these days: one column.
pub(crate) fn bounds(scope: &TenantScope, client: &Client, metrics: &Names, days: Days) -> Query {
    let text = format!(
        "SELECT DISTINCT arrayJoin(bounds) FROM {SERIES} \
         WHERE tenant = ? AND metric IN ? AND day >= toDate(?) AND day <= toDate(?) AND kind = ?"
    );
    client
        .query(&text)
        .bind(scope.tenant().as_str())
        .bind(metrics)
        .bind(days.first)
        .bind(days.last)
        .bind(SeriesKind::ExplicitHistogram.code())
}

/// Histogram series of `metrics` of which no point in the window has a sum: `metric, id`; by metric alone
/// (and id 0) unless `each`. Nearly always there are none, which the inner query finds out from the sorting
/// key and one bit a row.
pub(crate) fn sumless(
    scope: &TenantScope,
    client: &Client,
    metrics: &Names,
    window: Window,
    (each, limit): (bool, usize),
) -> Query {
    let rows = format!(
        "FROM {HISTOGRAMS} WHERE tenant = ? AND metric IN ? \
         AND b >= toDateTime(?, 'UTC') AND b <= toDateTime(?, 'UTC')"
    );
    let (id, by) = if each {
        ("id", "metric, id")
    } else {
        ("toUInt64(0)", "metric")
    };
    let text = format!(
        "SELECT metric, {id} {rows} AND metric IN (SELECT DISTINCT metric {rows} AND sum IS NULL) \
         GROUP BY {by} HAVING count(sum) = 0 LIMIT ?"
    );
    let mut query = client.query(&text);
    for _ in 0..2 {
        query = query
            .bind(scope.tenant().as_str())
            .bind(metrics)
            .bind(bucket_of(window.start.saturating_add(1)))
            .bind(bucket_of(window.end));
    }
    query.bind(limit)
}

/// What metric families are, the latest word first: `family, type, unit, help`.
pub(crate) fn metadata(
    scope: &TenantScope,
    client: &Client,
    family: Option<&str>,
    limit: usize,
) -> Query {
    let condition = if family.is_some() {
        " AND family = ?"
    } else {
        ""
    };
    let text = format!(
        "SELECT family, type, unit, help FROM {METADATA} WHERE tenant = ?{condition} \
         GROUP BY family, type, unit, help ORDER BY family, max(updated) DESC, type, unit, help LIMIT ?"
    );
    let mut query = client.query(&text).bind(scope.tenant().as_str());
    if let Some(family) = family {
        query = query.bind(family);
    }
    query.bind(limit)
}

/// Ends a statement of this service that nobody waits for any more.
pub(crate) fn kill(_: &TenantScope, client: &Client, query_id: &str) -> Query {
    client
        .query("KILL QUERY WHERE query_id = ? ASYNC")
        .bind(query_id)
}

#[cfg(test)]
mod tests;
