//! An admitted push → its body, decompressed, within the bounds of wire, tenant and time.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_compression::tokio::bufread::{DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use auth::principal::Principal;
use jiff::Timestamp;
use runtime::error::ErrorKind;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt};
use tokio_util::io::StreamReader;

use crate::decode::Encoding;
use crate::failure::Failure;
use crate::http::form::{Coding, Form};
use crate::http::wire::{WireBody, WireFault};
use crate::intake::AuthenticatedPush;
use crate::limit::{AdmittedPush, Room};

/// Largest window of a zstd frame, as a power of two: 8 MiB, what RFC 9659 allows on the web. A frame
/// may ask for 2 GiB.
const ZSTD_WINDOW_LOG: u32 = 23;
/// Room made for each read of decompressed bytes.
const STEP: usize = 64 << 10;
/// Decompressed bytes after which other requests on this thread get their turn: a few kilobytes off the
/// wire can be many megabytes.
const TURN: usize = 1 << 20;

/// A push whose body is here.
#[derive(Debug)]
pub(crate) struct ReadPush {
    pub(crate) principal: Arc<Principal>,
    pub(crate) encoding: Encoding,
    /// The body, decompressed.
    pub(crate) plain: Vec<u8>,
    /// Bytes of the body as sent.
    pub(crate) wire: u64,
    pub(crate) room: Room,
    pub(crate) now: Timestamp,
}

/// Reads the body; `None` when nothing is in it, whatever it is said to be.
pub(crate) async fn inflate(
    admitted: AdmittedPush,
    wire_limit: u64,
    timeout: Duration,
) -> Result<Option<ReadPush>, Failure> {
    let AdmittedPush { push, mut room } = admitted;
    let AuthenticatedPush {
        principal,
        form,
        body,
        now,
    } = push;
    let limit = Limit {
        tenant: &principal.tenant().slug,
        plain: principal.tenant().limits.max_request_bytes,
        wire: wire_limit,
    };
    judge_head(form, &limit)?;
    if form.declared == Some(0) {
        return Ok(None);
    }
    let read = tokio::time::timeout(timeout, read(form, body, &limit, &mut room)).await;
    let (plain, wire) = read.map_err(|_| {
        Failure::new(
            ErrorKind::SlowBody,
            "BODY_SLOW",
            format!(
                "the body did not arrive within {} seconds: send smaller batches",
                timeout.as_secs()
            ),
        )
    })??;
    match form.encoding {
        Some(encoding) if !plain.is_empty() => Ok(Some(ReadPush {
            principal,
            encoding,
            plain,
            wire,
            room,
            now,
        })),
        _ => Ok(None),
    }
}

/// The bounds on one body.
struct Limit<'a> {
    tenant: &'a str,
    /// Bytes after decompression.
    plain: u64,
    /// Bytes as sent.
    wire: u64,
}

impl Limit<'_> {
    fn plain_exceeded(&self) -> Failure {
        Failure::new(
            ErrorKind::TooLarge,
            "BODY_TOO_LARGE",
            format!(
                "the body is larger than {} bytes after decompression, the max_request_bytes of tenant {}: send smaller \
                 batches (send_batch_max_size in a Collector's batch processor) or ask for a higher limit",
                self.plain, self.tenant
            ),
        )
    }

    fn wire_exceeded(&self) -> Failure {
        Failure::new(
            ErrorKind::TooLarge,
            "BODY_TOO_LARGE",
            format!(
                "the body is larger than {} bytes as sent, the max_wire_bytes of this gateway: send smaller batches \
                 (send_batch_max_size in a Collector's batch processor)",
                self.wire
            ),
        )
    }
}

/// Refuses what the head alone says cannot be read.
fn judge_head(form: Form, limit: &Limit<'_>) -> Result<(), Failure> {
    let Some(declared) = form.declared.filter(|length| *length > 0) else {
        return Ok(());
    };
    match (form.coding, form.encoding) {
        (None, _) => return Err(Failure::coding()),
        (Some(Coding::Identity), None) => return Err(Failure::media_type()),
        _ => {}
    }
    if declared > limit.wire {
        return Err(limit.wire_exceeded());
    }
    if form.coding == Some(Coding::Identity) && declared > limit.plain {
        return Err(limit.plain_exceeded());
    }
    Ok(())
}

