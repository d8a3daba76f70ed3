//! PromQL over series in memory: text becomes an expression, an expression and the series it selects
//! become a value. Pure: no I/O, no clock, no async (the manifest proves it).
//!
//! The path of a query: [`parse::parse`] → [`select::selections`] (the caller fetches what is named
//! there) → [`eval::evaluate`].

pub mod ast;
pub mod functions;
pub mod histogram;
pub mod labels;
pub mod series;
