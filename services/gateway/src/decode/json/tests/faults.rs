//! What the JSON decoder refuses, and how it says so.

use bumpalo::Bump;

use super::{around, decode, fault, metrics};

#[test]
fn json_refuses_integers_that_are_not_whole_or_do_not_fit() {
    for text in [
        "1.5",
        "-1",
        "18446744073709551616",
        "1e40",
        "1e-1",
        "\"\"",
        "\" 5\"",
        "\"0x5\"",
        "true",
    ] {
        let error = fault(&around(&format!(
            r#""gauge":{{"dataPoints":[{{"timeUnixNano":{text}}}]}}"#
        )));
        assert_eq!(
            error.field.as_deref(),
            Some("resourceMetrics[0].scopeMetrics[0].metrics[0].gauge.dataPoints[0].timeUnixNano"),
            "{text}"
        );
        assert!(
            error
                .message
                .contains("expected a whole number, or a string of digits"),
            "{error}"
        );
    }
}

#[test]
fn json_refuses_timestamps_in_rfc_3339() {
    let json = around(r#""gauge":{"dataPoints":[{"timeUnixNano":"2026-11-01T12:00:00Z"}]}"#);
    assert!(fault(&json).message.contains("2026-11-01T12:00:00Z"));
}

#[test]
fn json_skips_a_byte_order_mark() {
    assert_eq!(
        decode("\u{feff}{}").request,
        crate::decode::message::Request::default()
    );
}

#[test]
fn json_nested_deeper_than_the_limit_is_refused() {
    let nested = |levels: usize| {
        let open = r#"{"arrayValue":{"values":["#.repeat(levels);
        let close = "]}}".repeat(levels);
        around(&format!(r#""metadata":[{{"value":{open}{close}}}]"#))
    };
    assert!(metrics(nested(30).as_bytes()).is_ok());
    assert!(
        fault(&nested(200_000))
            .message
            .contains("nested deeper than 128 levels")
    );
    let unknown = format!(r#"{{"x":{}"#, "[".repeat(200_000));
    assert!(
        fault(&unknown)
            .message
            .contains("nested deeper than 128 levels")
    );
}

#[test]
fn json_faults_name_line_column_path_and_what_was_expected() {
    let error = fault("{\"resourceMetrics\":[{\n  \"scopeMetrics\":[{\"metrics\":{}}]}]}");
    assert_eq!(
        error.message,
        "body is not valid OTLP/JSON: line 2 column 30: resourceMetrics[0].scopeMetrics[0].metrics: \
         expected a list, found an object"
    );
    assert_eq!(error.offset, Some(51));
    for (json, expected) in [
        ("[]", "line 1 column 1: expected an object, found a list"),
        (
            "{} x",
            "line 1 column 4: expected the end of the body, found something that is not JSON",
        ),
        (
            "{\"a\":1",
            "line 1 column 7: expected `,` or `}`, found the end of the body",
        ),
        (
            "{\"a\":01}",
            "line 1 column 6: a: expected a value, found a number",
        ),
        (
            "{a:1}",
            "line 1 column 2: expected a key in double quotes, found something that is not JSON",
        ),
        ("{\"a\":\"b", "line 1 column 8: a: the string does not end"),
        (
            "{\"a\":\"\n\"}",
            "line 1 column 7: a: a control character in a string must be escaped",
        ),
        (
            "{\"a\":\"\\x\"}",
            "line 1 column 7: a: unknown escape in a string",
        ),
        (
            "{\"a\":nul}",
            "line 1 column 6: a: expected a value, found `null`",
        ),
    ] {
        assert_eq!(
            fault(json).message,
            format!("body is not valid OTLP/JSON: {expected}")
        );
    }
}

#[test]
fn json_faults_say_what_the_body_probably_is() {
    let error = metrics(&[0x1f, 0x8b, 0x08, 0x00]).unwrap_err();
    assert!(error.message.contains("Content-Encoding: gzip"), "{error}");
    let error = metrics(b"\n\x05\x12\x03\n\x01\xff").unwrap_err();
    assert!(error.message.contains("application/x-protobuf"), "{error}");
    let error = metrics(b"\n\x05\x12\x03\n\x01\n").unwrap_err();
    assert!(error.message.contains("application/x-protobuf"), "{error}");
}

#[test]
fn json_of_empty_messages_is_refused_before_they_take_memory() {
    for element in ["{}", "null"] {
        let json = format!(r#"{{"resourceMetrics":[{}]}}"#, [element; 1000].join(","));
        let arena = Bump::new();
        let error = crate::decode::json::metrics(json.as_bytes(), 10_000, &arena).unwrap_err();
        assert!(error.too_large, "{error}");
        let read = crate::decode::json::metrics(json.as_bytes(), 1 << 20, &arena).unwrap();
        assert_eq!(read.request.resource_metrics.len(), 1000);
    }
}
