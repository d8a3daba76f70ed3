//! A segment that ClickHouse keeps refusing → the folder of those set aside, with a note that says why.

use std::fs;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk::{Disk, write_all};
use super::name;
use super::state::Sealed;

/// Why a segment was set aside; a JSON file of the segment's name beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// What ClickHouse recognises the segment's INSERTs by; they keep it when tried again.
    pub token: String,
    /// What was wrong, in the words of the last refusal.
    pub why: String,
    /// How often it was refused.
    pub refusals: u32,
    /// When it was set aside, RFC 3339.
    pub at: String,
}

/// Moves a segment out of the way. The note comes first: a segment without a note would be a riddle, a note without
/// its segment is replaced at the next try.
pub(super) fn set_aside(
    disk: &dyn Disk,
    (folder, aside): &(PathBuf, PathBuf),
    segment: &Sealed,
    note: &Note,
) -> io::Result<()> {
    let path = aside.join(name::note(segment.number));
    if let Err(reason) = put(disk, &path, note) {
        tracing::warn!(note = %path.display(), "cannot say why a segment is set aside: {reason}");
    }
    let to = aside.join(name::sealed(segment.number));
    disk.rename(&segment.path, &to)?;
    disk.sync_folder(aside)?;
    disk.sync_folder(folder)
}

fn put(disk: &dyn Disk, path: &Path, note: &Note) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(note)?;
    text.push(b'\n');
    match disk.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = disk.create(path)?;
    write_all(file.as_mut(), &mut [IoSlice::new(&text)])?;
    file.sync()
}

/// How many segments are set aside, and their bytes.
pub(super) fn measure(aside: &Path) -> io::Result<(u64, u64)> {
    let mut all = (0, 0);
    for entry in fs::read_dir(aside)? {
        let entry = entry?;
        if name::parse(&entry.file_name()).is_some() {
            match entry.metadata() {
                Ok(file) => all = (all.0 + 1, all.1 + file.len()),
                // Dropped or tried again just now.
                Err(gone) if gone.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(all)
}

/// The note of a segment, if there is one that can be read.
pub(super) fn note(aside: &Path, number: u64) -> Option<Note> {
    let text = fs::read(aside.join(name::note(number))).ok()?;
    serde_json::from_slice(&text).ok()
}
