//! A presented key and the installation's pepper → the 32 bytes that a stored record is compared with.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::key::PresentedKey;

/// `HMAC-SHA-256(pepper, key)`: worthless to a thief without the pepper.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Verifier([u8; 32]);

impl Verifier {
    /// Whether both were made from the same key and pepper; takes the same time either way.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}

/// A text that is not 64 hexadecimal digits.
#[derive(Debug, thiserror::Error)]
#[error("expected 64 hexadecimal digits")]
pub struct NotHex;

impl TryFrom<String> for Verifier {
    type Error = NotHex;

    fn try_from(text: String) -> Result<Self, NotHex> {
        from_hex(&text).map(Self).ok_or(NotHex)
    }
}

impl From<Verifier> for String {
    fn from(verifier: Verifier) -> Self {
        to_hex(&verifier.0)
    }
}

/// The installation's secret that stored verifiers depend on; kept apart from them.
#[derive(Clone)]
pub struct Pepper {
    version: u32,
    hex: SecretString,
    state: Hmac<Sha256>,
}

impl Pepper {
    /// A new pepper, version 1.
    ///
    /// # Errors
    /// When the operating system has no random numbers to give.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self::new(&bytes, 1))
    }

    /// Reads 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`NotHex`] for anything else.
    pub fn from_hex(hex: &SecretString, version: u32) -> Result<Self, NotHex> {
        let bytes = from_hex(hex.expose_secret().trim()).ok_or(NotHex)?;
        Ok(Self::new(&bytes, version))
    }

    fn new(bytes: &[u8; 32], version: u32) -> Self {
        // HMAC pads a short secret with zeros to a block of 64 bytes.
        let mut block = [0_u8; 64];
        for (to, from) in block.iter_mut().zip(bytes) {
            *to = *from;
        }
        Self {
            version,
            hex: SecretString::from(to_hex(bytes)),
            state: Hmac::<Sha256>::new(&block.into()),
        }
    }

    /// Which pepper this is; a record says which one its verifier was made with.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// What a record of this key would hold.
    #[must_use]
    pub fn verifier(&self, key: &PresentedKey) -> Verifier {
        let mut state = self.state.clone();
        state.update(key.expose().as_bytes());
        Verifier(state.finalize().into_bytes().into())
    }

    /// The digits, for the file that keeps them.
    pub(crate) fn hex(&self) -> &SecretString {
        &self.hex
    }
}

impl fmt::Debug for Pepper {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Pepper(version {}, ***)", self.version)
    }
}

fn to_hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _written: fmt::Result = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = [0_u8; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).ok()?;
        if !pair.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{KeyClass, PlainKey};

    /// RFC 4231 has no case of our length, so this one was computed with Python's `hmac`.
    #[test]
    fn a_verifier_is_the_hmac_of_the_whole_key() {
        let pepper = Pepper::from_hex(&"0b".repeat(32).into(), 1).unwrap();
        let key = PresentedKey::parse("slci_4fK9aZ01bQxT_7Qm2vN8rT0yLwXc5BdHjK3pS6uFgEaZi1u6KBZ")
            .unwrap();
        assert_eq!(
            String::from(pepper.verifier(&key)),
            "50ee998c4b4e2570f1deaaae956d40f463268d054d46b8c945ef45b8cf329eb6"
        );
    }

    #[test]
    fn another_key_or_another_pepper_does_not_match() {
        let pepper = Pepper::generate().unwrap();
        let key = PlainKey::generate(KeyClass::Ingest).unwrap();
        let other = PlainKey::generate(KeyClass::Ingest).unwrap();
        let stored = pepper.verifier(key.as_presented());
        assert!(stored.matches(&pepper.verifier(key.as_presented())));
        assert!(!stored.matches(&pepper.verifier(other.as_presented())));
        let rotated = Pepper::generate().unwrap();
        assert!(!stored.matches(&rotated.verifier(key.as_presented())));
    }

    #[test]
    fn debug_output_shows_neither_pepper_nor_verifier() {
        let pepper = Pepper::from_hex(&"ab".repeat(32).into(), 3).unwrap();
        assert_eq!(format!("{pepper:?}"), "Pepper(version 3, ***)");
        let key = PlainKey::generate(KeyClass::Ingest).unwrap();
        assert_eq!(format!("{:?}", pepper.verifier(key.as_presented())), "***");
    }

    #[test]
    fn only_64_hexadecimal_digits_are_a_pepper() {
        for text in [
            "",
            "0b",
            &"+b".repeat(32),
            &"zz".repeat(32),
            &"0b".repeat(33),
        ] {
            assert!(Pepper::from_hex(&text.into(), 1).is_err(), "{text}");
        }
    }
}
