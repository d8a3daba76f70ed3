//! A path → a data folder that only this process uses.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::EmbeddedError;

/// Holds the process id of the owner; locked as long as the owner lives.
const LOCK: &str = "sluice.lock";

/// Pause between two looks at the lock.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A data folder and the lock on it. The operating system drops the lock with the process, so a
/// killed owner leaves nothing to clean up.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes `path` (mode 0700) where it is missing and locks it.
    pub(crate) fn open(path: &Path) -> Result<Self, EmbeddedError> {
        let failed = |source| EmbeddedError::Folder {
            path: path.to_owned(),
            source,
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        let failed = |source| EmbeddedError::Folder {
            path: path.clone(),
            source,
        };
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path.join(LOCK))
            .map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(&path, &mut lock)),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        lock.set_len(0)
            .and_then(|()| lock.rewind())
            .and_then(|()| writeln!(lock, "{}", std::process::id()))
            .map_err(failed)?;
        Ok(Self { path, _lock: lock })
    }

    /// The absolute path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Waits until no process works on `path`, at most `limit`: an engine whose parent was killed needs a moment to
/// end. Whoever opens the folder after that is told who has it.
pub async fn until_free(path: &Path, limit: Duration) {
    let taken = || {
        let lock = File::open(path.join(LOCK)).map(|lock| lock.try_lock());
        matches!(lock, Ok(Err(TryLockError::WouldBlock)))
    };
    let free = async {
        while taken() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    // Late is no fault of its own.
    drop(tokio::time::timeout(limit, free).await);
}

fn in_use(path: &Path, lock: &mut File) -> EmbeddedError {
    let mut owner = String::new();
    let owner = match lock.read_to_string(&mut owner) {
        Ok(_) if !owner.trim().is_empty() => owner.trim().to_owned(),
        _ => "?".to_owned(),
    };
    EmbeddedError::InUse {
        path: path.to_owned(),
        owner,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn waiting_ends_when_the_owner_of_the_folder_does() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("data");
        until_free(&path, Duration::from_secs(60)).await;
        let owner = Folder::open(&path).unwrap();
        until_free(&path, Duration::ZERO).await;
        let patience = Duration::from_secs(60);
        tokio::join!(until_free(&path, patience), async { drop(owner) });
        Folder::open(&path).unwrap();
    }

    #[test]
    fn a_new_folder_is_readable_by_its_owner_alone_and_names_the_owner_to_the_second() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("deep/data");
        let first = Folder::open(&path).unwrap();
        let mode = first.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);

        let refused = Folder::open(&path).unwrap_err().to_string();
        assert!(
            refused.contains(first.path().to_str().unwrap()),
            "{refused}"
        );
        assert!(
            refused.contains(&format!("process {};", std::process::id())),
            "{refused}"
        );

        drop(first);
        Folder::open(&path).unwrap();
    }
}
