//! `sluice keys …`: looking at a key and making one, both without a network.

use auth::key::{KeyClass, PlainKey, inspect};

use crate::cli::{ClassArg, KeysCommand};
use crate::exit::{Exit, Failure};
use crate::say;

impl From<ClassArg> for KeyClass {
    fn from(class: ClassArg) -> Self {
        match class {
            ClassArg::Ingest => Self::Ingest,
            ClassArg::Query => Self::Query,
            ClassArg::Admin => Self::Admin,
        }
    }
}

/// Runs the command and prints its result.
///
/// # Errors
/// [`Exit::Usage`] for a text that is not a whole key; the text itself is never printed.
pub(crate) fn keys(command: &KeysCommand) -> Result<Exit, Failure> {
    match command {
        KeysCommand::Inspect { key } => {
            let (class, kid) = inspect(key).map_err(|error| Failure::new(Exit::Usage, error))?;
            say!("class     {}", class.label())?;
            say!("key id    {kid}")?;
            say!("checksum  right: the key was copied whole")?;
        }
        KeysCommand::Generate { offline: _, class } => {
            let key = PlainKey::generate((*class).into())?;
            say!("{}", key.expose_once())?;
        }
    }
    Ok(Exit::Ok)
}
