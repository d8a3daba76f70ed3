//! A path → the spool's folder, which only this process uses, and the segments that earlier processes left in it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::disk::Disk;
use super::metrics::{Loss, Meters};
use super::name::{self, ASIDE, Kind};
use super::segment::{Damage, HEADER, Identity, Unreadable};
use super::state::Sealed;

/// Holds the process id of the owner; locked as long as the owner lives.
const LOCK: &str = "sluice.lock";

/// Why the spool cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error(
        "the spool {path} is in use by process {owner}; stop that process or set gateway.spool.dir to another folder"
    )]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The process's id, or `?`.
        owner: String,
    },
    /// The folder cannot be made, read or locked.
    #[error("cannot use the spool {path}; check gateway.spool.dir, its owner and its mode")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// No thread or no random numbers.
    #[error("the operating system does not give the spool {0}")]
    System(&'static str, #[source] io::Error),
}

/// A file's name, and the segment that it names.
type Named = (OsString, Option<(u64, Kind)>);

/// What was found in the folder.
#[derive(Debug, Default)]
pub(super) struct Finds {
    pub(super) segments: Vec<Sealed>,
    /// Files that are left alone, and why.
    pub(super) strangers: Vec<(PathBuf, io::Error)>,
}

/// The folder and the lock on it, which the operating system drops with the process.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) aside: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes `path` (mode 0700) where it is missing and locks it.
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Folder {
            path: path.to_owned(),
            source,
        };
        let make = |path: &Path| DirBuilder::new().recursive(true).mode(0o700).create(path);
        make(path).map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        let aside = path.join(ASIDE);
        make(&aside).map_err(failed)?;
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let lock = options.mode(0o600).open(path.join(LOCK));
        let mut lock = lock.map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let owner = owner(&mut lock);
                return Err(OpenError::InUse { path, owner });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        lock.set_len(0)
            .and_then(|()| lock.rewind())
            .and_then(|()| writeln!(lock, "{}", std::process::id()))
            .map_err(failed)?;
        Ok(Self {
            path,
            aside,
            _lock: lock,
        })
    }

    /// The segments of earlier processes. Those that were being written are cut after their last whole record
    /// and sealed.
    pub(super) fn recover(&self, disk: &dyn Disk, meters: &Meters) -> io::Result<Finds> {
        let mut finds = Finds::default();
        for (file, kind) in self.files()? {
            let found = match kind {
                Some((number, Kind::Sealed)) => self.sealed(disk, number, &file).map(Some),
                Some((number, Kind::Open)) => self.unfinished(disk, number, meters),
                None => Err(io::Error::other("its name is not one of a segment")),
            };
            match found {
                Ok(segment) => finds.segments.extend(segment),
                Err(reason) => finds.strangers.push((self.path.join(file), reason)),
            }
        }
        disk.sync_folder(&self.path)?;
        Ok(finds)
    }

    /// The sealed segments that are in the folder now and not `known`.
    pub(super) fn arrivals(&self, disk: &dyn Disk, known: &BTreeSet<u64>) -> io::Result<Finds> {
        let mut finds = Finds::default();
        for (file, kind) in self.files()? {
            let Some((number, Kind::Sealed)) = kind else {
                continue;
            };
            if known.contains(&number) {
                continue;
            }
            match self.sealed(disk, number, &file) {
                Ok(segment) => finds.segments.push(segment),
                Err(reason) => finds.strangers.push((self.path.join(file), reason)),
            }
        }
        Ok(finds)
    }

    /// The greatest number of a segment, those set aside included.
    pub(super) fn newest(&self) -> io::Result<u64> {
        let mut newest = 0;
        for folder in [&self.path, &self.aside] {
            for entry in fs::read_dir(folder)? {
                let number = name::parse(&entry?.file_name()).map_or(0, |(number, _)| number);
                newest = newest.max(number);
            }
        }
        Ok(newest)
    }

    /// All files, in the order of their names.
    fn files(&self) -> io::Result<Vec<Named>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            let kind = name::parse(&name);
            if name != LOCK && name != ASIDE {
                files.push((name, kind));
            }
        }
        files.sort();
        Ok(files)
    }

    /// A segment of which only the header is looked at; its records are when it is delivered.
    fn sealed(&self, disk: &dyn Disk, number: u64, file: &OsString) -> io::Result<Sealed> {
        let path = self.path.join(file);
        let start = disk.read(&path, u64::try_from(HEADER).unwrap_or(0))?;
        let identity = Identity::read(&start).map_err(io::Error::other)?;
        let length = fs::metadata(&path)?.len();
        Ok(Sealed {
            number,
            path,
            identity,
            length,
            counted: false,
        })
    }

    fn unfinished(
        &self,
        disk: &dyn Disk,
        number: u64,
        meters: &Meters,
    ) -> io::Result<Option<Sealed>> {
        let path = self.path.join(name::open(number));
        let bytes = Bytes::from(disk.read(&path, u64::MAX)?);
        let identity = match Identity::read(&bytes) {
            Ok(identity) => identity,
            Err(Unreadable::Unbegun) => {
                // Its header becomes durable with its first record: nothing in it was acknowledged.
                disk.remove(&path)?;
                return Ok(None);
            }
            Err(other) => return Err(io::Error::other(other)),
        };
        let damage = identity.contents(&bytes).damage;
        let mut segment = Sealed {
            number,
            path,
            identity,
            length: length(&bytes),
            counted: true,
        };
        for lost in damage {
            let torn = lost.offset + lost.length == bytes.len();
            report(&segment, lost, torn, meters);
            if torn {
                segment.length = u64::try_from(lost.offset).unwrap_or(segment.length);
            }
        }
        let sealed = self.path.join(name::sealed(number));
        let cut = disk.cut(&segment.path, segment.length);
        match cut.and_then(|()| disk.rename(&segment.path, &sealed)) {
            Ok(()) => segment.path = sealed,
            // It is delivered all the same, up to the length that is known to be whole.
            Err(reason) => {
                tracing::warn!(segment = %segment.path.display(), "cannot seal a segment: {reason}");
            }
        }
        Ok(Some(segment))
    }
}

/// Logs and counts what is lost of a segment.
pub(super) fn report(segment: &Sealed, lost: Damage, torn: bool, meters: &Meters) {
    let file = segment.path.display();
    let Damage { offset, length } = lost;
    if torn {
        meters.lost(Loss::Torn);
        tracing::warn!(
            %file, offset, length,
            "the end of a segment is cut: its process ended while writing it, before acknowledging it"
        );
    } else {
        meters.lost(Loss::Corrupt);
        tracing::error!(
            %file, offset, length,
            "a record of a segment is damaged and lost: check the disk"
        );
    }
}

pub(super) fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn owner(lock: &mut File) -> String {
    let mut owner = String::new();
    match lock.read_to_string(&mut owner) {
        Ok(_) if !owner.trim().is_empty() => owner.trim().to_owned(),
        _ => "?".to_owned(),
    }
}
