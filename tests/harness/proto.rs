//! OTLP/JSON as the payload files write it → the same request in protobuf, and the messages of answers.
//!
//! Strict and small on purpose: it knows what the test data holds and stops at anything else, so that it
//! cannot hide what the gateway's decoder misreads.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    ExponentialHistogram, ExponentialHistogramDataPoint, Gauge, Histogram, HistogramDataPoint,
    Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum, exponential_histogram_data_point,
    metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message as _;
use serde_json::Value;

/// The protobuf form of an OTLP/JSON metrics request.
#[must_use]
pub fn encode(request: &Value) -> Vec<u8> {
    ExportMetricsServiceRequest {
        resource_metrics: list(request, "resourceMetrics", resource_metrics),
    }
    .encode_to_vec()
}

fn resource_metrics(value: &Value) -> ResourceMetrics {
    ResourceMetrics {
        resource: value.get("resource").map(|resource| Resource {
            attributes: list(resource, "attributes", attribute),
            ..Resource::default()
        }),
        scope_metrics: list(value, "scopeMetrics", scope_metrics),
        schema_url: String::new(),
    }
}

fn scope_metrics(value: &Value) -> ScopeMetrics {
    ScopeMetrics {
        scope: value.get("scope").map(|scope| InstrumentationScope {
            name: text(scope, "name"),
            version: text(scope, "version"),
            ..InstrumentationScope::default()
        }),
        metrics: list(value, "metrics", metric),
        schema_url: String::new(),
    }
}

fn metric(value: &Value) -> Metric {
    Metric {
        name: text(value, "name"),
        description: text(value, "description"),
        unit: text(value, "unit"),
        metadata: Vec::new(),
        data: Some(data(value)),
    }
}

fn data(value: &Value) -> metric::Data {
    let temporality = |of: &Value| i32::try_from(integer(of, "aggregationTemporality")).unwrap();
    if let Some(gauge) = value.get("gauge") {
        return metric::Data::Gauge(Gauge {
            data_points: list(gauge, "dataPoints", number),
        });
    }
    if let Some(sum) = value.get("sum") {
        return metric::Data::Sum(Sum {
            data_points: list(sum, "dataPoints", number),
            aggregation_temporality: temporality(sum),
            is_monotonic: sum["isMonotonic"].as_bool().unwrap_or(false),
        });
    }
    if let Some(histogram) = value.get("histogram") {
        return metric::Data::Histogram(Histogram {
            data_points: list(histogram, "dataPoints", explicit),
            aggregation_temporality: temporality(histogram),
        });
    }
    let Some(histogram) = value.get("exponentialHistogram") else {
        panic!("this converter knows no such metric: {value}");
    };
    metric::Data::ExponentialHistogram(ExponentialHistogram {
        data_points: list(histogram, "dataPoints", exponential),
        aggregation_temporality: temporality(histogram),
    })
}

fn number(value: &Value) -> NumberDataPoint {
    let point = match (value.get("asInt"), value.get("asDouble")) {
        (Some(_), None) => number_data_point::Value::AsInt(integer(value, "asInt")),
        (None, Some(double)) => number_data_point::Value::AsDouble(double.as_f64().unwrap()),
        _ => panic!("a point needs one value: {value}"),
    };
    NumberDataPoint {
        attributes: list(value, "attributes", attribute),
        start_time_unix_nano: unsigned(value, "startTimeUnixNano"),
        time_unix_nano: unsigned(value, "timeUnixNano"),
        value: Some(point),
        ..NumberDataPoint::default()
    }
}

fn explicit(value: &Value) -> HistogramDataPoint {
    HistogramDataPoint {
        attributes: list(value, "attributes", attribute),
        start_time_unix_nano: unsigned(value, "startTimeUnixNano"),
        time_unix_nano: unsigned(value, "timeUnixNano"),
        count: unsigned(value, "count"),
        sum: double(value, "sum"),
        bucket_counts: list(value, "bucketCounts", whole),
        explicit_bounds: list(value, "explicitBounds", |bound| bound.as_f64().unwrap()),
        min: double(value, "min"),
        max: double(value, "max"),
        ..HistogramDataPoint::default()
    }
}

fn exponential(value: &Value) -> ExponentialHistogramDataPoint {
    let buckets = |name: &str| {
        value
            .get(name)
            .map(|side| exponential_histogram_data_point::Buckets {
                offset: i32::try_from(integer(side, "offset")).unwrap(),
                bucket_counts: list(side, "bucketCounts", whole),
            })
    };
    ExponentialHistogramDataPoint {
        attributes: list(value, "attributes", attribute),
        start_time_unix_nano: unsigned(value, "startTimeUnixNano"),
        time_unix_nano: unsigned(value, "timeUnixNano"),
        count: unsigned(value, "count"),
        sum: double(value, "sum"),
        scale: i32::try_from(integer(value, "scale")).unwrap(),
        zero_count: unsigned(value, "zeroCount"),
        positive: buckets("positive"),
        negative: buckets("negative"),
        min: double(value, "min"),
        max: double(value, "max"),
        ..ExponentialHistogramDataPoint::default()
    }
}

fn attribute(value: &Value) -> KeyValue {
    let Some(string) = value["value"]["stringValue"].as_str() else {
        panic!("this converter knows string attributes only: {value}");
    };
    KeyValue {
        key: text(value, "key"),
        value: Some(AnyValue {
            value: Some(any_value::Value::StringValue(string.to_owned())),
        }),
        ..KeyValue::default()
    }
}

fn list<T>(value: &Value, name: &str, each: impl Fn(&Value) -> T) -> Vec<T> {
    value
        .get(name)
        .map(|items| items.as_array().unwrap().iter().map(each).collect())
        .unwrap_or_default()
}

fn text(value: &Value, name: &str) -> String {
    value
        .get(name)
        .map(|text| text.as_str().unwrap().to_owned())
        .unwrap_or_default()
}

fn double(value: &Value, name: &str) -> Option<f64> {
    value.get(name).map(|number| number.as_f64().unwrap())
}

fn integer(value: &Value, name: &str) -> i64 {
    match value.get(name) {
        None => 0,
        Some(Value::String(text)) => text.parse().unwrap(),
        Some(number) => number.as_i64().unwrap(),
    }
}

fn unsigned(value: &Value, name: &str) -> u64 {
    value.get(name).map_or(0, whole)
}

fn whole(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        number => number.as_u64().unwrap(),
    }
}

/// `google.rpc.Status`, as OTLP's error bodies are.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Status {
    /// A code of gRPC.
    #[prost(int32, tag = "1")]
    pub code: i32,
    /// What went wrong and what to do.
    #[prost(string, tag = "2")]
    pub message: String,
    /// Messages for programs.
    #[prost(message, repeated, tag = "3")]
    pub details: Vec<Any>,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Any {
    /// Which message it is.
    #[prost(string, tag = "1")]
    pub type_url: String,
    /// The message.
    #[prost(bytes = "vec", tag = "2")]
    pub value: Vec<u8>,
}
