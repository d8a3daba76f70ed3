//! Turns an attribute's value into a label's value.

use std::collections::BTreeMap;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bumpalo::Bump;

use crate::decode::message::Value;

/// The value as text: strings as they are, numbers in their shortest form, bytes in base64, lists
/// and maps as compact JSON with sorted keys, unset as empty. What has to be written goes to `arena`.
pub(super) fn label_value<'a>(value: Option<Value<'a>>, arena: &'a Bump) -> &'a str {
    match value {
        None => "",
        Some(Value::String(text)) => text,
        Some(Value::Bool(truth)) => {
            if truth {
                "true"
            } else {
                "false"
            }
        }
        Some(Value::Int(number)) => arena.alloc_str(&number.to_string()),
        Some(Value::Double(number)) => arena.alloc_str(&double(number)),
        Some(Value::Bytes(bytes)) => arena.alloc_str(&STANDARD.encode(bytes)),
        Some(compound) => {
            let mut json = String::new();
            write_json(&mut json, Some(&compound));
            arena.alloc_str(&json)
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

fn write_json(json: &mut String, value: Option<&Value<'_>>) {
    match value {
        None => json.push_str("null"),
        Some(Value::String(text)) => write_string(json, text),
        Some(Value::Bool(truth)) => json.push_str(if *truth { "true" } else { "false" }),
        Some(Value::Int(number)) => append(json, number),
        Some(Value::Double(number)) if number.is_finite() => json.push_str(&double(*number)),
        Some(Value::Double(number)) => write_string(json, &double(*number)),
        Some(Value::Bytes(bytes)) => write_string(json, &STANDARD.encode(bytes)),
        Some(Value::Array(values)) => {
            json.push('[');
            for (index, item) in values.iter().enumerate() {
                if index > 0 {
                    json.push(',');
                }
                write_json(json, item.as_ref());
            }
            json.push(']');
        }
        Some(Value::Kvlist(map)) => {
            // A key that comes twice has its last value; order does not tell two maps apart.
            let entries: BTreeMap<_, _> =
                map.iter().map(|entry| (entry.key, &entry.value)).collect();
            json.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    json.push(',');
                }
                write_string(json, key);
                json.push(':');
                write_json(json, value.as_ref());
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
    use super::*;
    use crate::decode::message::KeyValue;

    fn text(value: Value<'_>) -> String {
        label_value(Some(value), &Bump::new()).to_owned()
    }

    fn entry<'a>(key: &'a str, value: Value<'a>) -> KeyValue<'a> {
        KeyValue {
            key,
            value: Some(value),
        }
    }

    #[test]
    fn scalars_are_written_in_their_shortest_form() {
        assert_eq!(text(Value::String("as is")), "as is");
        assert_eq!(text(Value::Bool(true)), "true");
        assert_eq!(text(Value::Int(i64::MIN)), "-9223372036854775808");
        assert_eq!(text(Value::Bytes(&[0xfb, 0xff])), "+/8=");
        assert_eq!(label_value(None, &Bump::new()), "");
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
            assert_eq!(text(Value::Double(number)), expected);
        }
    }

    #[test]
    fn lists_and_maps_become_compact_json_with_sorted_keys() {
        let list = [
            Some(Value::Int(1)),
            Some(Value::Double(f64::NAN)),
            None,
            Some(Value::String("a\"<b>\n\u{1}")),
        ];
        let map = [
            entry("z", Value::Bool(false)),
            entry("a", Value::Array(&list)),
            entry("z", Value::Bytes(&[1])),
        ];
        assert_eq!(
            text(Value::Kvlist(&map)),
            r#"{"a":[1,"NaN",null,"a\"<b>\n\u0001"],"z":"AQ=="}"#
        );
    }
}
