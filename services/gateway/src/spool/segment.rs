//! A segment file's bytes ⇄ its identity and records, whatever happened to the bytes in between.
//!
//! Numbers are little-endian; CRCs are CRC32C. The file is one header and then frames without gaps:
//!
//! | bytes | header, twice in a row | |
//! |---|---|---|
//! | 8 | magic | `SLCSPOOL` |
//! | 4 | format version | 1 |
//! | 16 | instance | random, of the process that made the file |
//! | 8 | number | of the segment; its file is named after it |
//! | 4 | CRC of the 36 bytes before | |
//!
//! | bytes | frame | |
//! |---|---|---|
//! | 4 | marker | where a reader that lost its way goes on |
//! | 4 | length of the payload | |
//! | 4 | head CRC | of instance, number, offset of the frame in the file, length |
//! | 4 | body CRC | of the payload, continued from the head CRC |
//! | … | payload | |
//!
//! The length has a CRC of its own, so that a damaged payload is stepped over; after a damaged head the reader
//! looks for the next marker with a fitting head. The header is there twice. So one flipped bit costs at most one
//! record. A head belongs to one place in one file: neither leftovers of an older file nor a payload that looks
//! like frames can pass for one, because whoever sends payloads does not know the instance.

use std::ops::Range;

use bytes::Bytes;
use crc32c::{crc32c, crc32c_append};
use memchr::memmem;

/// Length of the header, both copies.
pub const HEADER: usize = 2 * COPY;

/// Bytes that a frame adds to its payload.
pub const FRAME: usize = 16;

const COPY: usize = 40;
const MAGIC: [u8; 8] = *b"SLCSPOOL";
const VERSION: u32 = 1;
/// Not text in any encoding, so rare in payloads.
const MARKER: [u8; 4] = [0xf5, 0xd1, 0xc3, 0xff];

/// Which segment of which process; never the same for two segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Random, made at every start of a process.
    pub instance: [u8; 16],
    /// Rises from segment to segment.
    pub number: u64,
}

/// A file that cannot be read as a segment.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The file holds less than a header, or zeros in its place: its process ended before the first record was
    /// acknowledged.
    #[error("the file was never begun")]
    Unbegun,
    /// A segment of another program version.
    #[error("format version {0}, and this program reads {VERSION}: use the program that wrote it")]
    Version(u32),
    /// Something else, or both copies of the header are damaged.
    #[error("no header of a spool segment")]
    Foreign,
}

/// What a segment holds.
#[derive(Debug, PartialEq, Eq)]
pub struct Contents {
    /// The payloads, in the order of appending; parts of one buffer.
    pub records: Vec<Bytes>,
    /// What was lost, in order.
    pub damage: Vec<Damage>,
}

/// A range of a file that holds no readable record and should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// First byte.
    pub offset: usize,
    /// Number of bytes.
    pub length: usize,
}

impl Identity {
    /// What ClickHouse recognises the segment's INSERTs by.
    #[must_use]
    pub fn token(&self) -> String {
        let instance = u128::from_be_bytes(self.instance);
        format!("{instance:032x}-{:016x}", self.number)
    }

    /// The first bytes of the segment's file.
    #[must_use]
    pub fn header(&self) -> [u8; HEADER] {
        let mut copy = Vec::with_capacity(COPY);
        copy.extend(MAGIC);
        copy.extend(VERSION.to_le_bytes());
        copy.extend(self.instance);
        copy.extend(self.number.to_le_bytes());
        copy.extend(crc32c(&copy).to_le_bytes());
        let mut header = [0; HEADER];
        for (to, from) in header.iter_mut().zip(copy.iter().cycle()) {
            *to = *from;
        }
        header
    }

