//! Bytes of an INSERT → a nameless file that the engine reads by its descriptor.
//!
//! Inline data behind `FORMAT RowBinary` are cut by the library at some bytes; a file is read whole.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, RawFd};

use crate::ffi::nameless_file;
use crate::sql::{self, Statement};

/// The path under which this process, and so the engine in it, can open a descriptor again.
pub(crate) fn path_of(descriptor: RawFd) -> String {
    if cfg!(target_os = "linux") {
        format!("/proc/self/fd/{descriptor}")
    } else {
        format!("/dev/fd/{descriptor}")
    }
}

/// The data of one INSERT.
#[derive(Debug)]
pub(crate) struct Data(File);

impl Data {
    /// No data yet.
    pub(crate) fn new() -> std::io::Result<Self> {
        nameless_file().map(Self)
    }

    /// Adds bytes. They go to memory, so no thread waits for a disk here.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write_all(bytes)
    }

    /// The INSERT that reads these data, and the file that must stay open while it runs.
    pub(crate) fn statement(self, head: &Head<'_>) -> (Statement, File) {
        let mut text = head.target.to_vec();
        text.extend_from_slice(b" FROM INFILE ");
        text.extend_from_slice(sql::quoted_text(&path_of(self.0.as_raw_fd())).as_bytes());
        if let Some(compression) = head.compression {
            text.extend_from_slice(format!(" COMPRESSION '{compression}'").as_bytes());
        }
        text.push(b' ');
        text.extend_from_slice(head.settings);
        text.extend_from_slice(format!(" FORMAT {}", head.format).as_bytes());
        let statement = Statement {
            text,
            kind: sql::Kind::Other,
            format: None,
        };
        (statement, self.0)
    }
}

/// The parts of an INSERT in front of its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'a> {
    /// `INSERT INTO table (columns)`.
    pub(crate) target: &'a [u8],
    /// `SETTINGS …`, or nothing.
    pub(crate) settings: &'a [u8],
    /// The data's format.
    pub(crate) format: &'a str,
    /// The data's compression, by the engine's name.
    pub(crate) compression: Option<&'static str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_stands_between_target_and_settings() {
        let mut data = Data::new().unwrap();
        data.push(b"1\n").unwrap();
        let (statement, file) = data.statement(&Head {
            target: b"INSERT INTO t (a)",
            settings: b"SETTINGS b = 1",
            format: "TSV",
            compression: Some("gzip"),
        });
        let path = path_of(file.as_raw_fd());
        assert_eq!(
            String::from_utf8(statement.text).unwrap(),
            format!(
                "INSERT INTO t (a) FROM INFILE '{path}' COMPRESSION 'gzip' SETTINGS b = 1 FORMAT TSV"
            )
        );
        assert_eq!(std::fs::read(path).unwrap(), b"1\n");
    }
}
