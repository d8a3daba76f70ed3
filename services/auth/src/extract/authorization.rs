//! The value of `Authorization` → a credential: `Basic base64(tenant:key)` or `Bearer key`.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::value::{Written, parse_key, unquote};
use super::{Credential, Tolerance};
use crate::key::KeyClass;
use crate::refusal::{Reason, Refusal};

/// Base64 as people paste it: padding optional, the unused bits of the last character ignored.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Reads the value.
pub(super) fn read(written: Written) -> Result<Credential, Refusal> {
    let Written {
        text,
        mut tolerated,
    } = written;
    let Some((scheme, rest)) = text.split_once(|character: char| character.is_ascii_whitespace())
    else {
        return Err(no_scheme(&text));
    };
    let rest = unquote(rest.trim(), &mut tolerated);
    if scheme.eq_ignore_ascii_case("bearer") {
        return Ok(Credential {
            key: parse_key("Authorization: Bearer", rest)?,
            tenant: None,
            tolerated,
        });
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(malformed(
            "Authorization has an unknown scheme: write \"Basic base64(tenant:key)\" or \"Bearer key\"",
        ));
    }
    let decoded = decode(rest, &mut tolerated)?;
    basic(&decoded, tolerated)
}

/// What is wrong with a value of one word.
fn no_scheme(text: &str) -> Refusal {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    let begins = |word: &str| {
        text.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    if is("basic") || is("bearer") {
        return malformed("Authorization ends after its scheme: the credential is missing");
    }
    if looks_like_key(text) {
        return malformed("Authorization has no scheme: write \"Bearer \" before the key");
    }
    if ["basic=", "bearer=", "basic:", "bearer:"]
        .into_iter()
        .any(begins)
    {
        return malformed(
            "Authorization has no space after its scheme: write \"Basic \" or \"Bearer \" with one",
        );
    }
    malformed("Authorization has no scheme: write \"Basic base64(tenant:key)\" or \"Bearer key\"")
}

fn looks_like_key(text: &str) -> bool {
    [KeyClass::Ingest, KeyClass::Query, KeyClass::Admin]
        .iter()
        .any(|class| text.starts_with(class.prefix()))
}

fn malformed(public: &'static str) -> Refusal {
    Refusal::new(Reason::Malformed, public)
}

fn decode(text: &str, tolerated: &mut Vec<Tolerance>) -> Result<String, Refusal> {
    if text.contains(':') {
        return Err(malformed(
            "Authorization: Basic takes the base64 of tenant:key, not tenant:key itself",
        ));
    }
    if looks_like_key(text) {
        return Err(malformed(
            "Authorization: Basic takes the base64 of tenant:key; write \"Bearer \" before the key itself",
        ));
    }
    let plain: String = text
        .chars()
        .filter(|character| !character.is_ascii_whitespace())
        .map(|character| match character {
            '-' => '+',
            '_' => '/',
            other => other,
        })
        .collect();
    if plain.len() != text.len() {
        tolerated.push(Tolerance::InnerWhitespace);
    }
    let bytes = LENIENT.decode(plain.trim_end_matches('=')).map_err(|_| {
        malformed("what follows \"Basic\" in Authorization is not base64: encode tenant:key again")
    })?;
    String::from_utf8(bytes).map_err(|_| {
        malformed("what follows \"Basic\" in Authorization does not decode to text: encode tenant:key again")
    })
}

/// `tenant:key`, `:key` or `key:`; the first `:` splits.
fn basic(decoded: &str, mut tolerated: Vec<Tolerance>) -> Result<Credential, Refusal> {
    if decoded.ends_with('\n') {
        tolerated.push(Tolerance::TrailingNewline);
    }
    let (tenant, key) = decoded.split_once(':').ok_or_else(|| {
        malformed("what follows \"Basic\" in Authorization has no \":\": encode tenant:key, not the key alone")
    })?;
    let (tenant, key) = (tenant.trim(), key.trim());
    let (tenant, key) = match (tenant.is_empty(), key.is_empty()) {
        (true, true) => {
            return Err(malformed(
                "what follows \"Basic\" in Authorization is an empty tenant and an empty key",
            ));
        }
        (false, true) => (None, tenant),
        (true, false) => (None, key),
        (false, false) => (Some(tenant.to_owned()), key),
    };
    Ok(Credential {
        key: parse_key("Authorization: Basic", key)?,
        tenant,
        tolerated,
    })
}
