//! Numbers and names → OTLP/JSON export requests.

use serde_json::{Value, json};

/// Labels as a test writes them.
pub type Pairs<'a> = &'a [(&'a str, &'a str)];

/// A request with one resource and one scope.
#[must_use]
pub fn request(resource: Pairs<'_>, metrics: &[Value]) -> Value {
    json!({"resourceMetrics": [resource_metrics(resource, metrics)]})
}

/// One entry of `resourceMetrics`, with one scope.
#[must_use]
pub fn resource_metrics(resource: Pairs<'_>, metrics: &[Value]) -> Value {
    json!({
        "resource": {"attributes": attributes(resource)},
        "scopeMetrics": [{"scope": {"name": "test"}, "metrics": metrics}],
    })
}

/// Attributes with string values.
#[must_use]
pub fn attributes(pairs: Pairs<'_>) -> Value {
    pairs
        .iter()
        .map(|(key, value)| json!({"key": key, "value": {"stringValue": value}}))
        .collect()
}

/// A gauge.
#[must_use]
pub fn gauge(name: &str, unit: &str, points: &[Value]) -> Value {
    json!({"name": name, "unit": unit, "gauge": {"dataPoints": points}})
}

/// A cumulative sum that only grows.
#[must_use]
pub fn counter(name: &str, unit: &str, points: &[Value]) -> Value {
    sum(name, unit, points, true)
}

/// A cumulative sum.
#[must_use]
pub fn sum(name: &str, unit: &str, points: &[Value], monotonic: bool) -> Value {
    json!({"name": name, "unit": unit, "sum": {
        "dataPoints": points, "aggregationTemporality": 2, "isMonotonic": monotonic,
    }})
}

/// A cumulative histogram with explicit bounds.
#[must_use]
pub fn histogram(name: &str, unit: &str, points: &[Value]) -> Value {
    json!({"name": name, "unit": unit, "histogram": {"dataPoints": points, "aggregationTemporality": 2}})
}

/// A number at `ts` (milliseconds since the epoch).
#[must_use]
pub fn number(labels: Pairs<'_>, ts: i64, value: f64) -> Value {
    json!({"attributes": attributes(labels), "timeUnixNano": nanos(ts), "asDouble": value})
}

/// A histogram point at `ts` (milliseconds since the epoch); `counts` are per bucket, one more than
/// `bounds`.
#[must_use]
pub fn observations(labels: Pairs<'_>, ts: i64, sum: f64, bounds: &[f64], counts: &[u64]) -> Value {
    let texts: Vec<String> = counts.iter().map(u64::to_string).collect();
    json!({
        "attributes": attributes(labels),
        "timeUnixNano": nanos(ts),
        "count": counts.iter().sum::<u64>().to_string(),
        "sum": sum,
        "explicitBounds": bounds,
        "bucketCounts": texts,
    })
}

/// Milliseconds as OTLP/JSON writes times.
#[must_use]
pub fn nanos(ms: i64) -> String {
    (i128::from(ms) * 1_000_000).to_string()
}
