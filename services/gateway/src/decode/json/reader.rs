//! Walks JSON text message by message, list by list.

use bumpalo::Bump;

use super::fault::Fault;
use crate::decode::list::Room;

/// Deepest nesting of objects and lists. The OTLP envelope needs ten; the rest is for attributes.
const MAX_DEPTH: usize = 128;

/// A message that knows its fields by their JSON keys.
pub(super) trait Message<'a>: Default {
    /// Reads the value of `key` from `json` into its field. `false`, with nothing read, when there is
    /// no such field. A key that comes again replaces what it set before.
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault>;
}

/// A place in a JSON text.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    depth: usize,
    pub(super) arena: &'a Bump,
    /// For elements of lists.
    room: Room,
    /// Whether there were too many of those.
    full: bool,
    unknown: Option<Unknown>,
}

/// A field that no message has.
#[derive(Debug)]
pub(super) struct Unknown {
    /// As written.
    pub(super) key: String,
    /// Byte offset of its value's end of key.
    pub(super) offset: usize,
}

impl Unknown {
    /// Whether the key looks like protobuf's spelling of a field.
    pub(super) fn is_snake_case(&self) -> bool {
        self.key.contains('_')
    }
}

impl<'a> Reader<'a> {
    /// Starts at the beginning, after a byte order mark. All lists together may take `room` bytes.
    pub(super) fn new(text: &'a str, room: u64, arena: &'a Bump) -> Self {
        let at = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Self {
            text,
            at,
            depth: 0,
            arena,
            room: Room::of(room),
            full: false,
            unknown: None,
        }
    }

    /// Whether only white space is left.
    pub(super) fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Whether reading ended because lists took more room than there is.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// The first unknown field, or the first that looks like snake case.
    pub(super) fn into_unknown(self) -> Option<Unknown> {
        self.unknown
    }

    /// Reads a message; `null` is the message with nothing set.
    pub(super) fn message<M: Message<'a>>(&mut self) -> Result<M, Fault> {
        Ok(self.optional()?.unwrap_or_default())
    }

    /// Reads a message; `null` is none.
    pub(super) fn optional<M: Message<'a>>(&mut self) -> Result<Option<M>, Fault> {
        if self.null() {
            return Ok(None);
        }
        let mut message = M::default();
        self.object(|key, json| message.field(key, json))?;
        Ok(Some(message))
    }

    /// Reads a list of messages.
    pub(super) fn messages<M: Message<'a> + Copy>(&mut self) -> Result<&'a [M], Fault> {
        self.list(Self::message)
    }

    /// Reads a list with `read` for each of its elements; `null` is the empty list.
    pub(super) fn list<T: Copy>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, Fault>,
    ) -> Result<&'a [T], Fault> {
        if self.null() {
            return Ok(&[]);
        }
        self.open(b'[', "a list")?;
        if self.take(b']') {
            self.depth -= 1;
            return Ok(&[]);
        }
        let mut items = Vec::new();
        loop {
            let index = items.len();
            self.take_room::<T>()?;
            items.push(read(self).map_err(|fault| fault.at_index(index))?);
            if self.take(b']') {
                self.depth -= 1;
                return Ok(self.arena.alloc_slice_copy(&items));
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
    }

    /// Reads an object: `field` is called with each key and reads the value, or returns `false` to
    /// have it skipped.
    fn object(
        &mut self,
        mut field: impl FnMut(&str, &mut Self) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        self.open(b'{', "an object")?;
        if self.take(b'}') {
            self.depth -= 1;
            return Ok(());
        }
        loop {
            let key = self.text("a key in double quotes")?;
            let offset = self.at;
            if !self.take(b':') {
                return Err(self.unexpected("`:`"));
            }
            let known = field(&key, self).map_err(|fault| fault.in_field(&key))?;
            if !known {
                self.note_unknown(&key, offset);
                self.skip().map_err(|fault| fault.in_field(&key))?;
            }
            if self.take(b'}') {
                self.depth -= 1;
                return Ok(());
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
    }

    /// Reads any value and forgets it.
    pub(super) fn skip(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some(b'{') => self.object(|_, json| json.skip().map(|()| true)),
            Some(b'[') => self.list(Self::skip).map(drop),
            Some(b'"') => self.text("a string").map(drop),
            Some(b't') if self.word("true") => Ok(()),
            Some(b'f') if self.word("false") => Ok(()),
            Some(b'n') if self.word("null") => Ok(()),
            _ => self.number("a value").map(drop),
        }
    }

    fn take_room<T>(&mut self) -> Result<(), Fault> {
        self.room.take::<T>(1).map_err(|_| {
            self.full = true;
            Fault::new(self.at, "no room".to_owned())
        })
    }

    fn open(&mut self, bracket: u8, expected: &str) -> Result<(), Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault::new(
                self.at,
                format!("nested deeper than {MAX_DEPTH} levels"),
            ));
        }
        if !self.take(bracket) {
            return Err(self.unexpected(expected));
        }
        self.depth += 1;
        Ok(())
    }

    fn note_unknown(&mut self, key: &str, offset: usize) {
        let better = match &self.unknown {
            None => true,
            Some(noted) => !noted.is_snake_case() && key.contains('_'),
        };
        if better {
            let key = crate::outcome::excerpt(key);
            let offset = offset.saturating_sub(key.len() + 2);
            self.unknown = Some(Unknown { key, offset });
        }
    }

    /// The fault that something else than `expected` comes next.
    pub(super) fn unexpected(&mut self, expected: &str) -> Fault {
        let found = match self.peek() {
            None => "the end of the body",
            Some(b'{') => "an object",
            Some(b'[') => "a list",
            Some(b'"') => "a string",
            Some(b'-' | b'0'..=b'9') => "a number",
            Some(b't' | b'f') => "`true` or `false`",
            Some(b'n') => "`null`",
            Some(b'}' | b']' | b',' | b':') => "punctuation",
            Some(_) => "something that is not JSON",
        };
        Fault::new(self.at, format!("expected {expected}, found {found}"))
    }
}
