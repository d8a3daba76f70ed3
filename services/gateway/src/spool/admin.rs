//! A spool's folder → what an operator sees and does, while a gateway works on it or not.
//!
//! A running gateway looks at its folder every few seconds: what is put back is delivered, what is dropped frees
//! its room. None of this touches a segment that waits for delivery.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use super::aside::{self, Note};
use super::disk::{Disk, Local};
use super::name::{self, ASIDE, Kind};
use super::segment::{HEADER, Identity};

/// A segment in the folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Sixteen hex digits; what [`retry`] and [`discard`] take.
    pub name: String,
    /// Where it stands.
    pub place: Place,
    /// Size of its file.
    pub bytes: u64,
    /// When it was begun, RFC 3339.
    pub begun: String,
    /// The token of its INSERTs; `None` when its header cannot be read.
    pub token: Option<String>,
    /// Why it was set aside, where that is written down.
    pub note: Option<Note>,
}

/// Where a segment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// It is being written, or a killed gateway left it so.
    Open,
    /// It waits for delivery.
    Waiting,
    /// It was refused again and again and waits for an operator.
    Aside,
}

/// Why an operator's wish is not done.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// No such segment is set aside.
    #[error("no segment {name} is set aside in {folder}; `sluice spool list` names those that are")]
    NotAside {
        /// As it was given.
        name: String,
        /// The spool's folder.
        folder: PathBuf,
    },
    /// The folder cannot be read or changed.
    #[error("cannot work on the spool's folder {folder}")]
    Folder {
        /// The spool's folder.
        folder: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
}

/// All segments of the spool in `folder`, in the order of their names: those that wait, then those set aside.
///
/// # Errors
/// [`AdminError::Folder`] when `folder` cannot be read.
pub fn list(folder: &Path) -> Result<Vec<Listed>, AdminError> {
    let mut all = segments(folder, false).map_err(failed(folder))?;
    match segments(&folder.join(ASIDE), true) {
        Ok(aside) => all.extend(aside),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(failed(folder)(source)),
    }
    Ok(all)
}

/// Puts a segment that was set aside back into the queue, under its old token.
///
/// # Errors
/// [`AdminError`]; the segment is then where it was.
pub fn retry(folder: &Path, name: &str) -> Result<(), AdminError> {
    let (number, path) = aside_segment(folder, name)?;
    let back = folder.join(name::sealed(number));
    let aside = folder.join(ASIDE);
    let moved = || {
        // Numbers are unique, so nothing is there unless somebody copied a file.
        if back.try_exists()? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(&path, &back)?;
        forget_note(&aside, number)?;
        sync(&aside)?;
        sync(folder)
    };
    moved().map_err(failed(folder))
}

/// Deletes a segment that was set aside; its records are lost.
///
/// # Errors
/// [`AdminError`]; the segment is then where it was.
pub fn discard(folder: &Path, name: &str) -> Result<(), AdminError> {
    let (number, path) = aside_segment(folder, name)?;
    let aside = folder.join(ASIDE);
    let removed = || {
        fs::remove_file(&path)?;
        forget_note(&aside, number)?;
        sync(&aside)
    };
    removed().map_err(failed(folder))
}

/// The segments of one folder, in the order of their names.
fn segments(folder: &Path, aside: bool) -> io::Result<Vec<Listed>> {
    let mut listed = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Some((number, kind)) = name::parse(&entry.file_name()) else {
            continue;
        };
        let bytes = match entry.metadata() {
            Ok(file) => file.len(),
            // Delivered just now.
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let start = Local.read(&entry.path(), u64::try_from(HEADER).unwrap_or(0));
        let identity = start.ok().and_then(|start| Identity::read(&start).ok());
        listed.push(Listed {
            name: format!("{number:016x}"),
            place: match kind {
                _ if aside => Place::Aside,
                Kind::Open => Place::Open,
                Kind::Sealed => Place::Waiting,
            },
            bytes,
            begun: Timestamp::try_from(name::begun(number))
                .map(|begun| begun.to_string())
                .unwrap_or_default(),
            token: identity.map(|identity| identity.token()),
            note: aside.then(|| aside::note(folder, number)).flatten(),
        });
    }
    listed.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(listed)
}

fn aside_segment(folder: &Path, name: &str) -> Result<(u64, PathBuf), AdminError> {
    let missing = || AdminError::NotAside {
        name: name.to_owned(),
        folder: folder.to_owned(),
    };
    let number = name::number(name).ok_or_else(missing)?;
    let path = folder.join(ASIDE).join(name::sealed(number));
    match path.try_exists() {
        Ok(true) => Ok((number, path)),
        Ok(false) => Err(missing()),
        Err(source) => Err(failed(folder)(source)),
    }
}

fn forget_note(aside: &Path, number: u64) -> io::Result<()> {
    match fs::remove_file(aside.join(name::note(number))) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn failed(folder: &Path) -> impl Fn(io::Error) -> AdminError {
    let folder = folder.to_owned();
    move |source| AdminError::Folder {
        folder: folder.clone(),
        source,
    }
}
