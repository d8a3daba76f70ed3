//! The regex of a matcher in, whether it is one, and whether it matches the empty text, out.

use regex::Regex;

/// Compiles a matcher's regex as Prometheus runs it: over the whole value, `.` matching line breaks.
fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    Regex::new(&format!("^(?s:{pattern})$"))
}

/// # Errors
///
/// The text of the error, without a position.
pub(super) fn check(pattern: &str) -> Result<(), String> {
    compile(pattern)
        .map(drop)
        .map_err(|error| format!("error parsing regexp: {error}"))
}

/// Whether the regex matches the empty text; false for what is no regex.
pub(super) fn matches_empty(pattern: &str) -> bool {
    compile(pattern).is_ok_and(|regex| regex.is_match(""))
}