    /// Reads the header of a file that begins with `bytes`.
    ///
    /// # Errors
    /// [`Unreadable`], which says what the file is instead.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let copies = [bytes.get(..COPY), bytes.get(COPY..HEADER)];
        if let Some(found) = copies.into_iter().flatten().find_map(Self::of_copy) {
            return Ok(found);
        }
        let start = bytes.get(..HEADER).unwrap_or(bytes);
        let begun = MAGIC.iter().zip(start).all(|(magic, byte)| magic == byte);
        if start.iter().all(|byte| *byte == 0) || (begun && start.len() < HEADER) {
            return Err(Unreadable::Unbegun);
        }
        let version = u32_at(bytes, MAGIC.len()).filter(|version| begun && *version != VERSION);
        Err(version.map_or(Unreadable::Foreign, Unreadable::Version))
    }

    fn of_copy(copy: &[u8]) -> Option<Self> {
        let (content, crc) = copy.split_at_checked(COPY - 4)?;
        let content_fits = content.starts_with(&MAGIC)
            && u32_at(content, 8) == Some(VERSION)
            && u32_at(crc, 0) == Some(crc32c(content));
        let instance = content.get(12..28)?.try_into().ok()?;
        let number = u64::from_le_bytes(content.get(28..36)?.try_into().ok()?);
        content_fits.then_some(Self { instance, number })
    }

    /// The frame's bytes before the payload, for a frame at `offset` of the file; `None` for a payload of 4 GiB
    /// or more.
    #[must_use]
    pub fn head(&self, offset: u64, payload: &[u8]) -> Option<[u8; FRAME]> {
        let length = u32::try_from(payload.len()).ok()?;
        let head_crc = self.head_crc(offset, length);
        let body_crc = crc32c_append(head_crc, payload);
        let mut head = [0; FRAME];
        let parts = [length, head_crc, body_crc].map(u32::to_le_bytes);
        let bytes = MARKER.iter().chain(parts.iter().flatten());
        for (to, from) in head.iter_mut().zip(bytes) {
            *to = *from;
        }
        Some(head)
    }

    /// All records of a whole file.
    #[must_use]
    pub fn contents(&self, file: &Bytes) -> Contents {
        let mut contents = Contents {
            records: Vec::new(),
            damage: Vec::new(),
        };
        let mut at = HEADER;
        while at < file.len() {
            let frame = self.frame(file, at);
            let end = frame.as_ref().map_or_else(
                || self.next_frame(file, at.saturating_add(1)),
                |frame| frame.payload.end,
            );
            match frame.filter(|frame| frame.intact) {
                Some(frame) => contents.records.push(file.slice(frame.payload)),
                None => contents.damage.push(Damage {
                    offset: at,
                    length: end - at,
                }),
            }
            at = end;
        }
        contents
    }

    /// The frame at `at`, when its head fits and its payload ends within the file.
    fn frame(&self, file: &[u8], at: usize) -> Option<Frame> {
        let rest = file.get(at..)?;
        if !rest.starts_with(&MARKER) {
            return None;
        }
        let length = u32_at(rest, 4)?;
        let head_crc = self.head_crc(u64::try_from(at).ok()?, length);
        if u32_at(rest, 8)? != head_crc {
            return None;
        }
        let from = at + FRAME;
        let payload = from..from.checked_add(usize::try_from(length).ok()?)?;
        let body_crc = crc32c_append(head_crc, file.get(payload.clone())?);
        let intact = u32_at(rest, 12)? == body_crc;
        Some(Frame { payload, intact })
    }

    /// Where the first frame at or after `from` begins, or the end of the file.
    fn next_frame(&self, file: &[u8], from: usize) -> usize {
        let rest = file.get(from..).unwrap_or_default();
        memmem::find_iter(rest, &MARKER)
            .map(|found| from + found)
            .find(|at| self.frame(file, *at).is_some())
            .unwrap_or(file.len())
    }

    fn head_crc(&self, offset: u64, length: u32) -> u32 {
        let crc = crc32c_append(crc32c(&self.instance), &self.number.to_le_bytes());
        let crc = crc32c_append(crc, &offset.to_le_bytes());
        crc32c_append(crc, &length.to_le_bytes())
    }
}

struct Frame {
    payload: Range<usize>,
    intact: bool,
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let field = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*field))
}

#[cfg(test)]
mod tests;
