//! The agreement between writer and reader: ClickHouse tables, the migrations that make them, and one
//! row type a table.
//!
//! The gateway fills [`rows`], the query service reads the same tables, `sluice migrate` calls
//! [`migrate::migrate`]; nobody else names a table.

pub mod connect;
pub mod tables;
pub mod rows;
pub mod insert;
pub mod migrate;
