//! The embedded server as its clients see it: real engine, a process and a folder per test.

mod server;
mod statements;
mod inserts;
mod streams;
mod lifecycle;
