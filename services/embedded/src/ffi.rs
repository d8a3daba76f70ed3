//! The C interface of libchdb → an engine, its sessions and their results; the only unsafe code of the system.
//!
//! What makes each call sound, once for all of them:
//! - The functions are those of the pinned version; their types are written down in [`Functions`].
//! - A result is destroyed once, by [`Chunk`] or [`Stream`], and its memory is read while that value lives.
//! - A session is owned by one value and every call takes it by `&mut`, so it never runs two statements at
//!   once, which the library forbids. It may move to another thread between calls, which the library allows.
//! - [`Engine`] keeps the library loaded; everything else holds an `Arc` of it.
#![expect(
    unsafe_code,
    reason = "the engine is a C library; nothing outside this module is unsafe"
)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use libloading::Library;

use crate::error::EmbeddedError;

mod process;

pub use process::exit_now;
pub(crate) use process::{close_stdin, nameless_file};

type Connection = *mut c_void;
type Raw = *mut c_void;
type Strings = *const *const c_char;
type Lengths = *const usize;
type Run = unsafe extern "C" fn(
    Connection,
    *const c_char,
    usize,
    *const c_char,
    usize,
    Strings,
    Lengths,
    Strings,
    Lengths,
    usize,
) -> Raw;

/// The functions of the library that are used.
struct Functions {
    connect: unsafe extern "C" fn(c_int, *mut *mut c_char) -> *mut Connection,
    close: unsafe extern "C" fn(*mut Connection),
    query: Run,
    stream: Run,
    fetch: unsafe extern "C" fn(Connection, Raw) -> Raw,
    cancel: unsafe extern "C" fn(Connection, Raw),
    destroy: unsafe extern "C" fn(Raw),
    buffer: unsafe extern "C" fn(Raw) -> *mut c_char,
    length: unsafe extern "C" fn(Raw) -> usize,
    error: unsafe extern "C" fn(Raw) -> *const c_char,
    rows_read: unsafe extern "C" fn(Raw) -> u64,
    bytes_read: unsafe extern "C" fn(Raw) -> u64,
    rows_written: unsafe extern "C" fn(Raw) -> u64,
    bytes_written: unsafe extern "C" fn(Raw) -> u64,
}

/// The loaded library.
pub(crate) struct Engine {
    functions: Functions,
    /// Keeps the code behind `functions` in memory.
    _library: Library,
}

impl fmt::Debug for Engine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Engine")
    }
}

impl Engine {
    /// Loads the library. Its crash handlers stay off: they would hold a crashed process for minutes.
    pub(crate) fn load(path: &Path) -> Result<Arc<Self>, EmbeddedError> {
        let failed = |source| EmbeddedError::Library {
            path: path.to_owned(),
            source,
        };
        // SAFETY: the library's initialisers are those of the pinned engine and expect nothing of us.
        let library = unsafe { Library::new(path) }.map_err(failed)?;
        // SAFETY: the types are those of the library's header for this version.
        let functions = unsafe { find(&library) }.map_err(failed)?;
        // SAFETY: as above; the call sets a process-wide flag and must precede the first connection.
        unsafe {
            let handlers: unsafe extern "C" fn(c_int) = *library
                .get(b"chdb_set_signal_handlers_enabled\0")
                .map_err(failed)?;
            handlers(0);
        }
        Ok(Arc::new(Self {
            functions,
            _library: library,
        }))
    }

    /// Opens a session on the folder `data`. The first one of a process starts the engine; `options` of
    /// the form `--name=value` that name server settings count then only.
    pub(crate) fn connect(self: &Arc<Self>, data: &Path, options: &[String]) -> Option<Session> {
        let mut folder = b"--path=".to_vec();
        folder.extend_from_slice(data.as_os_str().as_bytes());
        let words = [b"clickhouse".to_vec(), folder];
        let words: Option<Vec<CString>> = words
            .into_iter()
            .chain(options.iter().map(|option| option.clone().into_bytes()))
            .map(|word| CString::new(word).ok())
            .collect();
        let words = words?;
        let mut pointers: Vec<*mut c_char> =
            words.iter().map(|word| word.as_ptr().cast_mut()).collect();
        let count = c_int::try_from(pointers.len()).ok()?;
        // SAFETY: `count` NUL-ended strings that outlive the call; the library does not write to them.
        let handle = unsafe { (self.functions.connect)(count, pointers.as_mut_ptr()) };
        let handle = NonNull::new(handle)?;
        // SAFETY: a handle that is not null points at a connection until it is closed.
        let opened = unsafe { !(*handle.as_ptr()).is_null() };
        opened.then(|| Session {
            engine: Arc::clone(self),
            handle,
        })
    }
}

