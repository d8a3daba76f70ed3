//! What went wrong → the exit code that scripts rely on.

use std::process::ExitCode;

/// Exit codes of every subcommand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Ok = 0,
    /// It ran, and something in it was not accepted.
    Partial = 1,
    /// Wrong arguments or unreadable input.
    Usage = 2,
    /// The key was refused.
    Auth = 3,
    /// Nothing under that name or path.
    NotFound = 4,
    /// It clashes with what is there (a second instance on one folder).
    Conflict = 5,
    /// Over a limit.
    Limit = 6,
    /// The other side, or this machine, failed.
    Server = 7,
    /// The configuration is wrong (`EX_USAGE` of sysexits).
    Config = 64,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

impl Exit {
    /// The number the shell sees.
    #[must_use]
    pub(crate) const fn number(self) -> u8 {
        self as u8
    }

    /// The code for an HTTP status that is not a success.
    #[must_use]
    pub(crate) const fn of_status(status: u16) -> Self {
        match status {
            401 | 403 => Self::Auth,
            404 | 405 => Self::NotFound,
            409 | 412 => Self::Conflict,
            413 | 429 => Self::Limit,
            400..=499 => Self::Usage,
            _ => Self::Server,
        }
    }
}

/// A failure with the exit code that it deserves.
#[derive(Debug)]
pub(crate) struct Failure {
    /// How the process ends.
    pub(crate) exit: Exit,
    /// What the person at the terminal reads, causes included.
    pub(crate) error: anyhow::Error,
}

impl Failure {
    /// Ends the process with `exit` and this text.
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self {
            exit,
            error: error.into(),
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(Exit::Server, error)
    }
}
