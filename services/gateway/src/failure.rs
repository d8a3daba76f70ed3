//! What went wrong with a push → a kind, a text and machine-readable details for its sender.

use std::borrow::Cow;
use std::time::Duration;

use auth::refusal::Refusal;
use http::{HeaderName, header};
use runtime::error::{ApiError, BoxError, ErrorKind};

/// A header that tells the sender what would work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// How to authenticate, with 401.
    Challenge,
    /// The methods, with 405.
    Allow,
    /// The media types, with 415.
    Accept,
    /// The encodings, with 415.
    AcceptEncoding,
}

impl Hint {
    /// Name and value of the header.
    pub(crate) const fn header(self) -> (HeaderName, &'static str) {
        match self {
            Self::Challenge => (header::WWW_AUTHENTICATE, "Basic realm=\"otlp\", Bearer"),
            Self::Allow => (header::ALLOW, "POST, OPTIONS"),
            Self::Accept => (header::ACCEPT, "application/x-protobuf, application/json"),
            Self::AcceptEncoding => (header::ACCEPT_ENCODING, "gzip, zstd, deflate, identity"),
        }
    }
}

/// A push that failed as a whole.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Kind, text, cause, time to wait.
    pub(crate) error: ApiError,
    /// What machines read, in `ErrorInfo`.
    pub(crate) reason: &'static str,
    /// The field at fault, for a `BadRequest`.
    pub(crate) field: String,
    /// A header that the answer carries.
    pub(crate) hint: Option<Hint>,
}

impl Failure {
    pub(crate) fn new(
        kind: ErrorKind,
        reason: &'static str,
        public: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            error: ApiError::new(kind, public),
            reason,
            field: String::new(),
            hint: None,
        }
    }

    /// Something that will pass; the sender is asked to wait.
    pub(crate) fn later(
        kind: ErrorKind,
        reason: &'static str,
        public: impl Into<Cow<'static, str>>,
        wait: Duration,
    ) -> Self {
        let mut failure = Self::new(kind, reason, public);
        failure.error.retry_after = Some(wait);
        failure
    }

    pub(crate) fn because(mut self, source: impl Into<BoxError>) -> Self {
        self.error = self.error.because(source);
        self
    }

    fn with(mut self, hint: Hint) -> Self {
        self.hint = Some(hint);
        self
    }

    /// A body in a media type that is not read here.
    pub(crate) fn media_type() -> Self {
        Self::new(
            ErrorKind::Unsupported,
            "MEDIA_TYPE_UNSUPPORTED",
            "the Content-Type is missing or not one of application/x-protobuf and application/json: set the \
             exporter's protocol to http/protobuf or http/json",
        )
        .with(Hint::Accept)
    }

    /// A body in an encoding that is not read here.
    pub(crate) fn coding() -> Self {
        Self::new(
            ErrorKind::Unsupported,
            "ENCODING_UNSUPPORTED",
            "the Content-Encoding is not one of gzip, zstd, deflate and identity, or there are several: set the \
             exporter's compression to gzip or none",
        )
        .with(Hint::AcceptEncoding)
    }

    /// A method other than POST.
    pub(crate) fn method() -> Self {
        Self::new(
            ErrorKind::MethodNotAllowed,
            "METHOD_NOT_ALLOWED",
            "metrics are pushed with POST",
        )
        .with(Hint::Allow)
    }

    /// A path that is not served; `remedy` says which one is.
    pub(crate) fn path(remedy: &'static str) -> Self {
        Self::new(ErrorKind::NotFound, "PATH_UNKNOWN", remedy)
    }

    /// A body that is not what it is said to be.
    pub(crate) fn body(reason: &'static str, public: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Invalid, reason, public)
    }

    /// A defect here. Answered 503, not 500: senders drop what was answered 500.
    pub(crate) fn defect() -> Self {
        Self::later(
            ErrorKind::Unavailable,
            "INTERNAL",
            "something went wrong on our side; the log has the details under this request id",
            soon(),
        )
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let reason = refusal.reason.code();
        let failure = Self {
            error: refusal.into(),
            reason,
            field: String::new(),
            hint: None,
        };
        if failure.error.kind == ErrorKind::Unauthenticated {
            return failure.with(Hint::Challenge);
        }
        failure
    }
}

/// Five to fifteen seconds: spread, so that senders turned away together do not come back together.
pub(crate) fn soon() -> Duration {
    let nanos = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos());
    Duration::from_secs(5 + u64::from(nanos / 1000) % 11)
}
