//! `Content-Type` and `Content-Encoding` → how a body is written.

use http::{HeaderMap, header};

use crate::decode::Encoding;

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// Not at all.
    Identity,
    /// RFC 1952, one member or several.
    Gzip,
    /// RFC 8878, one frame or several.
    Zstd,
    /// RFC 1950, or bare RFC 1951 as some send it.
    Deflate,
}

/// How a body is written; `None` where that is not read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// Its media type.
    pub(crate) encoding: Option<Encoding>,
    /// Its compression.
    pub(crate) coding: Option<Coding>,
    /// Its length as declared, before decompression.
    pub(crate) declared: Option<u64>,
}

impl Form {
    /// Reads the headers that describe a body.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self {
            encoding: media_type(headers),
            coding: coding(headers),
            declared: headers
                .get(header::CONTENT_LENGTH)
                .and_then(|length| length.to_str().ok())
                .and_then(|length| length.trim().parse().ok()),
        }
    }
}

/// The media type, whatever its case and parameters.
fn media_type(headers: &HeaderMap) -> Option<Encoding> {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let essence = value.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/x-protobuf") {
        Some(Encoding::Protobuf)
    } else if essence.eq_ignore_ascii_case("application/json") {
        Some(Encoding::Json)
    } else {
        None
    }
}

/// The one real coding among all that are named; `identity` and nothing at all are no coding.
fn coding(headers: &HeaderMap) -> Option<Coding> {
    let mut found = Coding::Identity;
    for value in headers.get_all(header::CONTENT_ENCODING) {
        for word in value.to_str().ok()?.split(',').map(str::trim) {
            let next = match word.to_ascii_lowercase().as_str() {
                "" | "identity" => continue,
                "gzip" | "x-gzip" => Coding::Gzip,
                "zstd" => Coding::Zstd,
                "deflate" => Coding::Deflate,
                _ => return None,
            };
            if found != Coding::Identity {
                return None;
            }
            found = next;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(lines: &[(&'static str, &'static str)]) -> Form {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        Form::of(&headers)
    }

    #[test]
    fn media_types_are_compared_without_case_and_parameters() {
        for (value, expected) in [
            ("application/json", Some(Encoding::Json)),
            ("Application/JSON", Some(Encoding::Json)),
            (" application/json ; charset=utf-8", Some(Encoding::Json)),
            ("application/x-protobuf", Some(Encoding::Protobuf)),
            ("application/x-protobuf;proto=x", Some(Encoding::Protobuf)),
            ("application/jsonl", None),
            ("text/plain", None),
            ("", None),
        ] {
            assert_eq!(
                form(&[("content-type", value)]).encoding,
                expected,
                "{value}"
            );
        }
        assert_eq!(form(&[]).encoding, None);
        let two = [
            ("content-type", "application/json"),
            ("content-type", "application/json"),
        ];
        assert_eq!(form(&two).encoding, None);
    }

    #[test]
    fn one_coding_is_read_and_identity_is_none() {
        for (values, expected) in [
            (vec![], Some(Coding::Identity)),
            (vec![""], Some(Coding::Identity)),
            (vec!["identity"], Some(Coding::Identity)),
            (vec![" GZIP "], Some(Coding::Gzip)),
            (vec!["x-gzip"], Some(Coding::Gzip)),
            (vec!["identity, zstd"], Some(Coding::Zstd)),
            (vec!["deflate", "identity"], Some(Coding::Deflate)),
            (vec!["gzip, gzip"], None),
            (vec!["gzip", "zstd"], None),
            (vec!["br"], None),
            (vec!["snappy"], None),
        ] {
            let lines: Vec<_> = values
                .iter()
                .map(|value| ("content-encoding", *value))
                .collect();
            assert_eq!(form(&lines).coding, expected, "{values:?}");
        }
    }
}
