//! A table → the statement that inserts blocks into it.

/// Inserts blocks in ClickHouse's Native format, whose columns name themselves.
#[must_use]
pub fn native(table: &'static str) -> String {
    format!("INSERT INTO {table} FORMAT Native")
}
