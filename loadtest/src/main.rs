//! The loadtest command: a scenario → pushes at a pace, what they cost, and whether all of it arrived.

mod cli;
mod plan;
mod scenario;
mod encode;
mod target;
mod journal;
mod latency;
mod process;
mod drive;
mod verify;
mod stored;
mod run;
mod peers;
mod prepare;
mod report;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command};

/// All is well.
const OK: u8 = 0;
/// Something acknowledged is not there once, or nothing was acknowledged.
const FAILED: u8 = 1;
/// It could not be run; what the command line parser says, too.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match execute(&cli.command) {
        Ok((text, well)) => {
            // A reader that has gone, as `head` does, has seen enough.
            write!(std::io::stdout().lock(), "{text}").ok();
            ExitCode::from(if well { OK } else { FAILED })
        }
        Err(error) => {
            writeln!(std::io::stderr().lock(), "loadtest: {error:#}").ok();
            ExitCode::from(USAGE)
        }
    }
}

/// What is printed, and whether all is well.
fn execute(command: &Command) -> anyhow::Result<(String, bool)> {
    // One thread: what the generator uses is not there for what it measures.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match command {
        Command::Run(args) => runtime.block_on(run::run(args)),
        Command::Verify(args) => runtime.block_on(run::verify(args)),
        Command::Peers(args) => runtime.block_on(peers::peers(args)),
        Command::Prepare(args) => prepare::prepare(args),
        Command::Render(args) => report::render(args),
    }
}

/// Tells the person who waits what is being done.
fn note(text: &str) {
    writeln!(std::io::stderr().lock(), "{text}").ok();
}
