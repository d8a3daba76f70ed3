//! Builds requests and runs them, in few words.

use auth::tenant::{Limits, Tenant, TenantId};
use auth::translation::{Profile, Translation};
use bumpalo::Bump;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics,
    Sum, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message;
use schemas::rows::SeriesRow;

use crate::batch::rows::Rows;
use crate::decode::{Encoding, metrics};
use crate::known::Known;
use crate::outcome::Tally;
use crate::translate::{Context, TranslatedBatch, translate};

/// The time of arrival, and of every point that does not say otherwise: 2026-11-01T12:00:00Z.
pub(crate) const NOW_MS: i64 = 1_793_534_400_000;

/// [`NOW_MS`] as OTLP writes it.
pub(crate) const NOW_NANOS: u64 = 1_793_534_400_000_000_000;

pub(crate) fn tenant() -> Tenant {
    Tenant {
        id: TenantId::new("ten_a"),
        slug: "a".to_owned(),
        plan: "standard".to_owned(),
        suspended: false,
        limits: Limits::standard(),
    }
}

/// What a request becomes, row by row.
#[derive(Debug, PartialEq)]
pub(crate) struct Translated {
    rows: Rows,
    pub(crate) tally: Tally,
}

impl Translated {
    fn of(TranslatedBatch { batch, tally, .. }: TranslatedBatch) -> Self {
        Self {
            rows: batch.rows(),
            tally,
        }
    }
}

impl std::ops::Deref for Translated {
    type Target = Rows;

    fn deref(&self) -> &Rows {
        &self.rows
    }
}

impl std::ops::DerefMut for Translated {
    fn deref_mut(&mut self) -> &mut Rows {
        &mut self.rows
    }
}

/// Translates with what is `known`.
pub(crate) fn run_knowing(
    known: &Known,
    tenant: &Tenant,
    translation: &Translation,
    request: &ExportMetricsServiceRequest,
) -> TranslatedBatch {
    let context = Context {
        tenant,
        translation,
        now_ms: NOW_MS,
    };
    let body = request.encode_to_vec();
    let arena = Bump::new();
    let decoded = metrics(Encoding::Protobuf, &body, u64::MAX, &arena).unwrap();
    translate(&decoded.request, &context, known)
}

fn run_of(
    tenant: &Tenant,
    translation: &Translation,
    request: &ExportMetricsServiceRequest,
) -> Translated {
    Translated::of(run_knowing(&Known::new(1), tenant, translation, request))
}

/// Translates JSON for a tenant with standard limits.
pub(crate) fn run_json(translation: &Translation, body: &[u8]) -> Translated {
    let tenant = tenant();
    let context = Context {
        tenant: &tenant,
        translation,
        now_ms: NOW_MS,
    };
    let arena = Bump::new();
    let decoded = metrics(Encoding::Json, body, u64::MAX, &arena).unwrap();
    Translated::of(translate(&decoded.request, &context, &Known::new(1)))
}

/// Translates for a tenant with standard limits, of whom nothing is known.
#[expect(clippy::needless_pass_by_value, reason = "tests say it shorter")]
pub(crate) fn run_as(
    translation: &Translation,
    request: ExportMetricsServiceRequest,
) -> Translated {
    run_of(&tenant(), translation, &request)
}

/// Translates with the generic profile.
pub(crate) fn run(request: ExportMetricsServiceRequest) -> Translated {
    run_as(&Translation::of(Profile::Generic), request)
}

/// Translates for a tenant with these limits.
#[expect(clippy::needless_pass_by_value, reason = "tests say it shorter")]
pub(crate) fn run_within(limits: Limits, request: ExportMetricsServiceRequest) -> Translated {
    let tenant = Tenant { limits, ..tenant() };
    run_of(&tenant, &Translation::default(), &request)
}

pub(crate) fn text(value: &str) -> Option<AnyValue> {
    Some(AnyValue {
        value: Some(Value::StringValue(value.to_owned())),
    })
}

pub(crate) fn attributes(pairs: &[(&str, &str)]) -> Vec<KeyValue> {
    let pair = |(key, value): &(&str, &str)| KeyValue {
        key: (*key).to_owned(),
        value: text(value),
        ..KeyValue::default()
    };
    pairs.iter().map(pair).collect()
}

