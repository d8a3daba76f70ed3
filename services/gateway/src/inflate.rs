//! A body as sent → the body, decompressed, within the bound of its tenant.

use std::io::{self, Read};

use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use libdeflater::Decompressor;

use crate::failure::Failure;
use crate::http::form::Coding;
use crate::limit::Room;
use crate::receive::{ReceivedPush, plain_exceeded};

/// Largest window of a zstd frame, as a power of two: 8 MiB, what RFC 9659 allows on the web. A frame
/// may ask for 2 GiB.
const ZSTD_WINDOW_LOG: u32 = 23;
/// Room made for each read of decompressed bytes.
const STEP: usize = 64 << 10;
/// The start of every gzip member: magic and the only method there is.
const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
/// Bytes at the end of a gzip member: CRC and length of what it holds.
const GZIP_TRAILER: usize = 8;

/// Decompresses the body of `push` and gives back the room that it took as sent. Nothing may come out.
///
/// # Errors
/// 413 when it is larger than the tenant may send, 400 when it is not what its Content-Encoding says, 415 when
/// there is something in it and its type is not one that is read here; whatever finds no room.
pub(crate) fn inflate(push: &mut ReceivedPush) -> Result<Bytes, Failure> {
    let wire = std::mem::take(&mut push.wire);
    let sent = length_of(&wire);
    let coding = push.form.coding.ok_or_else(Failure::coding)?;
    if coding == Coding::Identity {
        // Its type was judged with its first byte, and it stays where it is.
        return Ok(wire);
    }
    let limits = &push.principal.tenant().limits;
    let plain = Plain {
        limit: limits.max_request_bytes,
        tenant: &push.principal.tenant().slug,
        readable: push.form.encoding.is_some(),
        room: &mut push.room,
        bytes: Vec::new(),
    };
    let plain = plain.fill(coding, &wire)?;
    push.room.shrink(sent);
    Ok(Bytes::from(plain))
}

/// What has been decompressed so far.
struct Plain<'a> {
    limit: u64,
    tenant: &'a str,
    readable: bool,
    room: &'a mut Room,
    bytes: Vec<u8>,
}

impl Plain<'_> {
    fn fill(mut self, coding: Coding, wire: &[u8]) -> Result<Vec<u8>, Failure> {
        if coding == Coding::Gzip && self.gzip_at_once(wire)? {
            return Ok(self.bytes);
        }
        let ended = match coding {
            Coding::Identity => self.drain(wire),
            Coding::Gzip => self.drain(MultiGzDecoder::new(wire)),
            Coding::Zstd => self.zstd(wire),
            Coding::Deflate if is_zlib(wire) => self.drain(ZlibDecoder::new(wire)),
            Coding::Deflate => self.drain(DeflateDecoder::new(wire)),
        };
        match ended {
            Ok(()) => Ok(self.bytes),
            Err(Stopped::Refused(failure)) => Err(failure),
            Err(Stopped::Broken) => Err(broken(coding)),
        }
    }

    /// Decompresses a body of one gzip member, which most are, in one call: about twice as fast. False where
    /// it may be anything else, valid or not; then nothing has been kept.
    fn gzip_at_once(&mut self, wire: &[u8]) -> Result<bool, Failure> {
        let Some((member, trailer)) = wire.split_last_chunk::<GZIP_TRAILER>() else {
            return Ok(false);
        };
        let [c0, c1, c2, c3, l0, l1, l2, l3] = *trailer;
        let (crc, length) = (
            u32::from_le_bytes([c0, c1, c2, c3]),
            u32::from_le_bytes([l0, l1, l2, l3]),
        );
        // The decompressor stops after the first member, so there must be no start of a second one.
        let several = memchr::memmem::find_iter(member, &GZIP_MAGIC)
            .nth(1)
            .is_some();
        if several || u64::from(length) > self.limit || !self.readable || length == 0 {
            return Ok(false);
        }
        // No byte of deflate becomes more than 1,032 bytes, so nobody gets more room than that by lying.
        let Some(size) = usize::try_from(length)
            .ok()
            .filter(|size| size / 1032 <= wire.len())
        else {
            return Ok(false);
        };
        self.room.grow(u64::from(length))?;
        self.bytes.resize(size, 0);
        let written = Decompressor::new().gzip_decompress(wire, &mut self.bytes);
        let whole =
            written.is_ok_and(|written| written == size) && libdeflater::crc32(&self.bytes) == crc;
        if !whole {
            self.bytes = Vec::new();
            self.room.shrink(u64::from(length));
        }
        Ok(whole)
    }

    fn zstd(&mut self, wire: &[u8]) -> Result<(), Stopped> {
        let mut decoder = zstd::Decoder::with_buffer(wire)?;
        decoder.window_log_max(ZSTD_WINDOW_LOG)?;
        self.drain(decoder)
    }

    /// Reads `source` to its end, taking room for every byte before keeping it.
    fn drain(&mut self, mut source: impl Read) -> Result<(), Stopped> {
        loop {
            let start = self.bytes.len();
            self.bytes.resize(start + STEP, 0);
            let more = source.read(&mut self.bytes[start..])?;
            self.bytes.truncate(start + more);
            if more == 0 {
                return Ok(());
            }
            if !self.readable {
                return Err(Stopped::Refused(Failure::media_type()));
            }
            if length_of(&self.bytes) > self.limit {
                return Err(Stopped::Refused(plain_exceeded(self.tenant, self.limit)));
            }
            let more = u64::try_from(more).unwrap_or(u64::MAX);
            self.room.grow(more).map_err(Stopped::Refused)?;
        }
    }
}

