//! Recorded timestamps → timestamps that end now, all moved by the same offset.

use anyhow::{Context, bail};
use serde_json::Value;

/// Moves every `…UnixNano` of `request` by one offset so that the latest sample time becomes `now`
/// (nanoseconds since the epoch). Zero means "not set" in OTLP and stays zero.
///
/// # Errors
/// When a timestamp is not a number, or none is set.
pub(super) fn latest_to(request: &mut Value, now: i128) -> anyhow::Result<()> {
    let mut latest = None;
    each_time(request, &mut |name, nanos| {
        // Start times never lie after the sample that they belong to.
        if name != "startTimeUnixNano" {
            latest = latest.max(Some(nanos));
        }
        nanos
    })?;
    let Some(latest) = latest else {
        bail!("the file has no timestamps to shift")
    };
    let offset = now - latest;
    each_time(request, &mut |_, nanos| nanos + offset)
}

fn each_time(value: &mut Value, change: &mut impl FnMut(&str, i128) -> i128) -> anyhow::Result<()> {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if name.ends_with("UnixNano") && !field.is_null() {
                    let nanos = read(field)
                        .with_context(|| format!("{name} is not a whole number: {field}"))?;
                    if nanos != 0 {
                        *field = Value::String(change(name, nanos).to_string());
                    }
                } else {
                    each_time(field, change)?;
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                each_time(item, change)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn read(field: &Value) -> Option<i128> {
    match field {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.as_u64().map(i128::from),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_times_move_by_the_offset_that_brings_the_latest_to_now() {
        let mut request = json!({"resourceMetrics": [{"points": [
            {"timeUnixNano": "1000", "startTimeUnixNano": "400"},
            {"timeUnixNano": 900, "startTimeUnixNano": "0"},
        ]}]});
        latest_to(&mut request, 5000).unwrap();
        assert_eq!(
            request,
            json!({"resourceMetrics": [{"points": [
                {"timeUnixNano": "5000", "startTimeUnixNano": "4400"},
                {"timeUnixNano": "4900", "startTimeUnixNano": "0"},
            ]}]})
        );
    }

    #[test]
    fn nanoseconds_keep_their_last_digit() {
        let mut request = json!({"timeUnixNano": "1793534400000000001"});
        latest_to(&mut request, 1_800_000_000_000_000_007).unwrap();
        assert_eq!(request["timeUnixNano"], "1800000000000000007");
    }

    #[test]
    fn a_file_without_times_is_refused() {
        assert!(latest_to(&mut json!({"resourceMetrics": []}), 1).is_err());
    }
}
