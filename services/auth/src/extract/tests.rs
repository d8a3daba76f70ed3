//! Every way of writing a credential that is accepted, and what the others are told.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{HeaderName, HeaderValue};
use proptest::prelude::*;

use super::*;

/// Its base64 contains neither `+` nor `/`.
const KEY: &str = "slci_4fK9aZ01bQxT_7Qm2vN8rT0yLwXc5BdHjK3pS6uFgEaZi1u6KBZ";

fn headers(lines: &[(&str, &str)]) -> HeaderMap {
    lines
        .iter()
        .map(|(name, value)| {
            (
                name.parse::<HeaderName>().unwrap(),
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            )
        })
        .collect()
}

fn read(lines: &[(&str, &str)]) -> Result<Credential, Refusal> {
    let answer = credential(&headers(lines), &HeaderNames::default());
    let shown = format!("{answer:?}");
    assert!(!shown.contains("7Qm2vN8rT0y"), "a secret leaks: {shown}");
    answer
}

/// Tenant and tolerances of an accepted credential.
fn accepted(lines: &[(&str, &str)]) -> (Option<String>, Vec<&'static str>) {
    let read = read(lines).unwrap_or_else(|refusal| panic!("{lines:?}: {refusal:?}"));
    assert_eq!(read.key, PresentedKey::parse(KEY).unwrap());
    let codes = read.tolerated.iter().map(|odd| odd.code()).collect();
    (read.tenant, codes)
}

fn refused(lines: &[(&str, &str)]) -> (Reason, String) {
    match read(lines) {
        Ok(read) => panic!("{lines:?} was read as {read:?}"),
        Err(refusal) => (refusal.reason, refusal.public.into_owned()),
    }
}

fn basic(text: &str) -> String {
    STANDARD.encode(text)
}

#[test]
fn every_documented_form_is_the_same_credential() {
    let pair = basic(&format!("demo:{KEY}"));
    let combined = format!("demo/{KEY}");
    let demo = (Some("demo".to_owned()), vec![]);
    for lines in [
        [("authorization", format!("Basic {pair}"))].as_slice(),
        &[
            ("X-Sluice-Instance", "demo".to_owned()),
            ("X-API-Key", KEY.to_owned()),
        ],
        &[
            ("X-OODLE-INSTANCE", "demo".to_owned()),
            ("X-API-KEY", KEY.to_owned()),
        ],
        &[("X-Sluice-Instance-Api-Key", combined.clone())],
        &[("X-OODLE-INSTANCE-API-KEY", combined.clone())],
    ] {
        let lines: Vec<(&str, &str)> = lines
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        assert_eq!(accepted(&lines), demo, "{lines:?}");
    }
    for (name, value) in [
        ("Authorization", format!("Bearer {KEY}")),
        ("api-key", KEY.to_owned()),
        ("x-otlp-api-key", KEY.to_owned()),
    ] {
        assert_eq!(accepted(&[(name, &value)]), (None, vec![]), "{name}");
    }
}

