//! The `sluice` command: arguments → one role, all roles, or an admin tool.

mod cli;
mod exit;
mod config;
mod bootstrap;
mod child;
mod up;
mod roles;
mod push;
mod keys;
mod spool;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::exit::{Exit, Failure};

/// Allocation is a third of a push's cost; this allocator is the fastest of those tried.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Prints a line on standard output and reports a closed pipe instead of panicking.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        writeln!(std::io::stdout(), $($text)*)
    }};
}
pub(crate) use say;

fn main() -> ExitCode {
    let command = Cli::parse().command;
    let leaves_hard = matches!(command, Command::Clickhouse(_));
    let exit = match run(command) {
        Ok(exit) => exit,
        Err(Failure { exit, error }) => {
            use std::io::Write as _;
            // Nothing sensible is left to do when standard error is closed as well.
            drop(writeln!(std::io::stderr(), "sluice: {error:#}"));
            exit
        }
    };
    if leaves_hard {
        // The engine's own exit handlers hang in an ordinary return from main.
        embedded::exit_now(i32::from(exit.number()));
    }
    exit.into()
}

fn run(command: Command) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let exit = runtime.block_on(async {
        match command {
            Command::Up(args) => up::up(&args).await,
            Command::Gateway(args) => roles::gateway(&args).await,
            Command::Query(args) => roles::query(&args).await,
            Command::Clickhouse(args) => roles::clickhouse(&args).await,
            Command::Migrate(args) => roles::migrate(&args).await,
            Command::Push(args) => push::push(&args).await,
            Command::Keys(command) => keys::keys(&command),
            Command::Spool(command) => spool::spool(&command),
        }
    });
    // Work that never ends by itself (a blocked engine call) must not keep the process.
    runtime.shutdown_background();
    exit
}
