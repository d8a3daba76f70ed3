//! `sluice spool …`: a gateway's folder of segments → a list, or one segment put back or deleted.

use bytesize::ByteSize;
use gateway::spool::admin::{self, AdminError, Listed, Place};

use crate::cli::{OutputArg, SegmentArgs, ServiceArgs, SpoolCommand};
use crate::config::Config;
use crate::exit::{Exit, Failure};
use crate::say;

/// Runs the command and prints its result.
///
/// # Errors
/// [`Exit::NotFound`] for a segment that is not set aside.
pub(crate) fn spool(command: &SpoolCommand) -> Result<Exit, Failure> {
    match command {
        SpoolCommand::List { service, output } => list(service, *output)?,
        SpoolCommand::Retry(SegmentArgs { service, segment }) => {
            admin::retry(&folder(service)?, segment).map_err(failed)?;
            say!("{segment} waits for delivery again")?;
        }
        SpoolCommand::Drop(SegmentArgs { service, segment }) => {
            admin::discard(&folder(service)?, segment).map_err(failed)?;
            say!("{segment} is deleted")?;
        }
    }
    Ok(Exit::Ok)
}

fn folder(service: &ServiceArgs) -> Result<std::path::PathBuf, Failure> {
    Ok(Config::load(service)?.gateway.spool.dir)
}

fn failed(error: AdminError) -> Failure {
    let exit = match error {
        AdminError::NotAside { .. } => Exit::NotFound,
        AdminError::Folder { .. } => Exit::Server,
    };
    Failure::new(exit, error)
}

fn list(service: &ServiceArgs, output: OutputArg) -> Result<(), Failure> {
    let segments = admin::list(&folder(service)?).map_err(failed)?;
    if output == OutputArg::Json {
        say!("{}", serde_json::to_string_pretty(&segments)?)?;
        return Ok(());
    }
    if segments.is_empty() {
        say!("nothing waits and nothing is set aside")?;
        return Ok(());
    }
    say!(
        "{:<16}  {:<7}  {:>10}  {:<27}  WHY",
        "SEGMENT",
        "STATE",
        "SIZE",
        "BEGUN"
    )?;
    for segment in &segments {
        let Listed {
            name, begun, note, ..
        } = segment;
        let state = match segment.place {
            Place::Open => "open",
            Place::Waiting => "waiting",
            Place::Aside => "aside",
        };
        let size = ByteSize::b(segment.bytes).to_string();
        let why = note.as_ref().map_or("", |note| note.why.as_str());
        say!("{name:<16}  {state:<7}  {size:>10}  {begun:<27}  {why}")?;
    }
    Ok(())
}
