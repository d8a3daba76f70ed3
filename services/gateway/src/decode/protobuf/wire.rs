//! Protobuf bytes → keys and the scalars behind them, exactly as lenient as `prost` is.

/// What is wrong with a message, and where.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) what: &'static str,
    /// Address of the byte at fault.
    address: usize,
    /// The messages are not wrong but too many.
    pub(super) too_large: bool,
}

impl Fault {
    /// Position of the byte at fault in `body`.
    pub(super) fn offset(&self, body: &[u8]) -> usize {
        self.address.saturating_sub(body.as_ptr().addr())
    }
}

impl From<super::super::list::Full> for Fault {
    fn from(_: super::super::list::Full) -> Self {
        Self {
            what: "no room",
            address: 0,
            too_large: true,
        }
    }
}

/// How the value of a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireType {
    Varint,
    Fixed64,
    Delimited,
    StartGroup,
    EndGroup,
    Fixed32,
}

/// A key: which field comes next and how it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) tag: u32,
    pub(super) wire: WireType,
}

/// Messages within messages that may still be entered: as many as in `prost`, 100 from the outermost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depth(u32);

impl Depth {
    pub(super) const OUTERMOST: Self = Self(100);
}

/// What is left of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire<'b> {
    rest: &'b [u8],
    depth: Depth,
}

impl<'b> Wire<'b> {
    /// The outermost message.
    pub(super) fn of(body: &'b [u8]) -> Self {
        Self {
            rest: body,
            depth: Depth::OUTERMOST,
        }
    }

    fn fault(&self, what: &'static str) -> Fault {
        Fault {
            what,
            address: self.rest.as_ptr().addr(),
            too_large: false,
        }
    }

