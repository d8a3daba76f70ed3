//! Makes arbitrary requests for property tests.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList,
};
use opentelemetry_proto::tonic::metrics::v1::exponential_histogram_data_point::Buckets;
use opentelemetry_proto::tonic::metrics::v1::summary_data_point::ValueAtQuantile;
use opentelemetry_proto::tonic::metrics::v1::{
    Exemplar, ExponentialHistogram, ExponentialHistogramDataPoint, Gauge, Histogram,
    HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum, Summary,
    SummaryDataPoint, exemplar, metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use proptest::collection::vec;
use proptest::prelude::*;

/// Doubles without NaN, which equals nothing.
fn double() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("NaN", |number| !number.is_nan())
}

fn value() -> impl Strategy<Value = AnyValue> {
    let leaf = prop_oneof![
        Just(None),
        any::<String>().prop_map(|text| Some(Value::StringValue(text))),
        any::<bool>().prop_map(|truth| Some(Value::BoolValue(truth))),
        any::<i64>().prop_map(|number| Some(Value::IntValue(number))),
        double().prop_map(|number| Some(Value::DoubleValue(number))),
        vec(any::<u8>(), 0..5).prop_map(|bytes| Some(Value::BytesValue(bytes))),
    ]
    .prop_map(|value| AnyValue { value });
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(|values| Value::ArrayValue(ArrayValue { values })),
            vec((any::<String>(), inner), 0..3).prop_map(|entries| {
                let values = entries
                    .into_iter()
                    .map(|(key, value)| entry(key, Some(value)));
                Value::KvlistValue(KeyValueList {
                    values: values.collect(),
                })
            }),
        ]
        .prop_map(|value| AnyValue { value: Some(value) })
    })
}

fn entry(key: String, value: Option<AnyValue>) -> KeyValue {
    KeyValue {
        key,
        value,
        ..KeyValue::default()
    }
}

fn attributes() -> impl Strategy<Value = Vec<KeyValue>> {
    vec((any::<String>(), proptest::option::of(value())), 0..3).prop_map(|entries| {
        entries
            .into_iter()
            .map(|(key, value)| entry(key, value))
            .collect()
    })
}

fn number() -> impl Strategy<Value = NumberDataPoint> {
    let value = prop_oneof![
        Just(None),
        double().prop_map(|value| Some(number_data_point::Value::AsDouble(value))),
        any::<i64>().prop_map(|value| Some(number_data_point::Value::AsInt(value))),
    ];
    (
        attributes(),
        any::<(u64, u64, u32)>(),
        value,
        vec(exemplar(), 0..2),
    )
        .prop_map(
            |(attributes, (start, time, flags), value, exemplars)| NumberDataPoint {
                attributes,
                start_time_unix_nano: start,
                time_unix_nano: time,
                exemplars,
                flags,
                value,
            },
        )
}

fn exemplar() -> impl Strategy<Value = Exemplar> {
    (attributes(), any::<(u64, i64)>(), any::<[u8; 7]>()).prop_map(
        |(filtered_attributes, (time_unix_nano, value), id)| Exemplar {
            filtered_attributes,
            time_unix_nano,
            span_id: [&[1], &id[..]].concat(),
            trace_id: [&[2], &id[..], &[3], &id[..]].concat(),
            value: Some(exemplar::Value::AsInt(value)),
        },
    )
}

fn histogram() -> impl Strategy<Value = HistogramDataPoint> {
    let optional = || proptest::option::of(double());
    (
        attributes(),
        any::<(u64, u64)>(),
        vec(any::<u64>(), 0..4),
        vec(double(), 0..4),
        (optional(), optional(), optional()),
    )
        .prop_map(
            |(attributes, (time, count), bucket_counts, explicit_bounds, (sum, min, max))| {
                HistogramDataPoint {
                    attributes,
                    time_unix_nano: time,
                    count,
                    sum,
                    bucket_counts,
                    explicit_bounds,
                    min,
                    max,
                    ..HistogramDataPoint::default()
                }
            },
        )
}

fn exponential() -> impl Strategy<Value = ExponentialHistogramDataPoint> {
    let buckets =
        (any::<i32>(), vec(any::<u64>(), 0..4)).prop_map(|(offset, bucket_counts)| Buckets {
            offset,
            bucket_counts,
        });
    (
        any::<(u64, u64, i32)>(),
        proptest::option::of(buckets),
        double(),
    )
        .prop_map(|((time, count, scale), positive, zero_threshold)| {
            ExponentialHistogramDataPoint {
                time_unix_nano: time,
                count,
                scale,
                positive,
                zero_threshold,
                ..ExponentialHistogramDataPoint::default()
            }
        })
}

fn data() -> impl Strategy<Value = metric::Data> {
    let quantile =
        (double(), double()).prop_map(|(quantile, value)| ValueAtQuantile { quantile, value });
    let summary = (attributes(), any::<u64>(), double(), vec(quantile, 0..3)).prop_map(
        |(attributes, count, sum, quantile_values)| SummaryDataPoint {
            attributes,
            count,
            sum,
            quantile_values,
            ..SummaryDataPoint::default()
        },
    );
    prop_oneof![
        vec(number(), 0..3).prop_map(|data_points| metric::Data::Gauge(Gauge { data_points })),
        (vec(number(), 0..3), 0..3_i32, any::<bool>()).prop_map(
            |(data_points, aggregation_temporality, is_monotonic)| {
                metric::Data::Sum(Sum {
                    data_points,
                    aggregation_temporality,
                    is_monotonic,
                })
            }
        ),
        (vec(histogram(), 0..3), any::<i32>()).prop_map(
            |(data_points, aggregation_temporality)| {
                metric::Data::Histogram(Histogram {
                    data_points,
                    aggregation_temporality,
                })
            }
        ),
        vec(exponential(), 0..3).prop_map(|data_points| {
            metric::Data::ExponentialHistogram(ExponentialHistogram {
                data_points,
                ..ExponentialHistogram::default()
            })
        }),
        vec(summary, 0..3).prop_map(|data_points| metric::Data::Summary(Summary { data_points })),
    ]
}

/// Any request with at most a handful of points.
pub(crate) fn request() -> impl Strategy<Value = ExportMetricsServiceRequest> {
    let metric = (any::<[String; 3]>(), proptest::option::of(data())).prop_map(
        |([name, description, unit], data)| Metric {
            name,
            description,
            unit,
            data,
            ..Metric::default()
        },
    );
    let scope = (any::<[String; 2]>(), attributes(), vec(metric, 0..3)).prop_map(
        |([name, version], attributes, metrics)| ScopeMetrics {
            scope: Some(InstrumentationScope {
                name,
                version,
                attributes,
                ..InstrumentationScope::default()
            }),
            metrics,
            ..ScopeMetrics::default()
        },
    );
    let resource = (attributes(), vec(scope, 0..2)).prop_map(|(attributes, scope_metrics)| {
        let resource = Some(Resource {
            attributes,
            ..Resource::default()
        });
        ResourceMetrics {
            resource,
            scope_metrics,
            ..ResourceMetrics::default()
        }
    });
    vec(resource, 0..2)
        .prop_map(|resource_metrics| ExportMetricsServiceRequest { resource_metrics })
}
