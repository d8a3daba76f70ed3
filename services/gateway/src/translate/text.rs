//! Turns an attribute's value into a label's value.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use opentelemetry_proto::tonic::common::v1::AnyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;

/// The value as text: strings as they are, numbers in their shortest form, bytes in base64, lists
/// and maps as compact JSON with sorted keys, unset as empty.
pub(super) fn label_value(value: Option<&AnyValue>) -> Cow<'_, str> {
    match value.and_then(|value| value.value.as_ref()) {
        None => Cow::Borrowed(""),
        Some(Value::StringValue(text)) => Cow::Borrowed(text),
        Some(Value::BoolValue(truth)) => Cow::Borrowed(if *truth { "true" } else { "false" }),
        Some(Value::IntValue(number)) => Cow::Owned(number.to_string()),
        Some(Value::DoubleValue(number)) => Cow::Owned(double(*number)),
        Some(Value::BytesValue(bytes)) => Cow::Owned(STANDARD.encode(bytes)),
        Some(compound) => {
            let mut json = String::new();
            write_json(&mut json, Some(compound));
            Cow::Owned(json)
        }
    }
}

/// Shortest decimal that reads back as the same number, with an exponent below 1e-6 and from 1e21,
/// as JavaScript and Go's JSON print it.
fn double(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned();
    }
    let size = number.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    if size < 1.0 {
        text
    } else {
        text.replace('e', "e+")
    }
}

fn write_json(json: &mut String, value: Option<&Value>) {
    match value {
        None | Some(Value::StringValueStrindex(_)) => json.push_str("null"),
        Some(Value::StringValue(text)) => write_string(json, text),
        Some(Value::BoolValue(truth)) => json.push_str(if *truth { "true" } else { "false" }),
        Some(Value::IntValue(number)) => append(json, number),
        Some(Value::DoubleValue(number)) if number.is_finite() => json.push_str(&double(*number)),
        Some(Value::DoubleValue(number)) => write_string(json, &double(*number)),
        Some(Value::BytesValue(bytes)) => write_string(json, &STANDARD.encode(bytes)),
        Some(Value::ArrayValue(list)) => {
            json.push('[');
            for (index, item) in list.values.iter().enumerate() {
                if index > 0 {
                    json.push(',');
                }
                write_json(json, item.value.as_ref());
            }
            json.push(']');
        }
        Some(Value::KvlistValue(map)) => {
            // A key that comes twice has its last value; order does not tell two maps apart.
            let entries: BTreeMap<_, _> = map
                .values
                .iter()
                .map(|entry| (&entry.key, &entry.value))
                .collect();
            json.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    json.push(',');
                }
                write_string(json, key);
                json.push(':');
                write_json(json, value.as_ref().and_then(|value| value.value.as_ref()));
            }
            json.push('}');
        }
    }
}

fn append(json: &mut String, number: &i64) {
    json.push_str(&number.to_string());
}

fn write_string(json: &mut String, text: &str) {
    json.push('"');
    for letter in text.chars() {
        match letter {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            control if control < ' ' => {
                // Writing to a string cannot fail.
                let _infallible = write!(json, "\\u{:04x}", u32::from(control));
            }
            other => json.push(other),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::common::v1::{ArrayValue, KeyValue, KeyValueList};

    use super::*;

    fn text(value: Value) -> String {
        label_value(Some(&AnyValue { value: Some(value) })).into_owned()
    }

    fn any(value: Value) -> AnyValue {
        AnyValue { value: Some(value) }
    }

    fn entry(key: &str, value: Value) -> KeyValue {
        KeyValue {
            key: key.to_owned(),
            value: Some(any(value)),
            ..KeyValue::default()
        }
    }

    #[test]
    fn scalars_are_written_in_their_shortest_form() {
        assert_eq!(text(Value::StringValue("as is".to_owned())), "as is");
        assert_eq!(text(Value::BoolValue(true)), "true");
        assert_eq!(text(Value::IntValue(i64::MIN)), "-9223372036854775808");
        assert_eq!(text(Value::BytesValue(vec![0xfb, 0xff])), "+/8=");
        assert_eq!(label_value(None), "");
        assert_eq!(label_value(Some(&AnyValue { value: None })), "");
    }

    #[test]
    fn doubles_have_an_exponent_only_far_from_one() {
        for (number, expected) in [
            (5.0, "5"),
            (-0.5, "-0.5"),
            (0.000_001, "0.000001"),
            (0.000_000_1, "1e-7"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-1.5e22, "-1.5e+22"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(text(Value::DoubleValue(number)), expected);
        }
    }

    #[test]
    fn lists_and_maps_become_compact_json_with_sorted_keys() {
        let list = ArrayValue {
            values: vec![
                any(Value::IntValue(1)),
                any(Value::DoubleValue(f64::NAN)),
                AnyValue { value: None },
                any(Value::StringValue("a\"<b>\n\u{1}".to_owned())),
            ],
        };
        let map = KeyValueList {
            values: vec![
                entry("z", Value::BoolValue(false)),
                entry("a", Value::ArrayValue(list)),
                entry("z", Value::BytesValue(vec![1])),
            ],
        };
        assert_eq!(
            text(Value::KvlistValue(map)),
            r#"{"a":[1,"NaN",null,"a\"<b>\n\u0001"],"z":"AQ=="}"#
        );
    }
}
