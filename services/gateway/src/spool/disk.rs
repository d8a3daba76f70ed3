//! What the spool asks of a file system; the seam at which tests let it fail.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A file system.
pub(super) trait Disk: std::fmt::Debug + Send + Sync {
    /// A new file, readable by its owner alone. Fails when there is one.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Output>>;
    /// The first `limit` bytes of a file.
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;
    /// Shortens a file, durably.
    fn cut(&self, path: &Path, length: u64) -> io::Result<()>;
    /// Renames within the file system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes what was created, renamed and removed in a folder durable.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
    /// Bytes that this process may still write.
    fn free(&self, folder: &Path) -> io::Result<u64>;
}

/// A file that is being written.
pub(super) trait Output: Send {
    /// Writes at the end; answers how many bytes it took.
    fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize>;
    /// Makes everything written durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Forgets everything after `length`.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

/// Writes all of `parts`, however little is taken at a time.
pub(super) fn write_all(file: &mut dyn Output, mut parts: &mut [IoSlice<'_>]) -> io::Result<()> {
    IoSlice::advance_slices(&mut parts, 0);
    while !parts.is_empty() {
        match file.write(parts) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(taken) => IoSlice::advance_slices(&mut parts, taken),
            Err(again) if again.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The file system of this machine.
#[derive(Debug)]
pub(super) struct Local;

impl Disk for Local {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Output>> {
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        Ok(Box::new(file))
    }

    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let file = File::open(path)?;
        let length = file.metadata()?.len().min(limit);
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        file.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn cut(&self, path: &Path, length: u64) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(length)?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn free(&self, folder: &Path) -> io::Result<u64> {
        let disk = rustix::fs::statvfs(folder)?;
        Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
}

impl Output for File {
    fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.write_vectored(parts)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length)).map(drop)
    }
}
