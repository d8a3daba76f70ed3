//! What system tests need: a running `sluice`, ways to push into it and to ask it, and the shapes of
//! what goes in and comes out, written apart from the code that they test.
#![expect(
    clippy::panic,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on stops with the reason"
)]

pub mod process;
pub mod ports;
pub mod clock;
pub mod stack;
pub mod keys;
pub mod otlp;
pub mod proto;
pub mod push;
pub mod spool;
pub mod ask;
pub mod oracle;
