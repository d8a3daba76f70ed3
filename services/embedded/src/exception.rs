//! An error text of the engine → ClickHouse's code, HTTP status and the line a client reads.

use http::StatusCode;

/// An error as ClickHouse reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exception {
    /// ClickHouse's error number.
    pub(crate) code: u32,
    /// `Code: N. DB::Exception: … (NAME)`.
    pub(crate) text: String,
}

impl Exception {
    /// What the engine said. A text without a number (misuse of the library) gets 1002.
    pub(crate) fn from_engine(text: &str) -> Self {
        let text = text.trim_end();
        let number = text
            .strip_prefix("Code: ")
            .and_then(|rest| rest.split_once('.'));
        match number.and_then(|(number, _)| number.parse().ok()) {
            Some(code) => Self {
                code,
                text: text.to_owned(),
            },
            None => Self::new(1002, "UNKNOWN_EXCEPTION", text),
        }
    }

    /// An error of this face, in ClickHouse's form.
    pub(crate) fn new(code: u32, name: &str, what: &str) -> Self {
        Self {
            code,
            text: format!("Code: {code}. DB::Exception: {what}. ({name})"),
        }
    }

    /// The request is understood and not served here.
    pub(crate) fn unsupported(what: &str) -> Self {
        Self::new(48, "NOT_IMPLEMENTED", what)
    }

    /// The request cannot be understood.
    pub(crate) fn bad_argument(what: &str) -> Self {
        Self::new(36, "BAD_ARGUMENTS", what)
    }

    /// There is no room for this statement.
    pub(crate) fn overloaded(what: &str) -> Self {
        Self::new(202, "TOO_MANY_SIMULTANEOUS_QUERIES", what)
    }

    /// The body is over its limit.
    pub(crate) fn too_large(limit: u64) -> Self {
        Self::new(
            229,
            "QUERY_IS_TOO_LARGE",
            &format!(
                "The request body is larger than {limit} bytes; send it in smaller parts or raise max_body"
            ),
        )
    }

    /// The statement was ended before its time.
    pub(crate) fn cancelled() -> Self {
        Self::new(394, "QUERY_WAS_CANCELLED", "Query was cancelled")
    }

    /// The HTTP status, as ClickHouse's server maps its codes; 503 for 202 is ours (ClickHouse says 500),
    /// so that clients know that trying again later helps.
    pub(crate) fn status(&self) -> StatusCode {
        match self.code {
            194 => StatusCode::UNAUTHORIZED,
            192 | 193 | 497 | 512 | 516 => StatusCode::FORBIDDEN,
            6 | 8 | 15 | 25 | 26 | 27 | 36 | 37 | 38 | 41 | 44 | 53 | 62 | 72 | 117 | 123 | 167
            | 168 | 223 | 321 | 376 | 427 | 441 | 675 | 676 => StatusCode::BAD_REQUEST,
            46 | 47 | 50 | 56 | 60 | 63 | 73 | 78 | 81 | 115 | 152 | 336 | 511 => {
                StatusCode::NOT_FOUND
            }
            229 => StatusCode::PAYLOAD_TOO_LARGE,
            48 => StatusCode::NOT_IMPLEMENTED,
            76 | 202 | 209 | 439 => StatusCode::SERVICE_UNAVAILABLE,
            159 => StatusCode::REQUEST_TIMEOUT,
            381 => StatusCode::LENGTH_REQUIRED,
            779 => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The line of the body, with the engine's version as ClickHouse adds it.
    pub(crate) fn line(&self, version: &str) -> String {
        format!("{} (version {version} (embedded))\n", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_the_statuses_of_clickhouse() {
        let status = |code| Exception::new(code, "X", "x").status().as_u16();
        assert_eq!(
            [60, 81, 62, 36, 497, 159, 115, 48, 229, 202, 241, 394].map(status),
            [404, 404, 400, 400, 403, 408, 404, 501, 413, 503, 500, 500]
        );
    }

    #[test]
    fn the_number_is_taken_from_the_text() {
        let known = Exception::from_engine(
            "Code: 60. DB::Exception: Table default.x does not exist. (UNKNOWN_TABLE)\n",
        );
        assert_eq!(known.code, 60);
        assert_eq!(
            known.line("26.7.2.1"),
            "Code: 60. DB::Exception: Table default.x does not exist. (UNKNOWN_TABLE) (version 26.7.2.1 (embedded))\n"
        );
        assert_eq!(
            Exception::from_engine("No active streaming query"),
            Exception::new(1002, "UNKNOWN_EXCEPTION", "No active streaming query")
        );
    }
}
