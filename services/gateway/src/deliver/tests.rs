//! Segments → a real ClickHouse, through crashes, and back.

mod engine;
mod segment;
mod values;
mod crashes;
