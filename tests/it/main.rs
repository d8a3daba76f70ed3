//! The system from outside: every test starts its own `sluice` and talks to it as its users do.
#![expect(
    clippy::panic,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on stops with the reason"
)]

mod tidy;
mod up;
mod roles;
mod schema;
mod names;
mod payloads;
mod answers;
mod isolation;
mod failure;
mod crash;
mod spool;
mod steps;
mod midnight;
mod cerebrium;
mod dcgm;
mod providers;
mod grafana;
mod hostile;
mod promtool;
mod sdk;
mod loadtest;
mod readme;