/// A number point of now.
pub(crate) fn point(labels: &[(&str, &str)], value: f64) -> NumberDataPoint {
    NumberDataPoint {
        attributes: attributes(labels),
        time_unix_nano: NOW_NANOS,
        value: Some(number_data_point::Value::AsDouble(value)),
        ..NumberDataPoint::default()
    }
}

/// A histogram point of now.
pub(crate) fn buckets(bounds: &[f64], counts: &[u64]) -> HistogramDataPoint {
    HistogramDataPoint {
        time_unix_nano: NOW_NANOS,
        count: counts.iter().sum(),
        sum: Some(10.5),
        explicit_bounds: bounds.to_vec(),
        bucket_counts: counts.to_vec(),
        ..HistogramDataPoint::default()
    }
}

pub(crate) fn metric(name: &str, unit: &str, data: Data) -> Metric {
    Metric {
        name: name.to_owned(),
        unit: unit.to_owned(),
        data: Some(data),
        ..Metric::default()
    }
}

pub(crate) fn gauge(name: &str, data_points: Vec<NumberDataPoint>) -> Metric {
    metric(name, "", Data::Gauge(Gauge { data_points }))
}

pub(crate) fn sum(name: &str, temporality: i32, data_points: Vec<NumberDataPoint>) -> Metric {
    let sum = Sum {
        data_points,
        aggregation_temporality: temporality,
        is_monotonic: true,
    };
    metric(name, "", Data::Sum(sum))
}

pub(crate) fn counter(name: &str, data_points: Vec<NumberDataPoint>) -> Metric {
    sum(name, 2, data_points)
}

pub(crate) fn histogram(name: &str, data_points: Vec<HistogramDataPoint>) -> Metric {
    metric(
        name,
        "",
        Data::Histogram(Histogram {
            data_points,
            aggregation_temporality: 2,
        }),
    )
}

pub(crate) fn scope(name: &str, metrics: Vec<Metric>) -> ScopeMetrics {
    let scope = InstrumentationScope {
        name: name.to_owned(),
        ..InstrumentationScope::default()
    };
    ScopeMetrics {
        scope: Some(scope),
        metrics,
        ..ScopeMetrics::default()
    }
}

pub(crate) fn resource(
    labels: &[(&str, &str)],
    scope_metrics: Vec<ScopeMetrics>,
) -> ResourceMetrics {
    let resource = Resource {
        attributes: attributes(labels),
        ..Resource::default()
    };
    ResourceMetrics {
        resource: Some(resource),
        scope_metrics,
        ..ResourceMetrics::default()
    }
}

/// A request of one resource with these attributes.
pub(crate) fn of(labels: &[(&str, &str)], metrics: Vec<Metric>) -> ExportMetricsServiceRequest {
    ExportMetricsServiceRequest {
        resource_metrics: vec![resource(labels, vec![scope("s", metrics)])],
    }
}

/// A request of a resource without attributes.
pub(crate) fn request(metrics: Vec<Metric>) -> ExportMetricsServiceRequest {
    of(&[], metrics)
}

/// A series row as Prometheus would write it: `name{a="1", b="2"}`.
pub(crate) fn written(series: &SeriesRow) -> String {
    let labels: Vec<_> = series
        .labels
        .iter()
        .map(|(name, value)| format!("{name}={value:?}"))
        .collect();
    format!("{}{{{}}}", series.metric, labels.join(", "))
}

/// Every series of a batch, in order.
pub(crate) fn all_written(batch: &Translated) -> Vec<String> {
    batch.series.iter().map(written).collect()
}

/// The label set that one gauge point with `labels` gets from a resource with `given`.
pub(crate) fn labels_of(
    translation: &Translation,
    given: &[(&str, &str)],
    labels: &[(&str, &str)],
) -> String {
    let batch = run_as(
        translation,
        of(given, vec![gauge("m", vec![point(labels, 1.0)])]),
    );
    assert_eq!(batch.tally.partial_success(), None);
    written(
        batch
            .series
            .iter()
            .find(|series| series.metric == "m")
            .unwrap(),
    )
}
