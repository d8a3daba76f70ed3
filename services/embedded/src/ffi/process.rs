//! What the engine needs of its process → calls of the operating system: nameless files, an empty input, a hard end.

use std::fs::File;
use std::os::fd::AsRawFd;

/// A file without a name, in memory where the system can.
pub(crate) fn nameless_file() -> std::io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::FromRawFd;
        // SAFETY: the name is NUL-ended; the descriptor is new and owned by the file alone.
        unsafe {
            let descriptor = libc::memfd_create(c"insert".as_ptr(), libc::MFD_CLOEXEC);
            if descriptor < 0 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(File::from_raw_fd(descriptor))
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let path = std::env::temp_dir().join(format!("sluice-{}", uuid::Uuid::new_v4()));
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        std::fs::remove_file(path)?;
        Ok(file)
    }
}

/// Gives the process an empty standard input.
///
/// The engine looks for data of an INSERT there: it reads what is not meant for it, and it makes whatever
/// is behind the descriptor non-blocking, for everybody who shares it.
pub(crate) fn close_stdin() -> std::io::Result<()> {
    let nothing = File::open("/dev/null")?;
    // SAFETY: both descriptors are open or the call fails; nothing in this process owns descriptor 0.
    let replaced = unsafe { libc::dup2(nothing.as_raw_fd(), libc::STDIN_FILENO) };
    if replaced < 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(())
}

/// Leaves the process at once with `code`: no destructors, no exit handlers.
///
/// The engine's own exit handlers wait for threads that never end, so a process that has loaded it must
/// leave this way. Whatever must be written or flushed has to be before.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}
