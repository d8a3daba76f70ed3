//! The query service over a real ClickHouse: rows in, Prometheus' JSON out.

mod engine;
mod service;
mod rows;
mod numbers;
mod histograms;
mod labels;
mod limits;
mod disconnect;
