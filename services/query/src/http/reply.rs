//! A failure or a small answer → Prometheus' JSON envelope, with the one table of status codes.

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use promql::error::EvalError;
use runtime::error::{BoxError, Chain};

use crate::http::json::{self, Out};

/// Media type of every answer of the API.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Prometheus' `errorType`, and three of our own for what Prometheus leaves to a proxy before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ErrorType {
    BadData,
    Execution,
    Canceled,
    Timeout,
    Internal,
    Unavailable,
    Unauthorized,
    Forbidden,
    TooManyRequests,
}

impl ErrorType {
    /// The word in the answer and in metrics.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::BadData => "bad_data",
            Self::Execution => "execution",
            Self::Canceled => "canceled",
            Self::Timeout => "timeout",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::TooManyRequests => "too_many_requests",
        }
    }

    /// The status code. Storage that is away is 503 rather than Prometheus' 500: Grafana shows the text
    /// of a 503, and a balancer may try another process.
    fn status(self) -> StatusCode {
        match self {
            Self::BadData => StatusCode::BAD_REQUEST,
            Self::Execution => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Canceled => StatusCode::from_u16(499).unwrap_or(StatusCode::SERVICE_UNAVAILABLE),
            Self::Timeout | Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        }
    }
}

/// Why a request has no answer: a kind, a text for the client, a cause for the log.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: ErrorType,
    pub(crate) text: Cow<'static, str>,
    source: Option<BoxError>,
}

impl Failure {
    pub(crate) fn new(kind: ErrorType, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            text: text.into(),
            source: None,
        }
    }

    /// The request cannot be understood.
    pub(crate) fn bad_data(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorType::BadData, text)
    }

    /// A parameter cannot be understood.
    pub(crate) fn parameter(name: &str, why: impl std::fmt::Display) -> Self {
        Self::bad_data(format!("invalid parameter {name:?}: {why}"))
    }

    /// Time ran out while computing.
    pub(crate) fn timed_out() -> Self {
        Self::new(
            ErrorType::Timeout,
            "query timed out in expression evaluation",
        )
    }

    /// A defect here; the cause goes to the log alone.
    pub(crate) fn internal(cause: impl Into<BoxError>) -> Self {
        Self::new(
            ErrorType::Internal,
            "something went wrong on our side; the log has the details",
        )
        .because(cause)
    }

    /// Adds the cause.
    pub(crate) fn because(mut self, cause: impl Into<BoxError>) -> Self {
        self.source = Some(cause.into());
        self
    }
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        let kind = match error {
            EvalError::BadData(_) => ErrorType::BadData,
            EvalError::Execution(_)
            | EvalError::TooManySamples
            | EvalError::TooManySelectors { .. } => ErrorType::Execution,
            EvalError::Cancelled => ErrorType::Canceled,
        };
        Self::new(kind, error.to_string())
    }
}

/// Which kind of failure an answer carries; the layer that counts and logs reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed(pub(crate) ErrorType);

impl Failure {
    fn log(&self) {
        if let Some(source) = &self.source
            && self.kind.status().is_server_error()
        {
            tracing::error!(
                kind = self.kind.word(),
                "query failed: {}: {}",
                self.text,
                Chain(source.as_ref())
            );
        }
    }

    /// The answer with this body.
    fn respond(self, kind: HeaderValue, body: Out) -> Response {
        self.log();
        let mut response =
            (self.kind.status(), [(header::CONTENT_TYPE, kind)], body).into_response();
        match self.kind {
            ErrorType::Unauthorized => {
                let challenge =
                    HeaderValue::from_static("Basic realm=\"sluice\", Bearer realm=\"sluice\"");
                response
                    .headers_mut()
                    .insert(header::WWW_AUTHENTICATE, challenge);
            }
            ErrorType::Unavailable | ErrorType::TooManyRequests => {
                response
                    .headers_mut()
                    .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response.extensions_mut().insert(Failed(self.kind));
        response
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut out: Out = b"{\"status\":\"error\",\"errorType\":".to_vec();
        json::string(&mut out, self.kind.word());
        out.extend_from_slice(b",\"error\":");
        json::string(&mut out, &self.text);
        out.push(b'}');
        self.respond(JSON, out)
    }
}

/// A failure whose text is the whole body, as `/federate` and remote read answer.
#[derive(Debug)]
pub(crate) struct Plain(Failure);

impl<E: Into<Failure>> From<E> for Plain {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Plain {
    fn into_response(self) -> Response {
        let body = format!("{}\n", self.0.text).into_bytes();
        let kind = HeaderValue::from_static("text/plain; charset=utf-8");
        self.0.respond(kind, body)
    }
}

/// What goes before `data` in an answer.
pub(crate) const SUCCESS: &[u8] = b"{\"status\":\"success\",\"data\":";

/// The end of an answer after its data: warnings and infos, where there are any.
pub(crate) fn notes(out: &mut Out, warnings: &[String], infos: &[String]) {
    for (name, texts) in [("warnings", warnings), ("infos", infos)] {
        if !texts.is_empty() {
            out.push(b',');
            json::string(out, name);
            out.push(b':');
            json::strings(out, texts);
        }
    }
    out.push(b'}');
}

/// An answer whose data is written by `data` in one go.
pub(crate) fn success(warnings: &[String], data: impl FnOnce(&mut Out)) -> Response {
    let mut out = SUCCESS.to_vec();
    data(&mut out);
    notes(&mut out, warnings, &[]);
    ([(header::CONTENT_TYPE, JSON)], out).into_response()
}

/// The warning of an answer that was cut at the requested limit.
pub(crate) const TRUNCATED: &str = "results truncated due to limit";

#[cfg(test)]
mod tests {
    use super::*;

    async fn shown(failure: Failure) -> (u16, Option<String>, String) {
        let response = failure.into_response();
        let challenge = response
            .headers()
            .get("www-authenticate")
            .map(|value| value.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        let body = axum::body::to_bytes(response.into_body(), 1 << 20)
            .await
            .unwrap();
        (status, challenge, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn every_error_type_has_prometheus_code() {
        let expected = [
            (ErrorType::BadData, 400, "bad_data"),
            (ErrorType::Execution, 422, "execution"),
            (ErrorType::Canceled, 499, "canceled"),
            (ErrorType::Timeout, 503, "timeout"),
            (ErrorType::Internal, 500, "internal"),
            (ErrorType::Unavailable, 503, "unavailable"),
            (ErrorType::Unauthorized, 401, "unauthorized"),
            (ErrorType::Forbidden, 403, "forbidden"),
            (ErrorType::TooManyRequests, 429, "too_many_requests"),
        ];
        for (kind, status, word) in expected {
            let (got, challenge, body) = shown(Failure::new(kind, "a \"b\"")).await;
            assert_eq!(got, status);
            assert_eq!(
                body,
                format!(r#"{{"status":"error","errorType":"{word}","error":"a \"b\""}}"#)
            );
            assert_eq!(challenge.is_some(), status == 401);
        }
    }

    #[tokio::test]
    async fn a_cause_never_reaches_the_client() {
        let (_, _, body) = shown(Failure::internal("password is hunter2")).await;
        assert!(!body.contains("hunter2"), "{body}");
    }

    #[test]
    fn evaluation_errors_keep_their_text() {
        let failure = Failure::from(EvalError::TooManySamples);
        assert_eq!(failure.kind, ErrorType::Execution);
        assert_eq!(
            failure.text,
            "query processing would load too many samples into memory in query execution"
        );
    }
}
