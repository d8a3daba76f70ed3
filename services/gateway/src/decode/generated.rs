//! Own messages → the generated ones that mean the same, to compare what the two decoders make of a body.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyOf;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList,
};
use opentelemetry_proto::tonic::metrics::v1::exponential_histogram_data_point::Buckets;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as NumberValue;
use opentelemetry_proto::tonic::metrics::v1::summary_data_point::ValueAtQuantile;
use opentelemetry_proto::tonic::metrics::v1::{
    Exemplar, ExponentialHistogram, ExponentialHistogramDataPoint, Gauge, Histogram,
    HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum, Summary,
    SummaryDataPoint, exemplar,
};
use opentelemetry_proto::tonic::resource::v1::Resource;

use super::message as own;

/// The generated form of a request.
pub(crate) fn of(request: &own::Request<'_>) -> ExportMetricsServiceRequest {
    let resource = |metrics: &own::ResourceMetrics<'_>| ResourceMetrics {
        resource: Some(Resource {
            attributes: all(metrics.attributes, key_value),
            ..Resource::default()
        }),
        scope_metrics: all(metrics.scope_metrics, scope_metrics),
        ..ResourceMetrics::default()
    };
    ExportMetricsServiceRequest {
        resource_metrics: all(request.resource_metrics, resource),
    }
}

fn all<A, B>(list: &[A], form: impl Fn(&A) -> B) -> Vec<B> {
    list.iter().map(form).collect()
}

fn scope_metrics(metrics: &own::ScopeMetrics<'_>) -> ScopeMetrics {
    ScopeMetrics {
        scope: Some(InstrumentationScope {
            name: metrics.scope.name.to_owned(),
            version: metrics.scope.version.to_owned(),
            attributes: all(metrics.scope.attributes, key_value),
            ..InstrumentationScope::default()
        }),
        metrics: all(metrics.metrics, metric),
        schema_url: metrics.schema_url.to_owned(),
    }
}

fn metric(metric: &own::Metric<'_>) -> Metric {
    let data = metric.data.map(|data| match data {
        own::Data::Gauge(points) => Data::Gauge(Gauge {
            data_points: all(points, number),
        }),
        own::Data::Sum {
            points,
            temporality,
            is_monotonic,
        } => Data::Sum(Sum {
            data_points: all(points, number),
            aggregation_temporality: temporality,
            is_monotonic,
        }),
        own::Data::Histogram {
            points,
            temporality,
        } => Data::Histogram(Histogram {
            data_points: all(points, histogram),
            aggregation_temporality: temporality,
        }),
        own::Data::ExponentialHistogram {
            points,
            temporality,
        } => Data::ExponentialHistogram(ExponentialHistogram {
            data_points: all(points, exponential),
            aggregation_temporality: temporality,
        }),
        own::Data::Summary(points) => Data::Summary(Summary {
            data_points: all(points, summary),
        }),
    });
    Metric {
        name: metric.name.to_owned(),
        description: metric.description.to_owned(),
        unit: metric.unit.to_owned(),
        data,
        ..Metric::default()
    }
}

fn number(point: &own::NumberDataPoint<'_>) -> NumberDataPoint {
    NumberDataPoint {
        attributes: all(point.attributes, key_value),
        start_time_unix_nano: point.start_time_unix_nano,
        time_unix_nano: point.time_unix_nano,
        exemplars: all(point.exemplars, exemplar),
        flags: point.flags,
        value: point.value.map(|value| match value {
            own::Number::Double(value) => NumberValue::AsDouble(value),
            own::Number::Int(value) => NumberValue::AsInt(value),
        }),
    }
}

fn histogram(point: &own::HistogramDataPoint<'_>) -> HistogramDataPoint {
    HistogramDataPoint {
        attributes: all(point.attributes, key_value),
        start_time_unix_nano: point.start_time_unix_nano,
        time_unix_nano: point.time_unix_nano,
        count: point.count,
        sum: point.sum,
        bucket_counts: point.bucket_counts.to_vec(),
        explicit_bounds: point.explicit_bounds.to_vec(),
        exemplars: all(point.exemplars, exemplar),
        flags: point.flags,
        min: point.min,
        max: point.max,
    }
}

fn exponential(point: &own::ExponentialHistogramDataPoint<'_>) -> ExponentialHistogramDataPoint {
    let buckets = |buckets: own::Buckets<'_>| Buckets {
        offset: buckets.offset,
        bucket_counts: buckets.bucket_counts.to_vec(),
    };
    ExponentialHistogramDataPoint {
        attributes: all(point.attributes, key_value),
        start_time_unix_nano: point.start_time_unix_nano,
        time_unix_nano: point.time_unix_nano,
        count: point.count,
        sum: point.sum,
        scale: point.scale,
        zero_count: point.zero_count,
        positive: point.positive.map(buckets),
        negative: point.negative.map(buckets),
        flags: point.flags,
        exemplars: all(point.exemplars, exemplar),
        min: point.min,
        max: point.max,
        zero_threshold: point.zero_threshold,
    }
}

