//! What the JSON decoder promises, row by row of the mapping.

mod canonical;
mod faults;
mod properties;

use bumpalo::Bump;

use crate::decode::message::{
    Data, Exemplar, HistogramDataPoint, Metric, Number, NumberDataPoint, Request, Value,
};
use crate::decode::{DecodeError, Decoded};

/// Decodes a body that is never given up.
fn metrics(body: &[u8]) -> Result<Decoded<'static>, DecodeError> {
    let body = Vec::leak(body.to_vec());
    super::metrics(body, u64::MAX, Box::leak(Box::new(Bump::new())))
}

fn decode(json: &str) -> Decoded<'static> {
    metrics(json.as_bytes()).unwrap_or_else(|error| panic!("{error} in {json}"))
}

fn fault(json: &str) -> DecodeError {
    metrics(json.as_bytes()).unwrap_err()
}

/// A request with this one metric, given by its fields.
fn around(metric: &str) -> String {
    format!(r#"{{"resourceMetrics":[{{"scopeMetrics":[{{"metrics":[{{{metric}}}]}}]}}]}}"#)
}

fn metric(fields: &str) -> Metric<'static> {
    let request = decode(&around(fields)).request;
    request.resource_metrics[0].scope_metrics[0].metrics[0]
}

fn number(fields: &str) -> NumberDataPoint<'static> {
    let Some(Data::Gauge(points)) =
        metric(&format!(r#""gauge":{{"dataPoints":[{{{fields}}}]}}"#)).data
    else {
        panic!("not a gauge")
    };
    points[0]
}

fn histogram(fields: &str) -> HistogramDataPoint<'static> {
    let Some(Data::Histogram { points, .. }) =
        metric(&format!(r#""histogram":{{"dataPoints":[{{{fields}}}]}}"#)).data
    else {
        panic!("not a histogram")
    };
    points[0]
}

fn exemplar(fields: &str) -> Exemplar<'static> {
    number(&format!(r#""exemplars":[{{{fields}}}]"#)).exemplars[0]
}

fn attribute(value: &str) -> Option<Value<'static>> {
    let point = number(&format!(r#""attributes":[{{"key":"k","value":{value}}}]"#));
    point.attributes[0].value
}

fn temporality(value: &str) -> i32 {
    match metric(&format!(r#""sum":{{"aggregationTemporality":{value}}}"#)).data {
        Some(Data::Sum { temporality, .. }) => temporality,
        other => panic!("not a sum: {other:?}"),
    }
}

fn any(value: Value<'static>) -> Option<Value<'static>> {
    Some(value)
}

#[test]
fn json_accepts_trace_and_span_ids_in_hexadecimal_of_any_case() {
    let exemplar =
        exemplar(r#""traceId":"0AF7651916cd43dd8448eb211c80319C","spanId":"b7ad6b7169203331""#);
    assert_eq!(exemplar.trace_id[..4], [0x0a, 0xf7, 0x65, 0x19]);
    assert_eq!(exemplar.trace_id.len(), 16);
    assert_eq!(
        exemplar.span_id,
        [0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31]
    );
}

#[test]
fn json_takes_an_id_in_base64_or_of_wrong_length_as_no_id() {
    for id in [
        r#""CvdlGRbNQ92ESOshHIAxnA==""#,
        r#""0af7""#,
        r#""""#,
        r#""0af7651916cd43dd8448eb211c80319""#,
        r#""zzf7651916cd43dd8448eb211c80319c""#,
        r#""00000000000000000000000000000000""#,
        "null",
        "17",
        r#"{"hex":1}"#,
    ] {
        let exemplar = exemplar(&format!(r#""traceId":{id},"asInt":"3""#));
        assert_eq!(exemplar.trace_id, [0; 0], "{id}");
        assert!(exemplar.value.is_some(), "{id}");
    }
}

#[test]
fn json_accepts_bytes_in_either_base64_alphabet_with_or_without_padding() {
    for text in ["+/8=", "-_8=", "+/8", "-_8"] {
        let value = attribute(&format!(r#"{{"bytesValue":"{text}"}}"#));
        assert_eq!(value, any(Value::Bytes(&[0xfb, 0xff])), "{text}");
    }
    assert!(
        fault(&around(r#""metadata":[{"value":{"bytesValue":"!"}}]"#))
            .message
            .contains("base64")
    );
}

#[test]
fn json_accepts_enums_as_integers_as_numeric_strings_and_by_name() {
    for value in ["2", r#""2""#, r#""AGGREGATION_TEMPORALITY_CUMULATIVE""#] {
        assert_eq!(temporality(value), 2, "{value}");
    }
    assert_eq!(temporality("null"), 0);
    assert_eq!(temporality("17"), 17);
}

#[test]
fn json_takes_an_unknown_enum_name_as_unspecified() {
    assert_eq!(temporality(r#""CUMULATIVE_OR_SO""#), 0);
}

#[test]
fn json_accepts_as_int_given_as_a_string() {
    assert_eq!(number(r#""asInt":"7""#).value, Some(Number::Int(7)));
    assert_eq!(
        number(r#""asInt":"-9223372036854775808""#).value,
        Some(Number::Int(i64::MIN))
    );
}

#[test]
fn json_accepts_as_int_given_as_a_number() {
    assert_eq!(number(r#""asInt":7"#).value, Some(Number::Int(7)));
    assert_eq!(
        number(r#""asInt":9223372036854775807"#).value,
        Some(Number::Int(i64::MAX))
    );
}

#[test]
fn json_accepts_every_64_bit_field_as_string_and_as_number() {
    for (time, two, three) in [
        ("\"18\"", "\"2\"", "\"3\""),
        ("18", "2", "3"),
        ("1.8e1", "2.0", "30e-1"),
    ] {
        let point = histogram(&format!(
            r#""timeUnixNano":{time},"startTimeUnixNano":{two},"count":{three},"bucketCounts":[{two},{three}]"#
        ));
        assert_eq!(
            (
                point.time_unix_nano,
                point.start_time_unix_nano,
                point.count
            ),
            (18, 2, 3)
        );
        assert_eq!(point.bucket_counts, [2, 3]);
    }
    assert_eq!(attribute(r#"{"intValue":"-5"}"#), any(Value::Int(-5)));
    assert_eq!(attribute(r#"{"intValue":-5}"#), any(Value::Int(-5)));
    assert_eq!(number(r#""flags":"1""#).flags, 1);
}

#[test]
fn json_keeps_every_digit_of_a_64_bit_number() {
    for text in [
        "1793534400123456789",
        "\"1793534400123456789\"",
        "1793534400123456789.0",
        "1.793534400123456789e18",
        "\"1.793534400123456789E+18\"",
    ] {
        assert_eq!(
            number(&format!(r#""timeUnixNano":{text}"#)).time_unix_nano,
            1_793_534_400_123_456_789
        );
    }
    assert_eq!(
        number(r#""timeUnixNano":1.7e18"#).time_unix_nano,
        1_700_000_000_000_000_000
    );
    assert_eq!(number(r#""timeUnixNano":-0"#).time_unix_nano, 0);
    assert_eq!(
        number(r#""timeUnixNano":18446744073709551615"#).time_unix_nano,
        u64::MAX
    );
}

#[test]
fn json_accepts_doubles_as_numbers_numeric_strings_and_special_names() {
    for (text, expected) in [
        ("5.5", 5.5),
        ("5", 5.0),
        ("-1e-3", -0.001),
        ("\"5.5\"", 5.5),
        ("\"Infinity\"", f64::INFINITY),
        ("\"-Infinity\"", f64::NEG_INFINITY),
    ] {
        assert_eq!(
            number(&format!(r#""asDouble":{text}"#)).value,
            Some(Number::Double(expected))
        );
    }
    let point = histogram(r#""sum":"NaN","explicitBounds":["1",2,"Infinity"],"min":"0.5","max":3"#);
    assert!(point.sum.is_some_and(f64::is_nan));
    assert_eq!(point.explicit_bounds, [1.0, 2.0, f64::INFINITY]);
    assert_eq!((point.min, point.max), (Some(0.5), Some(3.0)));
    assert_eq!(
        attribute(r#"{"doubleValue":"2.5"}"#),
        any(Value::Double(2.5))
    );
    for text in ["\"nan\"", "\"inf\"", "\"1.\"", "1e999", "[]", "\"\""] {
        let json = around(&format!(
            r#""gauge":{{"dataPoints":[{{"asDouble":{text}}}]}}"#
        ));
        assert!(fault(&json).message.contains("\"-Infinity\""), "{text}");
    }
}

#[test]
fn json_ignores_unknown_fields_at_every_level() {
    let json = r#"{"x":[{"y":null}],"resourceMetrics":[{"x":1,"resource":{"x":{},"attributes":[{"key":"a",
        "x":true,"value":{"x":"\u00e9\"","stringValue":"b"}}]},"scopeMetrics":[{"x":[],"scope":{"x":-1.5e3},
        "metrics":[{"x":false,"name":"m","gauge":{"x":"","dataPoints":[{"x":[[]],"asInt":1,"exemplars":
        [{"x":0}]}]}}]}]}]}"#;
    let decoded = decode(json);
    let resource = &decoded.request.resource_metrics[0];
    assert_eq!(resource.attributes[0].value, any(Value::String("b")));
    assert_eq!(resource.scope_metrics[0].metrics[0].name, "m");
    assert_eq!(decoded.warning, None);
}

#[test]
fn json_takes_snake_case_keys_as_unknown_and_says_so_when_nothing_else_was_there() {
    let decoded = decode(r#"{ "resource_metrics":[{"scope_metrics":[]}]}"#);
    assert_eq!(decoded.request, Request::default());
    assert_eq!(
        decoded.warning.as_deref(),
        Some(
            "nothing was stored: no data points were found, and field `resource_metrics` at line 1 \
             column 3 is unknown; OTLP/JSON keys are lowerCamelCase: write `resourceMetrics`"
        )
    );
    let decoded = decode(&around(
        r#""extra":1,"gauge":{"data_points":[{"asInt":1}]}"#,
    ));
    assert!(decoded.warning.unwrap().contains("write `dataPoints`"));
}

#[test]
fn json_that_is_not_otlp_is_an_empty_request_with_a_warning() {
    let decoded = decode(r#"{"one":"two"}"#);
    assert_eq!(decoded.request, Request::default());
    let warning = decoded.warning.unwrap();
    assert!(
        warning.contains("field `one` at line 1 column 2"),
        "{warning}"
    );
    assert!(
        warning.contains("an object with `resourceMetrics`"),
        "{warning}"
    );
}

#[test]
fn json_takes_null_and_missing_fields_as_their_default() {
    let json = r#"{"resourceMetrics":[{"resource":null,"schemaUrl":null,"scopeMetrics":[{"scope":null,
        "metrics":[{"name":null,"unit":null,"gauge":null,"histogram":{"aggregationTemporality":null,
        "dataPoints":[{"attributes":null,"count":null,"sum":null,"bucketCounts":null,"explicitBounds":null,
        "exemplars":null,"flags":null,"min":null,"max":null,"timeUnixNano":null}]}},{"sum":{"isMonotonic":null,
        "dataPoints":[{"asInt":null,"asDouble":null}]}}]}]}]}"#;
    let with_nulls = decode(json).request;
    let json = r#"{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"histogram":{"dataPoints":[{}]}},
        {"sum":{"dataPoints":[{}]}}]}]}]}"#;
    assert_eq!(with_nulls, decode(json).request);
    let histogram = &with_nulls.resource_metrics[0].scope_metrics[0].metrics[0];
    assert!(
        matches!(histogram.data, Some(Data::Histogram { points, .. }) if points[0].sum.is_none())
    );
}

#[test]
fn json_takes_an_empty_object_list_body_and_null_as_an_empty_request() {
    for json in [
        "{}",
        r#"{"resourceMetrics":[]}"#,
        r#"{"resourceMetrics":null}"#,
        "null",
        "",
        " \n",
    ] {
        let decoded = decode(json);
        assert_eq!(decoded.request, Request::default(), "{json:?}");
        assert_eq!(decoded.warning, None, "{json:?}");
    }
}

#[test]
fn json_accepts_values_that_are_not_set() {
    assert_eq!(attribute("{}"), None);
    assert_eq!(attribute("null"), None);
    assert_eq!(attribute(r#"{"arrayValue":{}}"#), any(Value::Array(&[])));
    assert_eq!(attribute(r#"{"kvlistValue":{}}"#), any(Value::Kvlist(&[])));
    assert_eq!(attribute(r#"{"stringValue":null}"#), None);
}

#[test]
fn json_lets_the_last_of_two_equal_keys_win() {
    let metric = metric(
        r#""name":"a","name":"b","gauge":{"dataPoints":[{},{}]},"gauge":{"dataPoints":[{}]}"#,
    );
    assert_eq!(metric.name, "b");
    assert!(matches!(metric.data, Some(Data::Gauge(points)) if points.len() == 1));
    let point = number(r#""asInt":"1","asDouble":2"#);
    assert_eq!(point.value, Some(Number::Double(2.0)));
}

#[test]
fn json_reads_every_escape_and_mends_half_surrogate_pairs() {
    let metric =
        metric(r#""name":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00","unit":"\ud800x\udc00\ud800\u0041""#);
    assert_eq!(metric.name, "\"\\/\u{8}\u{c}\n\r\té😀");
    assert_eq!(metric.unit, "\u{fffd}x\u{fffd}\u{fffd}A");
}