    /// The next key; `None` at the end of the message.
    #[inline]
    pub(super) fn key(&mut self) -> Result<Option<Key>, Fault> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let wire = match key & 7 {
            0 => WireType::Varint,
            1 => WireType::Fixed64,
            2 => WireType::Delimited,
            3 => WireType::StartGroup,
            4 => WireType::EndGroup,
            5 => WireType::Fixed32,
            _ => return Err(self.fault("a key with an unknown wire type")),
        };
        match u32::try_from(key) {
            Ok(key) if key >= 8 => Ok(Some(Key {
                tag: key >> 3,
                wire,
            })),
            _ => Err(self.fault("a key whose field number is 0 or too large")),
        }
    }

    /// A number of variable length, without its key.
    #[inline]
    pub(super) fn varint(&mut self) -> Result<u64, Fault> {
        if let [byte @ 0..0x80, rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(u64::from(*byte));
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Result<u64, Fault> {
        let mut number = 0;
        for (at, byte) in self.rest.iter().enumerate().take(10) {
            number |= u64::from(byte & 0x7f) << (7 * at);
            if *byte < 0x80 {
                if at == 9 && *byte > 1 {
                    break;
                }
                self.rest = self.rest.get(at + 1..).unwrap_or_default();
                return Ok(number);
            }
        }
        Err(self.fault("a number that does not end or has more than 64 bits"))
    }

    fn expect(&self, key: Key, wire: WireType) -> Result<(), Fault> {
        if key.wire == wire {
            Ok(())
        } else {
            Err(self.fault("a field that is written as another type than it has"))
        }
    }

    /// The next `length` bytes.
    fn take(&mut self, length: u64) -> Result<&'b [u8], Fault> {
        let split = usize::try_from(length)
            .ok()
            .and_then(|length| self.rest.split_at_checked(length));
        let Some((taken, rest)) = split else {
            return Err(self.fault("a length beyond the end of the message around it"));
        };
        self.rest = rest;
        Ok(taken)
    }

    /// Bytes.
    #[inline]
    pub(super) fn bytes(&mut self, key: Key) -> Result<&'b [u8], Fault> {
        self.expect(key, WireType::Delimited)?;
        let length = self.varint()?;
        self.take(length)
    }

    /// Text.
    #[inline]
    pub(super) fn text(&mut self, key: Key) -> Result<&'b str, Fault> {
        let before = *self;
        let bytes = self.bytes(key)?;
        std::str::from_utf8(bytes).map_err(|_| before.fault("text that is not UTF-8"))
    }

    /// A message within this one.
    #[inline]
    pub(super) fn message(&mut self, key: Key) -> Result<Self, Fault> {
        self.expect(key, WireType::Delimited)?;
        let depth = self.deeper()?;
        let length = self.varint()?;
        let rest = self.take(length)?;
        Ok(Self { rest, depth })
    }

    fn deeper(&self) -> Result<Depth, Fault> {
        let left = self.depth.0.checked_sub(1);
        left.map(Depth)
            .ok_or_else(|| self.fault("messages that nest deeper than 100"))
    }

    /// Eight bytes, without their key.
    fn eight(&mut self) -> Result<[u8; 8], Fault> {
        match self.rest.split_first_chunk() {
            Some((eight, rest)) => {
                self.rest = rest;
                Ok(*eight)
            }
            None => Err(self.fault("a number that is cut off")),
        }
    }

    /// A `fixed64`.
    #[inline]
    pub(super) fn fixed64(&mut self, key: Key) -> Result<u64, Fault> {
        self.expect(key, WireType::Fixed64)?;
        self.eight().map(u64::from_le_bytes)
    }

    /// An `sfixed64`.
    pub(super) fn sfixed64(&mut self, key: Key) -> Result<i64, Fault> {
        self.expect(key, WireType::Fixed64)?;
        self.eight().map(i64::from_le_bytes)
    }

    /// A `double`.
    #[inline]
    pub(super) fn double(&mut self, key: Key) -> Result<f64, Fault> {
        self.expect(key, WireType::Fixed64)?;
        self.eight().map(f64::from_le_bytes)
    }

    fn uint64(&mut self, key: Key) -> Result<u64, Fault> {
        self.expect(key, WireType::Varint)?;
        self.varint()
    }

    /// A `uint32`: what a longer number has beyond 32 bits is cut off.
    #[expect(clippy::cast_possible_truncation, reason = "as protobuf has it")]
    pub(super) fn uint32(&mut self, key: Key) -> Result<u32, Fault> {
        self.uint64(key).map(|number| number as u32)
    }

    /// An `int32` or an enum, cut off like a `uint32`.
    pub(super) fn int32(&mut self, key: Key) -> Result<i32, Fault> {
        self.uint32(key).map(u32::cast_signed)
    }

    /// An `sint32`, cut off like a `uint32`.
    pub(super) fn sint32(&mut self, key: Key) -> Result<i32, Fault> {
        let zigzag = self.uint32(key)?;
        Ok((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())
    }

    /// An `int64`.
    pub(super) fn int64(&mut self, key: Key) -> Result<i64, Fault> {
        self.uint64(key).map(u64::cast_signed)
    }

    /// A `bool`.
    pub(super) fn boolean(&mut self, key: Key) -> Result<bool, Fault> {
        self.uint64(key).map(|number| number != 0)
    }

    /// Numbers of eight bytes, packed or a single one.
    #[inline]
    pub(super) fn eights(&mut self, key: Key) -> Result<&'b [[u8; 8]], Fault> {
        let bytes = if key.wire == WireType::Delimited {
            self.bytes(key)?
        } else {
            self.expect(key, WireType::Fixed64)?;
            self.take(8)?
        };
        match bytes.as_chunks() {
            (eights, []) => Ok(eights),
            _ => Err(self.fault("packed numbers that are cut off")),
        }
    }

    /// Numbers of variable length, packed or a single one: what is to be read as such until its end.
    pub(super) fn varints(&mut self, key: Key) -> Result<Self, Fault> {
        let before = *self;
        let rest = if key.wire == WireType::Delimited {
            self.bytes(key)?
        } else {
            self.uint64(key)?;
            let length = before.rest.len() - self.rest.len();
            before.rest.get(..length).unwrap_or_default()
        };
        Ok(Self { rest, ..before })
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Skips a field that is not known.
    pub(super) fn skip(&mut self, key: Key) -> Result<(), Fault> {
        let deeper = self.deeper()?;
        let length = match key.wire {
            WireType::Varint => self.varint().map(|_| 0)?,
            WireType::Fixed64 => 8,
            WireType::Fixed32 => 4,
            WireType::Delimited => self.varint()?,
            WireType::StartGroup => {
                let outer = std::mem::replace(&mut self.depth, deeper);
                self.group(key.tag)?;
                self.depth = outer;
                0
            }
            WireType::EndGroup => return Err(self.fault("a group that ends before it begins")),
        };
        self.take(length).map(drop)
    }

    /// Skips what is left of a group.
    fn group(&mut self, tag: u32) -> Result<(), Fault> {
        loop {
            match self.key()? {
                None => return Err(self.fault("a group that does not end")),
                Some(key) if key.wire == WireType::EndGroup && key.tag == tag => return Ok(()),
                Some(key) => self.skip(key)?,
            }
        }
    }
}
