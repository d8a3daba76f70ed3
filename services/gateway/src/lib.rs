//! OTLP in, ClickHouse rows out: the gateway's stages, in the order data passes them.
//!
//! Bytes become OTLP messages in [`decode`], messages become rows in [`translate`], and [`outcome`]
//! counts every point on the way: accepted, or rejected with a reason that the sender is told.

pub mod decode;
pub mod translate;
pub mod outcome;