/// Reads and decompresses; the body and its length as sent.
async fn read(
    form: Form,
    body: WireBody,
    limit: &Limit<'_>,
    room: &mut Room,
) -> Result<(Vec<u8>, u64), Failure> {
    let mut source = StreamReader::new(body);
    let start = source
        .fill_buf()
        .await
        .map_err(|fault| broken(&fault, limit, form))?;
    if start.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let wrapped = is_zlib(start);
    let mut plain = Vec::new();
    let end = match form.coding {
        None => return Err(Failure::coding()),
        Some(Coding::Identity) => drain(&mut source, form, limit, room, &mut plain).await,
        Some(Coding::Gzip) => {
            let mut decoder = GzipDecoder::new(&mut source);
            decoder.multiple_members(true);
            drain(decoder, form, limit, room, &mut plain).await
        }
        Some(Coding::Zstd) => {
            let window = [DParameter::window_log_max(ZSTD_WINDOW_LOG)];
            let mut decoder = ZstdDecoder::with_params(&mut source, &window);
            decoder.multiple_members(true);
            drain(decoder, form, limit, room, &mut plain).await
        }
        Some(Coding::Deflate) if wrapped => {
            drain(ZlibDecoder::new(&mut source), form, limit, room, &mut plain).await
        }
        Some(Coding::Deflate) => {
            drain(
                DeflateDecoder::new(&mut source),
                form,
                limit,
                room,
                &mut plain,
            )
            .await
        }
    };
    match end {
        Ok(()) => Ok((plain, source.get_ref().bytes_read())),
        Err(Stopped::Refused(failure)) => Err(failure),
        Err(Stopped::Broken(fault)) => Err(broken(&fault, limit, form)),
    }
}

/// Why reading ended early.
enum Stopped {
    Refused(Failure),
    Broken(io::Error),
}

/// Reads `source` to its end into `plain`, taking room for every byte before keeping it.
async fn drain(
    source: impl AsyncRead,
    form: Form,
    limit: &Limit<'_>,
    room: &mut Room,
    plain: &mut Vec<u8>,
) -> Result<(), Stopped> {
    let mut source = std::pin::pin!(source);
    loop {
        if plain.capacity() - plain.len() < STEP / 4 {
            plain.reserve(STEP);
        }
        let more = source.read_buf(plain).await.map_err(Stopped::Broken)?;
        if more == 0 {
            return Ok(());
        }
        if form.encoding.is_none() {
            return Err(Stopped::Refused(Failure::media_type()));
        }
        if u64::try_from(plain.len()).unwrap_or(u64::MAX) > limit.plain {
            return Err(Stopped::Refused(limit.plain_exceeded()));
        }
        room.grow(u64::try_from(more).unwrap_or(u64::MAX))
            .map_err(Stopped::Refused)?;
        if plain.len() / TURN != (plain.len() - more) / TURN {
            tokio::task::yield_now().await;
        }
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

fn broken(fault: &io::Error, limit: &Limit<'_>, form: Form) -> Failure {
    let wire = fault
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<WireFault>());
    match wire {
        Some(WireFault::TooLarge) => limit.wire_exceeded(),
        Some(WireFault::BrokenOff) => Failure::body(
            "BODY_BROKEN_OFF",
            "the body broke off before its end: send it again",
        ),
        None => {
            let coding = match form.coding {
                Some(Coding::Gzip) => "gzip",
                Some(Coding::Zstd) => "zstd",
                Some(Coding::Deflate) => "deflate",
                Some(Coding::Identity) | None => "identity",
            };
            Failure::body(
                "BODY_NOT_DECOMPRESSIBLE",
                format!(
                    "the body is not whole, valid {coding}, which its Content-Encoding says it is"
                ),
            )
        }
    }
}
