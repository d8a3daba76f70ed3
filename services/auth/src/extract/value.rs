//! One header's bytes → trimmed text, with what had to be cleaned off it.

use http::HeaderMap;
use percent_encoding::percent_decode_str;

use super::Tolerance;
use crate::key::PresentedKey;
use crate::refusal::{Reason, Refusal};

/// A header's value after cleaning.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) tolerated: Vec<Tolerance>,
}

/// The value of `name`, if it is there once.
pub(super) fn single(headers: &HeaderMap, name: &str) -> Result<Option<Written>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(Refusal::new(
            Reason::Ambiguous,
            format!("{name} came more than once (AMBIGUOUS_CREDENTIALS): send it once"),
        ));
    }
    let text = std::str::from_utf8(value.as_bytes()).map_err(|_| {
        Refusal::new(
            Reason::Malformed,
            format!("{name} is not readable text: copy it again"),
        )
    })?;
    let written = clean(name, text);
    if written.text.is_empty() {
        return Err(Refusal::new(Reason::Malformed, format!("{name} is empty")));
    }
    Ok(Some(written))
}

/// Takes off what people paste along: spaces, quotes, the header's own name, percent-encoding.
fn clean(name: &str, text: &str) -> Written {
    let mut tolerated = Vec::new();
    let mut text = unquote(text.trim(), &mut tolerated);
    if let Some((before, after)) = text.split_once(':')
        && before.trim().eq_ignore_ascii_case(name)
    {
        tolerated.push(Tolerance::PastedHeaderName);
        text = unquote(after.trim(), &mut tolerated);
    }
    // `%` is neither in base64 nor in a key, so this cannot change a value that was written plainly.
    if text.contains('%')
        && let Ok(decoded) = percent_decode_str(text).decode_utf8()
    {
        let basic = decoded
            .get(..6)
            .is_some_and(|start| start.eq_ignore_ascii_case("basic "));
        tolerated.push(if basic {
            Tolerance::BasicPercent20
        } else {
            Tolerance::PercentEncoded
        });
        let text = decoded.trim().to_owned();
        return Written { text, tolerated };
    }
    Written {
        text: text.to_owned(),
        tolerated,
    }
}

/// Without one pair of quotes, or one stray quote at an end.
pub(super) fn unquote<'a>(text: &'a str, tolerated: &mut Vec<Tolerance>) -> &'a str {
    let quotes = ['"', '\'', '`'];
    let bare = text.trim_matches(quotes);
    if bare.len() == text.len() {
        return text;
    }
    if !tolerated.contains(&Tolerance::Quoted) {
        tolerated.push(Tolerance::Quoted);
    }
    bare.trim()
}

/// The key in `text`, or a hint that names the header.
pub(super) fn parse_key(name: &str, text: &str) -> Result<PresentedKey, Refusal> {
    PresentedKey::parse(text)
        .map_err(|fault| Refusal::new(Reason::KeyShape, format!("{name}: {fault}")))
}
