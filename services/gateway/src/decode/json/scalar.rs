//! Reads single values the way proto3's JSON mapping spells them; `null` is always the default.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::fault::Fault;
use super::reader::Reader;
use super::token::number_length;

/// Base64 with or without padding; the URL alphabet is mapped to this one first.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

const WHOLE: &str = "a whole number, or a string of digits";
const DOUBLE: &str = "a number, a numeric string, \"NaN\", \"Infinity\" or \"-Infinity\"";

impl<'a> Reader<'a> {
    /// Reads a string.
    pub(super) fn string(&mut self) -> Result<&'a str, Fault> {
        if self.null() {
            return Ok("");
        }
        Ok(match self.text("a string")? {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => self.arena.alloc_str(&text),
        })
    }

    /// Reads `true` or `false`.
    pub(super) fn boolean(&mut self) -> Result<bool, Fault> {
        match self.peek() {
            Some(b't') if self.word("true") => Ok(true),
            Some(b'f') if self.word("false") => Ok(false),
            Some(b'n') if self.word("null") => Ok(false),
            _ => Err(self.unexpected("`true` or `false`")),
        }
    }

    /// Reads a whole number of any protobuf width, digit for digit.
    pub(super) fn whole<N>(&mut self) -> Result<N, Fault>
    where
        N: Default + std::str::FromStr + TryFrom<i128>,
    {
        if self.null() {
            return Ok(N::default());
        }
        let (offset, text) = self.numeric(WHOLE)?;
        if let Ok(number) = text.parse() {
            return Ok(number);
        }
        exact(&text)
            .and_then(|number| N::try_from(number).ok())
            .ok_or_else(|| {
                let text = crate::outcome::excerpt(&text);
                Fault::new(
                    offset,
                    format!("expected {WHOLE}, in the field's range; found `{text}`"),
                )
            })
    }

    /// Reads a double.
    pub(super) fn double(&mut self) -> Result<f64, Fault> {
        Ok(self.optional_double()?.unwrap_or_default())
    }

    /// Reads a double; `null` is none.
    pub(super) fn optional_double(&mut self) -> Result<Option<f64>, Fault> {
        if self.null() {
            return Ok(None);
        }
        let (offset, text) = self.numeric(DOUBLE)?;
        let number = match &*text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            number if number_length(number.as_bytes()) == Some(number.len()) => number
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite()),
            _ => None,
        };
        number.map(Some).ok_or_else(|| {
            let text = crate::outcome::excerpt(&text);
            Fault::new(offset, format!("expected {DOUBLE}; found `{text}`"))
        })
    }

    /// Reads an enum as a number, a numeric string or a name. A name that `by_name` does not know is
    /// 0, the unspecified value, so that it costs the sender one metric and not the request.
    pub(super) fn enumeration(
        &mut self,
        by_name: impl Fn(&str) -> Option<i32>,
    ) -> Result<i32, Fault> {
        let start = self.at;
        if self.peek() == Some(b'"') {
            let name = self.text("a string")?;
            if !name.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
                return Ok(by_name(&name).unwrap_or_default());
            }
            self.at = start;
        }
        self.whole()
    }

    /// Reads bytes written in base64, of either alphabet, padded or not.
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Fault> {
        if self.null() {
            return Ok(&[]);
        }
        let text = self.text("a base64 string")?;
        let standard: Vec<u8> = text
            .bytes()
            .map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                other => other,
            })
            .collect();
        let offset = self.at;
        let bytes = BASE64
            .decode(standard)
            .map_err(|_| Fault::new(offset, "expected a base64 string".to_owned()))?;
        Ok(self.arena.alloc_slice_copy(&bytes))
    }

    /// Reads a trace or span id of `length` bytes written in hexadecimal. Anything else means that
    /// there is no id: it costs the link, not the request.
    pub(super) fn id(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        if self.peek() != Some(b'"') {
            self.skip()?;
            return Ok(&[]);
        }
        let text = self.text("a string")?;
        let id = hexadecimal(&text).filter(|id| id.len() == length);
        Ok(id.map_or(&[], |id| self.arena.alloc_slice_copy(&id)))
    }

    /// A number, or a string that should hold one, with its offset.
    fn numeric(&mut self, expected: &str) -> Result<(usize, Cow<'a, str>), Fault> {
        let quoted = self.peek() == Some(b'"');
        let offset = self.at;
        let text = if quoted {
            self.text(expected)?
        } else {
            Cow::Borrowed(self.number(expected)?)
        };
        Ok((offset, text))
    }
}

/// The bytes of a hexadecimal string that are not all zero.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| {
        char::from(*byte)
            .to_digit(16)
            .and_then(|d| u8::try_from(d).ok())
    };
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let bytes: Option<Vec<u8>> = text
        .as_bytes()
        .chunks_exact(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        })
        .collect();
    bytes.filter(|bytes| bytes.iter().any(|byte| *byte != 0))
}

/// The value of a JSON number such as `1.7e18`, without a detour over floats; `None` when it is not
/// whole, too long or no number.
fn exact(number: &str) -> Option<i128> {
    if number_length(number.as_bytes()) != Some(number.len()) {
        return None;
    }
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (sign, mantissa) = mantissa
        .strip_prefix('-')
        .map_or((1, mantissa), |rest| (-1, rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let significant = digits.trim_end_matches('0');
    let dropped = i64::try_from(digits.len() - significant.len()).ok()?;
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let exponent: i64 = exponent.parse().ok()?;
    let places = exponent
        .checked_sub(i64::try_from(fraction.len()).ok()?)?
        .checked_add(dropped)?;
    let scale = 10_i128.checked_pow(u32::try_from(places).ok()?)?;
    significant
        .parse::<i128>()
        .ok()?
        .checked_mul(scale)?
        .checked_mul(sign)
}
