//! Settings → one log subscriber: JSON lines for machines or plain lines for people, on stderr.

use std::io::IsTerminal as _;

use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// How the process logs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `human` or `json`.
    pub format: Format,
    /// What is logged, in the syntax of `tracing`'s filter: `info`, `warn,gateway=debug` …
    pub filter: String,
}

/// The form of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// One readable line an event.
    Human,
    /// One JSON object an event.
    Json,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            format: Format::Human,
            filter: "info".to_owned(),
        }
    }
}

/// Why logging could not start.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// The filter cannot be read.
    #[error(
        "log.filter {filter:?} is not a valid filter; write for example \"info\" or \"warn,gateway=debug\""
    )]
    Filter {
        /// What was configured.
        filter: String,
        /// What is wrong with it.
        source: tracing_subscriber::filter::ParseError,
    },
    /// The process has a subscriber already.
    #[error("the log is already set up")]
    Twice,
}

/// Sends the process' log to stderr from now on.
///
/// # Errors
/// [`LoggingError`] for a filter that cannot be read or a second call.
pub fn start(config: &Config) -> Result<(), LoggingError> {
    let filter = EnvFilter::try_new(&config.filter).map_err(|source| LoggingError::Filter {
        filter: config.filter.clone(),
        source,
    })?;
    let registry = tracing_subscriber::registry().with(filter);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match config.format {
        Format::Human => registry.with(lines.with_target(false)).try_init(),
        Format::Json => registry.with(lines.json().flatten_event(true)).try_init(),
    }
    .map_err(|_| LoggingError::Twice)
}