/// # Safety
/// The library must be the engine's, of the pinned version.
unsafe fn find(library: &Library) -> Result<Functions, libloading::Error> {
    // SAFETY: the caller vouches for the library, so each name has the type of its field.
    unsafe {
        Ok(Functions {
            connect: *library.get(b"chdb_connect\0")?,
            close: *library.get(b"chdb_close_conn\0")?,
            query: *library.get(b"chdb_query_with_params_n\0")?,
            stream: *library.get(b"chdb_stream_query_with_params_n\0")?,
            fetch: *library.get(b"chdb_stream_fetch_result\0")?,
            cancel: *library.get(b"chdb_stream_cancel_query\0")?,
            destroy: *library.get(b"chdb_destroy_query_result\0")?,
            buffer: *library.get(b"chdb_result_buffer\0")?,
            length: *library.get(b"chdb_result_length\0")?,
            error: *library.get(b"chdb_result_error\0")?,
            rows_read: *library.get(b"chdb_result_storage_rows_read\0")?,
            bytes_read: *library.get(b"chdb_result_storage_bytes_read\0")?,
            rows_written: *library.get(b"chdb_result_rows_written\0")?,
            bytes_written: *library.get(b"chdb_result_bytes_written\0")?,
        })
    }
}

/// One session: settings and current database live here between statements.
pub(crate) struct Session {
    engine: Arc<Engine>,
    handle: NonNull<Connection>,
}

// SAFETY: the library binds nothing of a connection to the thread that opened it.
unsafe impl Send for Session {}

/// A statement for [`Session::query`] and [`Session::stream`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    /// The statement; any bytes.
    pub(crate) sql: &'a [u8],
    /// Format of the result where the statement names none.
    pub(crate) format: &'a str,
    /// Values of `{name:Type}`, in ClickHouse's escaped text form.
    pub(crate) params: &'a [(String, String)],
}

impl Session {
    /// Runs a statement to its end; the whole output is in the chunk.
    pub(crate) fn query(&mut self, text: Text<'_>) -> Result<Chunk, String> {
        let raw = self.run(self.engine.functions.query, text);
        Chunk::take(&self.engine, raw)
    }

    /// Starts a SELECT whose output comes block by block.
    pub(crate) fn stream(&mut self, text: Text<'_>) -> Result<Stream<'_>, String> {
        let raw = self.run(self.engine.functions.stream, text);
        let chunk = Chunk::take(&self.engine, raw)?;
        Ok(Stream {
            session: self,
            start: chunk,
            open: true,
        })
    }

    fn run(&mut self, function: Run, text: Text<'_>) -> Raw {
        let (names, name_lengths) = pointers(text.params.iter().map(|(name, _)| name));
        let (values, value_lengths) = pointers(text.params.iter().map(|(_, value)| value));
        // SAFETY: the connection is open, every pointer comes with its length and outlives the call.
        unsafe {
            function(
                self.connection(),
                text.sql.as_ptr().cast(),
                text.sql.len(),
                text.format.as_ptr().cast(),
                text.format.len(),
                names.as_ptr(),
                name_lengths.as_ptr(),
                values.as_ptr(),
                value_lengths.as_ptr(),
                names.len(),
            )
        }
    }

    fn connection(&self) -> Connection {
        // SAFETY: the handle is valid until `drop`.
        unsafe { *self.handle.as_ptr() }
    }
}

/// Where each string is, and how long.
fn pointers<'a>(strings: impl Iterator<Item = &'a String>) -> (Vec<*const c_char>, Vec<usize>) {
    strings
        .map(|string| (string.as_ptr().cast(), string.len()))
        .unzip()
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: the handle came from `connect` and is closed here only.
        unsafe { (self.engine.functions.close)(self.handle.as_ptr()) }
    }
}