#[test]
fn what_people_paste_is_tolerated_and_noted() {
    let plain = basic(&format!("demo:{KEY}"));
    let unpadded = plain.trim_end_matches('=');
    let (front, back) = plain.split_at(76);
    let newline = basic(&format!("demo:{KEY}\n"));
    let windows = basic(&format!("demo:{KEY}\r\n"));
    let url_safe = URL_SAFE_NO_PAD.encode(format!("d\u{fc}\u{ff}mo:{KEY}"));
    for (value, tolerated) in [
        (format!("basic {plain}"), vec![]),
        (format!("BASIC    {plain}  "), vec![]),
        (format!("Basic\t{plain}"), vec![]),
        (format!("Basic {unpadded}"), vec![]),
        (format!("Basic {front} {back}"), vec!["inner_whitespace"]),
        (format!("Basic {front}\t  {back}"), vec!["inner_whitespace"]),
        (format!("Basic {newline}"), vec!["trailing_newline"]),
        (format!("Basic {windows}"), vec!["trailing_newline"]),
        (format!("Basic%20{plain}"), vec!["basic_percent20"]),
        (format!("basic%20{unpadded}%3D%3D"), vec!["basic_percent20"]),
        (
            format!("Authorization: Basic {plain}"),
            vec!["pasted_header_name"],
        ),
        (format!("\"Basic {plain}\""), vec!["quoted"]),
        (format!("Basic \"{plain}\""), vec!["quoted"]),
        (
            format!("'authorization:  Basic {plain}'"),
            vec!["quoted", "pasted_header_name"],
        ),
    ] {
        assert_eq!(
            accepted(&[("authorization", &value)]),
            (Some("demo".to_owned()), tolerated),
            "{value}"
        );
    }
    assert_eq!(
        accepted(&[("authorization", &format!("Basic {url_safe}"))]),
        (Some("d\u{fc}\u{ff}mo".to_owned()), vec![])
    );
    for (value, tolerated) in [
        (format!("bearer   {KEY} "), vec![]),
        (format!("Bearer%20{KEY}"), vec!["percent_encoded"]),
        (format!("Bearer '{KEY}'"), vec!["quoted"]),
        (format!("Basic {}", basic(&format!(":{KEY}"))), vec![]),
        (format!("Basic {}", basic(&format!("{KEY}:"))), vec![]),
    ] {
        assert_eq!(
            accepted(&[("authorization", &value)]),
            (None, tolerated),
            "{value}"
        );
    }
    assert_eq!(
        accepted(&[("x-oodle-instance-api-key", &format!(" demo / {KEY}"))]),
        (Some("demo".to_owned()), vec![])
    );
}

fn assert_hint(value: &str, reason: Reason, hint: &str) {
    let (seen, text) = refused(&[("authorization", value)]);
    assert_eq!(seen, reason, "{value}: {text}");
    assert!(text.contains(hint), "{value}: {text}");
}

#[test]
fn the_hint_of_a_401_fits_what_was_seen() {
    let key_as_basic = format!("Basic {KEY}");
    let without_colon = format!("Basic {}", basic(KEY));
    for (value, hint) in [
        ("", "Authorization is empty"),
        ("Basic", "ends after its scheme"),
        ("Digest abc", "unknown scheme"),
        (KEY, "write \"Bearer \" before the key"),
        ("Basic=abc", "no space after its scheme"),
        ("abc", "has no scheme"),
        ("Basic !!!", "is not base64"),
        ("Basic demo:x", "not tenant:key itself"),
        ("Basic /w==", "does not decode to text"),
        (&key_as_basic, "write \"Bearer \" before the key itself"),
        (&without_colon, "has no \":\""),
        ("Basic Og==", "empty tenant and an empty key"),
    ] {
        assert_hint(value, Reason::Malformed, hint);
    }
    let (reason, text) = refused(&[]);
    assert_eq!(reason, Reason::Missing);
    for name in HeaderNames::default().all() {
        assert!(text.contains(name), "{name} is not in {text}");
    }
}

#[test]
fn a_key_of_the_wrong_shape_is_refused_with_what_is_wrong_about_it() {
    let cut = KEY.trim_end_matches('Z');
    let encoded = |text: String| format!("Basic {}", basic(&text));
    for (value, hint) in [
        (
            encoded(format!("demo:{cut}")),
            "expected 56 characters, got 55",
        ),
        (
            encoded(format!("demo:a:{KEY}")),
            "keys begin with slci_, slcq_ or slca_",
        ),
        (
            format!("Bearer {}", KEY.replace("7Qm2v", "7Qm3v")),
            "checksum does not match",
        ),
        (
            "Bearer glc_abc".to_owned(),
            "keys begin with slci_, slcq_ or slca_",
        ),
        (format!("Bearer {KEY} x"), "got 58"),
    ] {
        assert_hint(&value, Reason::KeyShape, hint);
    }
}

#[test]
fn a_combined_header_needs_both_sides_of_its_first_slash() {
    for (value, hint) in [
        (KEY.to_owned(), "no \"/\""),
        (format!("/{KEY}"), "nothing on one side"),
        ("demo/".to_owned(), "nothing on one side"),
        (format!("demo/x/{KEY}"), "keys begin with"),
    ] {
        let (_, text) = refused(&[("x-sluice-instance-api-key", &value)]);
        assert!(text.contains(hint), "{text}");
        assert!(text.contains("X-Sluice-Instance-Api-Key"), "{text}");
    }
}

