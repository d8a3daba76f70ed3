//! Which web pages may push: preflights answered, other answers marked.

use auth::extract::HeaderNames;
use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, StatusCode, header};

/// How long a browser may remember a preflight, seconds.
const MAX_AGE: u32 = 7200;

/// The origins and headers that are allowed. Credentials in the browser's sense (cookies) never are.
#[derive(Debug)]
pub(crate) struct Cors {
    any: bool,
    origins: Vec<String>,
    headers: HeaderValue,
}

impl Cors {
    /// Allows `origins` (`*` is any) and the headers of `names`.
    pub(crate) fn new(origins: Vec<String>, names: &HeaderNames) -> Self {
        let mut allowed = vec![
            "Content-Type",
            "Content-Encoding",
            "X-Request-Id",
            "X-Requested-With",
        ];
        for name in names.all() {
            if !allowed.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                allowed.push(name);
            }
        }
        Self {
            any: origins.iter().any(|origin| origin == "*"),
            origins,
            headers: HeaderValue::from_str(&allowed.join(", ")).unwrap_or_else(|_| {
                HeaderValue::from_static("Content-Type, Content-Encoding, Authorization")
            }),
        }
    }

    /// The answer to an OPTIONS request: it carries no credentials, so it comes before authentication.
    pub(crate) fn preflight(&self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        headers.insert(header::ALLOW, HeaderValue::from_static("POST, OPTIONS"));
        headers.insert(
            header::ACCESS_CONTROL_ALLOW_METHODS,
            HeaderValue::from_static("POST, OPTIONS"),
        );
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, self.headers.clone());
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(MAX_AGE));
        response
    }

    /// Marks `answer` as readable by the page at `origin`, if that is allowed.
    pub(crate) fn mark(&self, origin: Option<&HeaderValue>, answer: &mut HeaderMap) {
        let Some(origin) = origin else { return };
        if self.any {
            answer.insert(
                header::ACCESS_CONTROL_ALLOW_ORIGIN,
                HeaderValue::from_static("*"),
            );
        } else {
            answer.append(header::VARY, HeaderValue::from_static("Origin"));
            if !self
                .origins
                .iter()
                .any(|known| known.as_bytes() == origin.as_bytes())
            {
                return;
            }
            answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        }
        let readable = HeaderValue::from_static("X-Request-Id, Retry-After");
        answer.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, readable);
    }
}
