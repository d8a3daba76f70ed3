//! What every service does before and after serving: configuration, logs, metrics, listening, stopping
//! — and the one closed list of error kinds that knows HTTP.

pub mod config;
pub mod error;
pub mod logging;
pub mod metrics;
pub mod admin;
pub mod tasks;
pub mod shutdown;
pub mod serve;
