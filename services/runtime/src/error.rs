//! What went wrong → HTTP status, gRPC code, metric label: the only place that names a status.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use http::StatusCode;

/// Any error that a cause can be.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The closed list of ways to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The sender is not known.
    Unauthenticated,
    /// The sender is known and may not do this.
    Forbidden,
    /// There is nothing under this path or name.
    NotFound,
    /// The path exists, the method does not.
    MethodNotAllowed,
    /// The request cannot be understood.
    Invalid,
    /// Media type or encoding is not served here.
    Unsupported,
    /// The body is larger than allowed.
    TooLarge,
    /// The sender is over its limit.
    RateLimited,
    /// The body took too long to arrive.
    SlowBody,
    /// This process has no room right now.
    Overloaded,
    /// Work took longer than allowed.
    Timeout,
    /// Something this process needs is away.
    Unavailable,
    /// A defect here.
    Internal,
}

impl ErrorKind {
    /// The HTTP status of this kind.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::Unsupported => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::SlowBody => StatusCode::REQUEST_TIMEOUT,
            Self::Overloaded | Self::Timeout | Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The `google.rpc.Code` number of this kind.
    #[must_use]
    pub const fn grpc_code(self) -> i32 {
        match self {
            Self::Invalid | Self::Unsupported => 3,
            Self::Timeout | Self::SlowBody => 4,
            Self::NotFound => 5,
            Self::Forbidden => 7,
            Self::TooLarge | Self::RateLimited => 8,
            Self::MethodNotAllowed => 12,
            Self::Internal => 13,
            Self::Overloaded | Self::Unavailable => 14,
            Self::Unauthenticated => 16,
        }
    }

    /// The metric label of this kind.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::Invalid => "invalid",
            Self::Unsupported => "unsupported",
            Self::TooLarge => "too_large",
            Self::RateLimited => "rate_limited",
            Self::SlowBody => "slow_body",
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }
}

/// An error on its way to a client: a kind, a text written for the client, and a cause that never
/// leaves the process. Deliberately not `Display`: each service renders it in its own protocol.
#[derive(Debug)]
pub struct ApiError {
    /// What kind of failure.
    pub kind: ErrorKind,
    /// What the client may read: what failed and what to do about it.
    pub public: Cow<'static, str>,
    /// What the log may read.
    pub source: Option<BoxError>,
    /// When trying again makes sense (429 and 503 only).
    pub retry_after: Option<Duration>,
}

impl ApiError {
    /// An error without a cause.
    pub fn new(kind: ErrorKind, public: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            public: public.into(),
            source: None,
            retry_after: None,
        }
    }

    /// A defect: the client reads one fixed sentence, the log reads the cause.
    pub fn internal(source: impl Into<BoxError>) -> Self {
        Self::new(
            ErrorKind::Internal,
            "something went wrong on our side; the log has the details under this request id",
        )
        .because(source)
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Adds when to try again.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }
}

/// Renders an error and its causes on one line, for the log.
#[derive(Debug)]
pub struct Chain<'a>(pub &'a (dyn std::error::Error + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(cause) = next {
            write!(out, ": {cause}")?;
            next = cause.source();
        }
        Ok(())
    }
}
