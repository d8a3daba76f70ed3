//! Why a caller is turned away → a kind, a text for the caller and a reason for counters.

use std::borrow::Cow;
use std::time::Duration;

use runtime::error::{ApiError, ErrorKind};

/// The closed list of reasons to turn a caller away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// No credential was sent.
    Missing,
    /// Two different credentials, or one header twice.
    Ambiguous,
    /// A header pair came with one half.
    HalfPair,
    /// The header cannot be read as any accepted form.
    Malformed,
    /// The key's shape is wrong; it cannot exist.
    KeyShape,
    /// No such key, or another secret.
    UnknownKey,
    /// The key belongs to another tenant than the one named.
    TenantMismatch,
    /// The key was revoked.
    Revoked,
    /// The key has expired.
    Expired,
    /// The key is suspended.
    KeySuspended,
    /// The tenant is suspended.
    TenantSuspended,
    /// The key is not allowed from this address.
    Network,
    /// The key is of another class.
    WrongClass,
    /// The key lacks the permission.
    MissingScope,
    /// The directory cannot answer now.
    DirectoryAway,
}

impl Reason {
    /// Every reason, for metrics that list them.
    pub const ALL: [Self; 15] = [
        Self::Missing,
        Self::Ambiguous,
        Self::HalfPair,
        Self::Malformed,
        Self::KeyShape,
        Self::UnknownKey,
        Self::TenantMismatch,
        Self::Revoked,
        Self::Expired,
        Self::KeySuspended,
        Self::TenantSuspended,
        Self::Network,
        Self::WrongClass,
        Self::MissingScope,
        Self::DirectoryAway,
    ];

    /// The name that machines read, in answers and metrics.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Missing => "CREDENTIALS_MISSING",
            Self::Ambiguous => "AMBIGUOUS_CREDENTIALS",
            Self::HalfPair => "CREDENTIALS_INCOMPLETE",
            Self::Malformed => "CREDENTIALS_MALFORMED",
            Self::KeyShape => "KEY_MALFORMED",
            Self::UnknownKey => "KEY_UNKNOWN",
            Self::TenantMismatch => "TENANT_MISMATCH",
            Self::Revoked => "KEY_REVOKED",
            Self::Expired => "KEY_EXPIRED",
            Self::KeySuspended => "KEY_SUSPENDED",
            Self::TenantSuspended => "TENANT_SUSPENDED",
            Self::Network => "ADDRESS_NOT_ALLOWED",
            Self::WrongClass => "WRONG_KEY_CLASS",
            Self::MissingScope => "SCOPE_MISSING",
            Self::DirectoryAway => "DIRECTORY_UNAVAILABLE",
        }
    }

    /// The kind of failure, and so the status.
    #[must_use]
    pub const fn kind(self) -> ErrorKind {
        match self {
            Self::Missing
            | Self::Ambiguous
            | Self::HalfPair
            | Self::Malformed
            | Self::KeyShape
            | Self::UnknownKey
            | Self::TenantMismatch
            | Self::Revoked
            | Self::Expired => ErrorKind::Unauthenticated,
            Self::KeySuspended
            | Self::TenantSuspended
            | Self::Network
            | Self::WrongClass
            | Self::MissingScope => ErrorKind::Forbidden,
            Self::DirectoryAway => ErrorKind::Unavailable,
        }
    }
}

/// A caller turned away. The text never repeats anything that the caller sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why; also decides the status.
    pub reason: Reason,
    /// What the caller may read: what is wrong and what to change.
    pub public: Cow<'static, str>,
    /// When to try again, for a directory that cannot answer now.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    /// A refusal for good.
    pub fn new(reason: Reason, public: impl Into<Cow<'static, str>>) -> Self {
        Self {
            reason,
            public: public.into(),
            retry_after: None,
        }
    }

    /// A directory that cannot answer now: never a 401, which a sender would take as final.
    pub fn later(public: impl Into<Cow<'static, str>>, retry_after: Duration) -> Self {
        Self {
            reason: Reason::DirectoryAway,
            public: public.into(),
            retry_after: Some(retry_after),
        }
    }

    /// The kind of failure.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.reason.kind()
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let error = Self::new(refusal.kind(), refusal.public);
        match refusal.retry_after {
            Some(wait) => error.retry_after(wait),
            None => error,
        }
    }
}
