//! Writes OTLP messages as the JSON that the specification prefers, to read them back.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    Exemplar, ExponentialHistogramDataPoint, HistogramDataPoint, Metric, NumberDataPoint,
    SummaryDataPoint, exemplar, number_data_point,
};
use serde_json::{Value, json};

/// The request as OTLP/JSON.
pub(crate) fn canonical(request: &ExportMetricsServiceRequest) -> Value {
    let resources = request.resource_metrics.iter().map(|resource| {
        let scopes = resource.scope_metrics.iter().map(|scope| {
            let mut json = json!({
                "metrics": list(&scope.metrics, metric),
                "schemaUrl": scope.schema_url,
            });
            if let Some(scope) = &scope.scope {
                json["scope"] = json!({
                    "name": scope.name,
                    "version": scope.version,
                    "attributes": list(&scope.attributes, key_value),
                    "droppedAttributesCount": scope.dropped_attributes_count,
                });
            }
            json
        });
        let mut json = json!({
            "scopeMetrics": scopes.collect::<Vec<_>>(),
            "schemaUrl": resource.schema_url,
        });
        if let Some(resource) = &resource.resource {
            json["resource"] = json!({
                "attributes": list(&resource.attributes, key_value),
                "droppedAttributesCount": resource.dropped_attributes_count,
            });
        }
        json
    });
    json!({ "resourceMetrics": resources.collect::<Vec<_>>() })
}

fn list<T>(items: &[T], write: impl Fn(&T) -> Value) -> Value {
    items.iter().map(write).collect()
}

fn double(number: f64) -> Value {
    if number.is_nan() {
        return json!("NaN");
    }
    if number.is_infinite() {
        return json!(if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        });
    }
    json!(number)
}

fn long(number: &u64) -> Value {
    json!(number.to_string())
}

fn hexadecimal(bytes: &[u8]) -> Value {
    json!(
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    )
}

fn any_value(value: &AnyValue) -> Value {
    match &value.value {
        None | Some(Any::StringValueStrindex(_)) => json!({}),
        Some(Any::StringValue(text)) => json!({ "stringValue": text }),
        Some(Any::BoolValue(truth)) => json!({ "boolValue": truth }),
        Some(Any::IntValue(number)) => json!({ "intValue": number.to_string() }),
        Some(Any::DoubleValue(number)) => json!({ "doubleValue": double(*number) }),
        Some(Any::BytesValue(bytes)) => json!({ "bytesValue": STANDARD.encode(bytes) }),
        Some(Any::ArrayValue(array)) => {
            json!({ "arrayValue": { "values": list(&array.values, any_value) } })
        }
        Some(Any::KvlistValue(map)) => {
            json!({ "kvlistValue": { "values": list(&map.values, key_value) } })
        }
    }
}

fn key_value(entry: &KeyValue) -> Value {
    let mut json = json!({ "key": entry.key });
    if let Some(value) = &entry.value {
        json["value"] = any_value(value);
    }
    json
}

fn metric(metric: &Metric) -> Value {
    let mut json = json!({
        "name": metric.name,
        "description": metric.description,
        "unit": metric.unit,
        "metadata": list(&metric.metadata, key_value),
    });
    match &metric.data {
        None => {}
        Some(Data::Gauge(data)) => {
            json["gauge"] = json!({ "dataPoints": list(&data.data_points, number) });
        }
        Some(Data::Sum(data)) => {
            json["sum"] = json!({
                "dataPoints": list(&data.data_points, number),
                "aggregationTemporality": data.aggregation_temporality,
                "isMonotonic": data.is_monotonic,
            });
        }
        Some(Data::Histogram(data)) => {
            json["histogram"] = json!({
                "dataPoints": list(&data.data_points, histogram),
                "aggregationTemporality": data.aggregation_temporality,
            });
        }
        Some(Data::ExponentialHistogram(data)) => {
            json["exponentialHistogram"] = json!({
                "dataPoints": list(&data.data_points, exponential),
                "aggregationTemporality": data.aggregation_temporality,
            });
        }
        Some(Data::Summary(data)) => {
            json["summary"] = json!({ "dataPoints": list(&data.data_points, summary) });
        }
    }
    json
}

fn number(point: &NumberDataPoint) -> Value {
    let mut json = json!({
        "attributes": list(&point.attributes, key_value),
        "startTimeUnixNano": long(&point.start_time_unix_nano),
        "timeUnixNano": long(&point.time_unix_nano),
        "exemplars": list(&point.exemplars, exemplar),
        "flags": point.flags,
    });
    match point.value {
        None => {}
        Some(number_data_point::Value::AsDouble(value)) => json["asDouble"] = double(value),
        Some(number_data_point::Value::AsInt(value)) => json["asInt"] = json!(value.to_string()),
    }
    json
}

fn exemplar(exemplar: &Exemplar) -> Value {
    let mut json = json!({
        "filteredAttributes": list(&exemplar.filtered_attributes, key_value),
        "timeUnixNano": long(&exemplar.time_unix_nano),
        "traceId": hexadecimal(&exemplar.trace_id),
        "spanId": hexadecimal(&exemplar.span_id),
    });
    match exemplar.value {
        None => {}
        Some(exemplar::Value::AsDouble(value)) => json["asDouble"] = double(value),
        Some(exemplar::Value::AsInt(value)) => json["asInt"] = json!(value.to_string()),
    }
    json
}

/// Adds a field only where the message has it.
fn optional(json: &mut Value, key: &str, value: Option<f64>) {
    if let Some(value) = value {
        json[key] = double(value);
    }
}

fn histogram(point: &HistogramDataPoint) -> Value {
    let mut json = json!({
        "attributes": list(&point.attributes, key_value),
        "startTimeUnixNano": long(&point.start_time_unix_nano),
        "timeUnixNano": long(&point.time_unix_nano),
        "count": long(&point.count),
        "bucketCounts": list(&point.bucket_counts, long),
        "explicitBounds": list(&point.explicit_bounds, |bound| double(*bound)),
        "exemplars": list(&point.exemplars, exemplar),
        "flags": point.flags,
    });
    optional(&mut json, "sum", point.sum);
    optional(&mut json, "min", point.min);
    optional(&mut json, "max", point.max);
    json
}

fn exponential(point: &ExponentialHistogramDataPoint) -> Value {
    let mut json = json!({
        "attributes": list(&point.attributes, key_value),
        "timeUnixNano": long(&point.time_unix_nano),
        "count": long(&point.count),
        "scale": point.scale,
        "zeroCount": long(&point.zero_count),
        "zeroThreshold": double(point.zero_threshold),
        "flags": point.flags,
    });
    for (key, buckets) in [("positive", &point.positive), ("negative", &point.negative)] {
        if let Some(buckets) = buckets {
            json[key] = json!({
                "offset": buckets.offset,
                "bucketCounts": list(&buckets.bucket_counts, long),
            });
        }
    }
    optional(&mut json, "sum", point.sum);
    json
}

fn summary(point: &SummaryDataPoint) -> Value {
    json!({
        "attributes": list(&point.attributes, key_value),
        "timeUnixNano": long(&point.time_unix_nano),
        "count": long(&point.count),
        "sum": double(point.sum),
        "quantileValues": list(&point.quantile_values, |quantile| json!({
            "quantile": double(quantile.quantile),
            "value": double(quantile.value),
        })),
    })
}
