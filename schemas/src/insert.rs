//! A table → the statements that fill it and that tell what is in it.

use std::collections::BTreeSet;

/// Inserts blocks in ClickHouse's Native format, whose columns name themselves.
#[must_use]
pub fn native(table: &'static str) -> String {
    format!("INSERT INTO {table} FORMAT Native")
}

/// What makes a row of `samples` or `histograms` the row that it is: tenant, metric, `b`, id and `ts` in
/// milliseconds.
pub type PointKey = (String, String, u32, u64, i64);

/// Asks whether all of these points are stored; the answer is one `UInt8`, 1 or 0. To be bound: the points.
#[must_use]
pub fn all_stored(table: &'static str, points: &BTreeSet<PointKey>) -> String {
    let count = points.len();
    format!(
        "SELECT uniqExact(tenant, metric, id, ts) = {count} FROM {table} \
         WHERE (tenant, metric, b, id, toUnixTimestamp64Milli(ts)) IN ?"
    )
}