fn summary(point: &own::SummaryDataPoint<'_>) -> SummaryDataPoint {
    let quantile = |quantile: &own::ValueAtQuantile| ValueAtQuantile {
        quantile: quantile.quantile,
        value: quantile.value,
    };
    SummaryDataPoint {
        attributes: all(point.attributes, key_value),
        start_time_unix_nano: point.start_time_unix_nano,
        time_unix_nano: point.time_unix_nano,
        count: point.count,
        sum: point.sum,
        quantile_values: all(point.quantile_values, quantile),
        flags: point.flags,
    }
}

fn exemplar(exemplar: &own::Exemplar<'_>) -> Exemplar {
    Exemplar {
        filtered_attributes: all(exemplar.filtered_attributes, key_value),
        time_unix_nano: exemplar.time_unix_nano,
        span_id: exemplar.span_id.to_vec(),
        trace_id: exemplar.trace_id.to_vec(),
        value: exemplar.value.map(|value| match value {
            own::Number::Double(value) => exemplar::Value::AsDouble(value),
            own::Number::Int(value) => exemplar::Value::AsInt(value),
        }),
    }
}

fn key_value(attribute: &own::KeyValue<'_>) -> KeyValue {
    KeyValue {
        key: attribute.key.to_owned(),
        value: attribute.value.as_ref().map(|value| any(Some(value))),
        ..KeyValue::default()
    }
}

fn any(value: Option<&own::Value<'_>>) -> AnyValue {
    let value = value.map(|value| match value {
        own::Value::String(text) => AnyOf::StringValue((*text).to_owned()),
        own::Value::Bool(truth) => AnyOf::BoolValue(*truth),
        own::Value::Int(number) => AnyOf::IntValue(*number),
        own::Value::Double(number) => AnyOf::DoubleValue(*number),
        own::Value::Array(values) => AnyOf::ArrayValue(ArrayValue {
            values: all(values, |value| any(value.as_ref())),
        }),
        own::Value::Kvlist(values) => AnyOf::KvlistValue(KeyValueList {
            values: all(values, key_value),
        }),
        own::Value::Bytes(bytes) => AnyOf::BytesValue(bytes.to_vec()),
    });
    AnyValue { value }
}

/// Number of data points of a generated request.
pub(crate) fn points_in(request: &ExportMetricsServiceRequest) -> u64 {
    let scopes = request
        .resource_metrics
        .iter()
        .flat_map(|resource| &resource.scope_metrics);
    let data = scopes
        .flat_map(|scope| &scope.metrics)
        .filter_map(|metric| metric.data.as_ref());
    let points = data.map(|data| match data {
        Data::Gauge(data) => data.data_points.len(),
        Data::Sum(data) => data.data_points.len(),
        Data::Histogram(data) => data.data_points.len(),
        Data::ExponentialHistogram(data) => data.data_points.len(),
        Data::Summary(data) => data.data_points.len(),
    });
    u64::try_from(points.sum::<usize>()).unwrap()
}

/// A generated request without what the own messages leave out.
pub(crate) fn reduced(mut request: ExportMetricsServiceRequest) -> ExportMetricsServiceRequest {
    for resource in &mut request.resource_metrics {
        resource.schema_url.clear();
        let inner = resource.resource.get_or_insert_default();
        inner.dropped_attributes_count = 0;
        inner.entity_refs.clear();
        reduce_all(&mut inner.attributes);
        for scope in &mut resource.scope_metrics {
            let inner = scope.scope.get_or_insert_default();
            inner.dropped_attributes_count = 0;
            reduce_all(&mut inner.attributes);
            for metric in &mut scope.metrics {
                metric.metadata.clear();
                metric.data.as_mut().map(reduce_data);
            }
        }
    }
    request
}

fn reduce_data(data: &mut Data) {
    let exemplars = |exemplars: &mut Vec<Exemplar>| {
        for exemplar in exemplars {
            reduce_all(&mut exemplar.filtered_attributes);
        }
    };
    match data {
        Data::Gauge(Gauge { data_points }) | Data::Sum(Sum { data_points, .. }) => {
            for point in data_points {
                reduce_all(&mut point.attributes);
                exemplars(&mut point.exemplars);
            }
        }
        Data::Histogram(histogram) => {
            for point in &mut histogram.data_points {
                reduce_all(&mut point.attributes);
                exemplars(&mut point.exemplars);
            }
        }
        Data::ExponentialHistogram(histogram) => {
            for point in &mut histogram.data_points {
                reduce_all(&mut point.attributes);
                exemplars(&mut point.exemplars);
            }
        }
        Data::Summary(summary) => {
            for point in &mut summary.data_points {
                reduce_all(&mut point.attributes);
            }
        }
    }
}

fn reduce_all(attributes: &mut [KeyValue]) {
    for attribute in attributes {
        attribute.key_strindex = 0;
        if let Some(value) = &mut attribute.value {
            reduce(value);
        }
        attribute.value.take_if(|value| value.value.is_none());
    }
}

fn reduce(value: &mut AnyValue) {
    match &mut value.value {
        Some(AnyOf::StringValueStrindex(_)) => value.value = None,
        Some(AnyOf::ArrayValue(list)) => list.values.iter_mut().for_each(reduce),
        Some(AnyOf::KvlistValue(map)) => reduce_all(&mut map.values),
        _ => {}
    }
}
