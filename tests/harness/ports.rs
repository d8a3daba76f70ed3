//! The default ports → an offset at which all of them are free, held for one test.

use std::fs::{File, TryLockError};
use std::net::TcpListener;

/// Every port that `sluice up` listens on at offset 0.
pub const DEFAULTS: [u16; 7] = [4318, 4317, 9090, 8080, 8081, 8123, 9464];

/// Offsets tried: above the ports of other services, below the ones the system gives to clients.
const OFFSETS: std::ops::Range<u16> = 8_000..23_000;

/// An offset whose ports no other test uses while this value lives.
#[derive(Debug)]
pub struct Offset {
    number: u16,
    _held: Vec<File>,
}

impl Offset {
    /// Finds a free offset. Tests in other processes are kept away by locked files, other programs by
    /// trying to listen.
    ///
    /// # Panics
    /// When no offset is free.
    #[must_use]
    pub fn reserve() -> Self {
        let span = OFFSETS.end - OFFSETS.start;
        let start = u16::try_from(u64::from(std::process::id()) * 97 % u64::from(span))
            .expect("less than span");
        (0..span)
            .map(|step| OFFSETS.start + (start + step) % span)
            .find_map(|number| {
                Some(Self {
                    number,
                    _held: hold(number)?,
                })
            })
            .expect("no port offset is free on 127.0.0.1")
    }

    /// The number for `--port-offset`.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.number
    }

    /// The port that has number `default` at offset 0.
    #[must_use]
    pub fn port(&self, default: u16) -> u16 {
        default + self.number
    }
}

fn hold(offset: u16) -> Option<Vec<File>> {
    let folder = std::env::temp_dir().join("sluice-test-ports");
    std::fs::create_dir_all(&folder).expect("cannot create a folder for port locks");
    DEFAULTS
        .iter()
        .map(|default| {
            let port = default + offset;
            let file =
                File::create(folder.join(port.to_string())).expect("cannot create a port lock");
            match file.try_lock() {
                Ok(()) => TcpListener::bind(("127.0.0.1", port)).ok().map(|_| file),
                Err(TryLockError::WouldBlock) => None,
                Err(TryLockError::Error(error)) => panic!("cannot lock a port file: {error}"),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_offsets_share_no_port() {
        let (one, two) = (Offset::reserve(), Offset::reserve());
        for first in DEFAULTS {
            for second in DEFAULTS {
                assert_ne!(one.port(first), two.port(second));
            }
        }
    }

    #[test]
    fn an_offset_with_a_busy_port_is_passed_over() {
        let free = Offset::reserve();
        let number = free.number();
        drop(free);
        let _busy = TcpListener::bind(("127.0.0.1", 9464 + number)).unwrap();
        assert!(hold(number).is_none());
    }
}
