//! PromQL over series in memory: text becomes an expression, an expression and the series it selects
//! become a value. Pure: no I/O, no clock, no async (the manifest proves it).
//!
//! The path of a query: [`parse::parse`] → [`select::Plan`] (the caller fetches
//! what its selections name) → [`eval::evaluate`].

pub mod ast;
pub mod functions;
pub mod parse;
pub mod format;
pub mod labels;
pub mod histogram;
pub mod series;
pub mod select;
pub mod eval;
pub mod value;
pub mod error;

mod annotations;
mod civil;
mod kahan;
mod math;
mod number;