#[test]
fn half_a_pair_is_refused_naming_the_other_half() {
    assert_eq!(
        refused(&[("x-oodle-instance", "demo")]),
        (
            Reason::HalfPair,
            "X-OODLE-INSTANCE came without X-API-KEY: send both".to_owned()
        )
    );
    let (reason, text) = refused(&[("x-api-key", KEY)]);
    assert_eq!(reason, Reason::HalfPair);
    assert!(
        text.contains("came without X-Sluice-Instance or X-OODLE-INSTANCE"),
        "{text}"
    );
}

#[test]
fn one_credential_in_several_forms_is_one_credential() {
    let bearer = format!("Bearer {KEY}");
    assert_eq!(
        accepted(&[
            ("authorization", &bearer),
            ("api-key", KEY),
            ("x-api-key", KEY)
        ]),
        (None, vec![])
    );
    assert_eq!(
        accepted(&[("authorization", &bearer), ("x-sluice-instance", "demo")]),
        (Some("demo".to_owned()), vec![])
    );
    let combined = format!("demo/{KEY}");
    assert_eq!(
        accepted(&[
            ("authorization", &bearer),
            ("x-oodle-instance-api-key", &combined)
        ]),
        (Some("demo".to_owned()), vec![])
    );
}

#[test]
fn two_different_credentials_are_ambiguous() {
    let other = crate::key::PlainKey::generate(crate::key::KeyClass::Ingest).unwrap();
    let other = other.expose_once();
    let bearer = format!("Bearer {KEY}");
    for lines in [
        vec![("authorization", bearer.as_str()), ("api-key", other)],
        vec![("authorization", &bearer), ("x-api-key", other)],
        vec![("api-key", KEY), ("x-otlp-api-key", other)],
        vec![("api-key", KEY), ("api-key", KEY)],
        vec![
            ("x-sluice-instance", "demo"),
            ("x-oodle-instance", "acme"),
            ("x-api-key", KEY),
        ],
        vec![
            ("x-sluice-instance", "acme"),
            ("x-oodle-instance-api-key", &format!("demo/{KEY}")),
        ],
    ] {
        let (reason, text) = refused(&lines);
        assert_eq!(reason, Reason::Ambiguous, "{lines:?}");
        assert!(text.contains("AMBIGUOUS_CREDENTIALS"), "{text}");
    }
}

#[test]
fn header_names_are_configuration() {
    let names: HeaderNames = serde_json::from_str(
        r#"{"pairs":[{"instance":"X-Scope","key":"X-Token"}],"combined":[],"key":["X-Last"]}"#,
    )
    .unwrap();
    let own = credential(&headers(&[("x-scope", "demo"), ("x-token", KEY)]), &names).unwrap();
    assert_eq!(own.tenant.as_deref(), Some("demo"));
    assert_eq!(
        credential(&headers(&[("api-key", KEY)]), &names)
            .unwrap_err()
            .reason,
        Reason::Missing
    );
}

fn any_header() -> impl Strategy<Value = (HeaderName, HeaderValue)> {
    let names: Vec<String> = HeaderNames::default()
        .all()
        .map(str::to_ascii_lowercase)
        .collect();
    let start = prop::sample::select(vec![
        "",
        "Basic ",
        "basic%20",
        "Bearer ",
        "Authorization: ",
        "demo/",
        "\"",
        "slci_",
        KEY,
    ]);
    let rest = prop::collection::vec(prop_oneof![32_u8..127, 128_u8..=255, Just(b'\t')], 0..80);
    (prop::sample::select(names), start, rest).prop_map(|(name, start, rest)| {
        let value = [start.as_bytes(), &rest].concat();
        (
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            HeaderValue::from_bytes(&value).unwrap(),
        )
    })
}

proptest! {
    #[test]
    fn any_headers_are_read_or_refused_without_showing_them(lines in prop::collection::vec(any_header(), 0..4)) {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(name, value);
        }
        if let Err(refusal) = credential(&map, &HeaderNames::default()) {
            prop_assert!(!refusal.public.contains("7Qm2vN8rT0y"));
        }
    }
}