/// Why decompressing ended early.
enum Stopped {
    Refused(Failure),
    Broken,
}

impl From<io::Error> for Stopped {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

/// Whether a deflate body has the header of RFC 1950; some senders leave it out.
fn is_zlib(start: &[u8]) -> bool {
    match *start {
        [method, flags, ..] => method & 0x0f == 8 && u16::from_be_bytes([method, flags]) % 31 == 0,
        [method] => method & 0x0f == 8,
        [] => false,
    }
}

fn length_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn broken(coding: Coding) -> Failure {
    let coding = match coding {
        Coding::Gzip => "gzip",
        Coding::Zstd => "zstd",
        Coding::Deflate => "deflate",
        Coding::Identity => "identity",
    };
    Failure::body(
        "BODY_NOT_DECOMPRESSIBLE",
        format!("the body is not whole, valid {coding}, which its Content-Encoding says it is"),
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use auth::tenant::TenantId;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use runtime::metrics::Metrics;

    use super::*;
    use crate::config::InFlight;
    use crate::limit::Ledger;
    use crate::metrics::Gauges;

    /// What comes out, or why nothing does; and whether all room beyond what came out is back.
    fn out(coding: Coding, wire: &[u8], limit: u64) -> Result<Vec<u8>, &'static str> {
        let ledger = Ledger::new(InFlight::default(), Gauges::register(&Metrics::new()));
        let mut room = ledger.enter(&TenantId::new("acme")).unwrap();
        let plain = Plain {
            limit,
            tenant: "acme",
            readable: true,
            room: &mut room,
            bytes: Vec::new(),
        };
        let filled = plain.fill(coding, wire).map_err(|failure| failure.reason);
        if let Ok(bytes) = &filled {
            assert_eq!(room.bytes(), length_of(bytes));
        }
        filled
    }

    fn member(bytes: &[u8]) -> Vec<u8> {
        let mut out = GzEncoder::new(Vec::new(), Compression::default());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    #[test]
    fn gzip_members_add_up_whether_they_are_the_same_or_not() {
        let (one, two) = (member(b"one one one"), member(b"two"));
        for (members, told) in [
            (vec![&one], "one one one"),
            (vec![&one, &one], "one one oneone one one"),
            (vec![&one, &two, &one], "one one onetwoone one one"),
            (vec![&member(b""), &one], "one one one"),
            (vec![&one, &member(b"")], "one one one"),
            (vec![&member(b"")], ""),
        ] {
            let wire: Vec<u8> = members.into_iter().flatten().copied().collect();
            assert_eq!(out(Coding::Gzip, &wire, 1000), Ok(told.as_bytes().to_vec()));
        }
    }

    #[test]
    fn a_body_that_holds_the_start_of_a_member_as_data_is_one_member() {
        let stored = [0x1f, 0x8b, 8, 0x1f, 0x8b, 8, 7];
        let mut wire = GzEncoder::new(Vec::new(), Compression::none());
        wire.write_all(&stored).unwrap();
        assert_eq!(
            out(Coding::Gzip, &wire.finish().unwrap(), 1000),
            Ok(stored.to_vec())
        );
    }

    #[test]
    fn what_is_not_whole_valid_gzip_is_refused_wherever_it_breaks() {
        let body: Vec<u8> = (0..300_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
        let whole = member(&body);
        for length in 1..whole.len() {
            let cut = out(Coding::Gzip, &whole[..length], 1 << 20);
            assert_eq!(cut, Err("BODY_NOT_DECOMPRESSIBLE"), "cut at {length}");
        }
        for at in whole.len() - GZIP_TRAILER..whole.len() {
            let mut lie = whole.clone();
            lie[at] ^= 1;
            assert_eq!(
                out(Coding::Gzip, &lie, 1 << 20),
                Err("BODY_NOT_DECOMPRESSIBLE"),
                "{at}"
            );
        }
    }

    #[test]
    fn exactly_the_limit_is_taken_and_one_byte_more_is_not() {
        let body = vec![b'x'; 70_000];
        let (mut zlib, mut deflate) = (
            ZlibEncoder::new(Vec::new(), Compression::default()),
            DeflateEncoder::new(Vec::new(), Compression::default()),
        );
        zlib.write_all(&body).unwrap();
        deflate.write_all(&body).unwrap();
        for (coding, wire) in [
            (Coding::Gzip, member(&body)),
            (Coding::Zstd, zstd::encode_all(&*body, 3).unwrap()),
            (Coding::Deflate, zlib.finish().unwrap()),
            (Coding::Deflate, deflate.finish().unwrap()),
        ] {
            assert_eq!(out(coding, &wire, 70_000).as_ref(), Ok(&body), "{coding:?}");
            assert_eq!(
                out(coding, &wire, 69_999),
                Err("BODY_TOO_LARGE"),
                "{coding:?}"
            );
        }
    }
}