/// A SELECT that is running. Dropping it early cancels the statement.
pub(crate) struct Stream<'a> {
    session: &'a mut Session,
    start: Chunk,
    open: bool,
}

impl Stream<'_> {
    /// The next block's output, or nothing at the end. Waits as long as the engine works on it.
    pub(crate) fn next(&mut self) -> Result<Option<Chunk>, String> {
        // SAFETY: connection and stream are alive, and `&mut` keeps other calls away.
        let raw = unsafe {
            (self.session.engine.functions.fetch)(
                self.session.connection(),
                self.start.raw.as_ptr(),
            )
        };
        match Chunk::take(&self.session.engine, raw) {
            Ok(chunk) if chunk.as_ref().is_empty() => {
                self.open = false;
                Ok(None)
            }
            Ok(chunk) => Ok(Some(chunk)),
            Err(error) => {
                self.open = false;
                Err(error)
            }
        }
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        if self.open {
            // SAFETY: as in `next`; the stream has not ended, so there is something to cancel.
            unsafe {
                (self.session.engine.functions.cancel)(
                    self.session.connection(),
                    self.start.raw.as_ptr(),
                );
            }
        }
    }
}

/// Output of the engine, in the engine's memory.
pub(crate) struct Chunk {
    engine: Arc<Engine>,
    raw: NonNull<c_void>,
}

// SAFETY: a result is plain memory that nobody else refers to; any thread may read and free it.
unsafe impl Send for Chunk {}
// SAFETY: through a shared reference it is only read.
unsafe impl Sync for Chunk {}

impl Chunk {
    fn take(engine: &Arc<Engine>, raw: Raw) -> Result<Self, String> {
        let raw = NonNull::new(raw).ok_or_else(|| "the engine gave no result".to_owned())?;
        let chunk = Self {
            engine: Arc::clone(engine),
            raw,
        };
        // SAFETY: the result is alive; an error is a NUL-ended string inside it.
        unsafe {
            let error = (engine.functions.error)(raw.as_ptr());
            if error.is_null() {
                Ok(chunk)
            } else {
                Err(CStr::from_ptr(error).to_string_lossy().into_owned())
            }
        }
    }

    /// What the statement read and wrote.
    pub(crate) fn totals(&self) -> Totals {
        let functions = &self.engine.functions;
        let of = |function: unsafe extern "C" fn(Raw) -> u64| {
            // SAFETY: the result is alive.
            unsafe { function(self.raw.as_ptr()) }
        };
        Totals {
            rows_read: of(functions.rows_read),
            bytes_read: of(functions.bytes_read),
            rows_written: of(functions.rows_written),
            bytes_written: of(functions.bytes_written),
        }
    }
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: buffer and length describe memory that lives as long as the result.
        unsafe {
            let length = (self.engine.functions.length)(self.raw.as_ptr());
            let buffer = (self.engine.functions.buffer)(self.raw.as_ptr());
            if length == 0 || buffer.is_null() {
                &[]
            } else {
                std::slice::from_raw_parts(buffer.cast(), length)
            }
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: the result is alive and this is its only owner.
        unsafe { (self.engine.functions.destroy)(self.raw.as_ptr()) }
    }
}

/// Rows and bytes of one statement, materialized views included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) rows_read: u64,
    pub(crate) bytes_read: u64,
    pub(crate) rows_written: u64,
    pub(crate) bytes_written: u64,
}

impl std::ops::AddAssign for Totals {
    fn add_assign(&mut self, more: Self) {
        self.rows_read += more.rows_read;
        self.bytes_read += more.bytes_read;
        self.rows_written += more.rows_written;
        self.bytes_written += more.bytes_written;
    }
}
