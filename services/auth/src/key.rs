//! Random bytes → a key that carries its class, its public id and a checksum; pasted text → such a key or
//! what is wrong with it.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

mod base62;

/// Length of the public id.
const KID_LENGTH: usize = 12;
/// Length of the random part.
const SECRET_LENGTH: usize = 32;
/// Length of the checksum.
const CHECKSUM_LENGTH: usize = 6;
/// Length of `slci_`.
const PREFIX_LENGTH: usize = 5;
/// Length of a whole key, characters.
pub const KEY_LENGTH: usize = PREFIX_LENGTH + KID_LENGTH + 1 + SECRET_LENGTH + CHECKSUM_LENGTH;

/// What a key is for; visible in its first characters, so that a scanner or a form can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyClass {
    /// Pushes data (`slci_…`).
    Ingest,
    /// Reads data (`slcq_…`).
    Query,
    /// Administers a tenant or the installation (`slca_…`).
    Admin,
}

impl KeyClass {
    /// The characters that keys of this class begin with.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Ingest => "slci_",
            Self::Query => "slcq_",
            Self::Admin => "slca_",
        }
    }

    /// The word for people: `ingest`, `query`, `admin`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Query => "query",
            Self::Admin => "admin",
        }
    }

    fn of(text: &str) -> Option<Self> {
        [Self::Ingest, Self::Query, Self::Admin]
            .into_iter()
            .find(|class| text.starts_with(class.prefix()))
    }
}

/// The public id of a key: twelve base62 characters, fit for logs, URLs and metrics.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId(Box<str>);

impl KeyId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that is not a key id.
#[derive(Debug, thiserror::Error)]
#[error("a key id is {KID_LENGTH} letters and digits")]
pub struct NotAKeyId;

impl TryFrom<String> for KeyId {
    type Error = NotAKeyId;

    fn try_from(text: String) -> Result<Self, NotAKeyId> {
        if text.len() == KID_LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            Ok(Self(text.into()))
        } else {
            Err(NotAKeyId)
        }
    }
}

impl From<KeyId> for String {
    fn from(kid: KeyId) -> Self {
        kid.0.into()
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Why a text is not a key of this service. Says nothing about whether such a key exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// It does not begin like a key.
    #[error("this is not a key of this service: keys begin with slci_, slcq_ or slca_")]
    Prefix,
    /// It is cut off or has something appended.
    #[error(
        "the key is cut off or has extra characters: expected {KEY_LENGTH} characters, got {got}"
    )]
    Length {
        /// Characters seen.
        got: usize,
    },
    /// A character that no key has.
    #[error(
        "character {position} of the key is not a letter, a digit or an underscore in its place: copy the key again"
    )]
    Character {
        /// Counted from 1.
        position: usize,
    },
    /// The checksum does not fit: a typing or copying mistake.
    #[error(
        "one or more characters of the key are wrong (its checksum does not match): copy the key again"
    )]
    Checksum,
}

/// A text of the right shape that somebody sent as a key. It may be anybody's, or nobody's.
#[derive(Clone)]
pub struct PresentedKey {
    class: KeyClass,
    kid: KeyId,
    secret: SecretString,
}

impl PresentedKey {
    /// Checks prefix, length, alphabet and checksum, in this order, without any lookup.
    ///
    /// # Errors
    /// [`ShapeError`] says which of them failed.
    pub fn parse(text: &str) -> Result<Self, ShapeError> {
        let class = KeyClass::of(text).ok_or(ShapeError::Prefix)?;
        let got = text.chars().count();
        if got != KEY_LENGTH {
            return Err(ShapeError::Length { got });
        }
        let separator = PREFIX_LENGTH + KID_LENGTH;
        let stray = text
            .chars()
            .enumerate()
            .skip(PREFIX_LENGTH)
            .find(|&(at, character)| {
                if at == separator {
                    character != '_'
                } else {
                    !character.is_ascii_alphanumeric()
                }
            });
        if let Some((at, _)) = stray {
            return Err(ShapeError::Character { position: at + 1 });
        }
        let (body, checksum) = text
            .split_at_checked(KEY_LENGTH - CHECKSUM_LENGTH)
            .ok_or(ShapeError::Length { got })?;
        if checksum_of(body) != checksum {
            return Err(ShapeError::Checksum);
        }
        let kid = text.get(PREFIX_LENGTH..separator).unwrap_or_default();
        Ok(Self {
            class,
            kid: KeyId(kid.into()),
            secret: SecretString::from(text),
        })
    }

    /// The class that the key claims; part of what the verifier covers.
    #[must_use]
    pub fn class(&self) -> KeyClass {
        self.class
    }

    /// The public id that the key claims.
    #[must_use]
    pub fn kid(&self) -> &KeyId {
        &self.kid
    }

    /// The whole text. For the verifier only.
    pub(crate) fn expose(&self) -> &str {
        self.secret.expose_secret()
    }
}

impl PartialEq for PresentedKey {
    /// Compares in time that depends on the lengths only.
    fn eq(&self, other: &Self) -> bool {
        use subtle::ConstantTimeEq;
        self.expose()
            .as_bytes()
            .ct_eq(other.expose().as_bytes())
            .into()
    }
}

impl fmt::Debug for PresentedKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}_***", self.class.prefix(), self.kid)
    }
}

/// A key just made: shown to its owner once, then only its verifier is kept. Cannot be serialized.
#[derive(Clone)]
pub struct PlainKey(PresentedKey);

impl PlainKey {
    /// Makes a key from the operating system's random numbers (190 bits of secret).
    ///
    /// # Errors
    /// When the operating system has no random numbers to give.
    pub fn generate(class: KeyClass) -> Result<Self, getrandom::Error> {
        let kid = base62::random(KID_LENGTH)?;
        let secret = base62::random(SECRET_LENGTH)?;
        let mut text = format!("{}{kid}_{secret}", class.prefix());
        text.push_str(&checksum_of(&text));
        Ok(Self(PresentedKey {
            class,
            kid: KeyId(kid.into()),
            secret: SecretString::from(text),
        }))
    }

    /// The public id.
    #[must_use]
    pub fn kid(&self) -> &KeyId {
        self.0.kid()
    }

    /// The key as a client would present it.
    #[must_use]
    pub fn as_presented(&self) -> &PresentedKey {
        &self.0
    }

    /// The secret text, for the one moment that its owner is shown it.
    #[must_use]
    pub fn expose_once(&self) -> &str {
        self.0.expose()
    }
}

impl fmt::Debug for PlainKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// What can be said about a key without asking anybody: its class and its public id.
///
/// # Errors
/// [`ShapeError`] says what is wrong with the text.
pub fn inspect(text: &str) -> Result<(KeyClass, KeyId), ShapeError> {
    let key = PresentedKey::parse(text.trim())?;
    Ok((key.class, key.kid))
}

/// CRC32/IEEE of `body` in base62, zero-padded to six characters (62⁶ > 2³²).
fn checksum_of(body: &str) -> String {
    base62::encode(crc32fast::hash(body.as_bytes()), CHECKSUM_LENGTH)
}

#[cfg(test)]
mod tests;
