//! A payload file → the series that it must become, worked out from the spec and not from the gateway.
//!
//! Names come from tables written by hand; everything else is the little arithmetic of classic
//! histograms.

use auth::translation::Profile;
use serde_json::Value;
use tests::ask::{Labels, Vector};
use tests::otlp::Pairs;

/// A payload file and what the spec says about it.
#[derive(Clone, Copy)]
pub(super) struct File {
    /// File name in `data/payloads`.
    pub(super) name: &'static str,
    /// Short name, also of the tenant.
    pub(super) slug: &'static str,
    /// Profile of the key that pushes it.
    pub(super) profile: Profile,
    /// Points that this version rejects.
    pub(super) rejected: i64,
    /// Reason of these rejects or of a warning; `""` when there is nothing to say.
    pub(super) remark: &'static str,
    /// Metrics whose family gets another name; `""` means that it is rejected.
    renamed: &'static [(&'static str, &'static str)],
    /// Resource attributes that become labels, and the labels.
    promoted: &'static [(&'static str, &'static str)],
}

/// The four files with metrics.
pub(super) const FILES: [File; 4] = [
    File {
        name: "cerebrium_metrics.json",
        slug: "cerebrium",
        profile: Profile::Cerebrium,
        rejected: 0,
        remark: "",
        renamed: &[
            (
                "cerebrium_run_execution_time_ms",
                "cerebrium_run_execution_time_ms_milliseconds",
            ),
            (
                "cerebrium_run_queue_time_ms",
                "cerebrium_run_queue_time_ms_milliseconds",
            ),
            (
                "cerebrium_run_coldstart_time_ms",
                "cerebrium_run_coldstart_time_ms_milliseconds",
            ),
            (
                "cerebrium_run_response_time_ms",
                "cerebrium_run_response_time_ms_milliseconds",
            ),
        ],
        promoted: &[("service.name", "job")],
    },
    File {
        name: "crusoe_dcgm_metrics.json",
        slug: "crusoe",
        profile: Profile::Crusoe,
        rejected: 0,
        // A GPU fell off the bus and one of its values is DCGM's blank.
        remark: "sentinel_dropped",
        renamed: &[],
        promoted: &[
            ("crusoe_org_id", "crusoe_org_id"),
            ("crusoe_project_id", "crusoe_project_id"),
        ],
    },
    File {
        name: "cog_runtime_metrics.json",
        slug: "cog",
        profile: Profile::Cog,
        rejected: 0,
        remark: "",
        renamed: &[
            (
                "cog.runtime.prediction.count",
                "cog_runtime_prediction_count_total",
            ),
            (
                "cog.runtime.prediction.rejected",
                "cog_runtime_prediction_rejected_total",
            ),
            (
                "cog.runtime.prediction.active",
                "cog_runtime_prediction_active",
            ),
            (
                "cog.runtime.prediction.duration",
                "cog_runtime_prediction_duration_seconds",
            ),
            (
                "cog.runtime.setup.duration",
                "cog_runtime_setup_duration_seconds",
            ),
            ("cog.runtime.slot.count", "cog_runtime_slot_count"),
            ("model.token_count", "model_token_count_total"),
        ],
        promoted: &[
            ("service.name", "job"),
            ("cog.process.role", "cog_process_role"),
        ],
    },
    File {
        name: "baseten_custom_metrics.json",
        slug: "baseten",
        profile: Profile::Baseten,
        // The one point of the exponential histogram.
        rejected: 1,
        remark: "unsupported_type",
        renamed: &[
            ("model.cache.hits", "model_cache_hits_total"),
            ("model.cache.misses", "model_cache_misses_total"),
            (
                "model.validation.failures",
                "model_validation_failures_total",
            ),
            ("model.batch.size", "model_batch_size"),
            ("model.queue.depth", "model_queue_depth"),
            (
                "model.kv_cache.utilization",
                "model_kv_cache_utilization_ratio",
            ),
            ("model.inference.latency", ""),
        ],
        promoted: &[
            ("service.name", "job"),
            ("BT_MODEL_ID", "BT_MODEL_ID"),
            ("BT_MODEL_DEPLOYMENT_ID", "BT_MODEL_DEPLOYMENT_ID"),
        ],
    },
];

/// The time of every point in every file, nanoseconds since the epoch.
const STAMP: i128 = 1_793_534_400_000_000_000;

/// `request` with every time moved so that the points lie at `at` (milliseconds since the epoch).
pub(super) fn shifted(request: &Value, at: i64) -> Value {
    let by = i128::from(at) * 1_000_000 - STAMP;
    match request {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| {
                let value = match value {
                    Value::String(text) if name.ends_with("UnixNano") => {
                        Value::String((text.parse::<i128>().unwrap() + by).to_string())
                    }
                    other => shifted(other, at),
                };
                (name.clone(), value)
            })
            .collect(),
        Value::Array(items) => items.iter().map(|item| shifted(item, at)).collect(),
        other => other.clone(),
    }
}

/// Every series of the file with its one sample, at `at`.
pub(super) fn expected(file: &File, request: &Value, at: i64) -> Vector {
    let mut series = series(file.renamed, file.promoted, request, at);
    // What DCGM writes for "not known" is 2^63 as a double, and is not a measurement.
    series.retain(|_, (_, value)| value != "9223372036854776000");
    for resource in list(request, "resourceMetrics") {
        let attributes: Labels = attributes(&resource["resource"]).collect();
        series.extend(target_info(&attributes).map(|set| (set, (at, "1".to_owned()))));
    }
    series
}

/// The labels of a resource's `target_info`: every attribute, `job` for the service's name. A resource
/// without a service's name or without anything else has none; the files have no instance ids.
fn target_info(attributes: &Labels) -> Option<Labels> {
    let (job, others) = (attributes.get("service.name")?, attributes.len() - 1);
    let mut set = tests::ask::labels([("__name__", "target_info"), ("job", job)]);
    for (key, value) in attributes.iter().filter(|(key, _)| *key != "service.name") {
        set.insert(key.replace('.', "_"), value.clone());
    }
    (others > 0).then_some(set)
}

/// Every series of a request with its one sample, at `at`: metrics are `renamed` (to `""`: rejected) or
/// keep their names, resource attributes are `promoted` or dropped.
pub(crate) fn series(renamed: Pairs<'_>, promoted: Pairs<'_>, request: &Value, at: i64) -> Vector {
    let mut series = Vector::new();
    for resource in list(request, "resourceMetrics") {
        let shared = from_resource(promoted, &resource["resource"]);
        for scope in list(resource, "scopeMetrics") {
            for metric in list(scope, "metrics") {
                for (labels, value) in points(renamed, metric) {
                    let labels = shared.clone().into_iter().chain(labels).collect();
                    let before = series.insert(labels, (at, value));
                    assert!(before.is_none(), "the request has a series twice");
                }
            }
        }
    }
    series
}

fn from_resource(promoted: Pairs<'_>, resource: &Value) -> Labels {
    attributes(resource)
        .filter_map(|(key, value)| {
            let (_, label) = promoted.iter().find(|(known, _)| *known == key)?;
            Some(((*label).to_owned(), value))
        })
        .collect()
}

/// The series of one metric: labels with `__name__`, without the resource's, and the value.
fn points(renamed: Pairs<'_>, metric: &Value) -> Vec<(Labels, String)> {
    let name = metric["name"].as_str().unwrap();
    let family = renamed
        .iter()
        .find(|(known, _)| *known == name)
        .map_or(name, |(_, renamed)| renamed);
    let named = |suffix: &str, point: &Value, more: Option<(&str, String)>| -> Labels {
        attributes(point)
            .chain(more.map(|(key, value)| (key.to_owned(), value)))
            .chain([("__name__".to_owned(), format!("{family}{suffix}"))])
            .collect()
    };
    if family.is_empty() {
        return Vec::new();
    }
    if let Some(histogram) = metric.get("histogram") {
        let mut found = Vec::new();
        for point in list(histogram, "dataPoints") {
            let mut below = 0;
            for (bound, count) in list(point, "explicitBounds")
                .iter()
                .zip(list(point, "bucketCounts"))
            {
                below += count.as_str().unwrap().parse::<u64>().unwrap();
                let le = bound.as_f64().unwrap().to_string();
                found.push((named("_bucket", point, Some(("le", le))), below.to_string()));
            }
            let count = point["count"].as_str().unwrap().to_owned();
            let inf = named("_bucket", point, Some(("le", "+Inf".to_owned())));
            found.push((inf, count.clone()));
            found.push((named("_count", point, None), count));
            let sum = point["sum"].as_f64().unwrap().to_string();
            found.push((named("_sum", point, None), sum));
        }
        return found;
    }
    let numbers = metric.get("gauge").or(metric.get("sum")).unwrap();
    list(numbers, "dataPoints")
        .iter()
        .map(|point| (named("", point, None), number(point)))
        .collect()
}

/// A value as Prometheus writes it; the files hold none that needs an exponent.
fn number(point: &Value) -> String {
    match (point.get("asInt"), point.get("asDouble")) {
        (Some(whole), None) => whole.as_str().unwrap().to_owned(),
        (None, Some(double)) => double.as_f64().unwrap().to_string(),
        _ => panic!("a point needs one value: {point}"),
    }
}

/// Keys and values; the files hold only keys that are labels as they stand, except those in `promoted`.
fn attributes(of: &Value) -> impl Iterator<Item = (String, String)> {
    list(of, "attributes").iter().map(|attribute| {
        let key = attribute["key"].as_str().unwrap().to_owned();
        let value = attribute["value"]["stringValue"]
            .as_str()
            .unwrap()
            .to_owned();
        (key, value)
    })
}

fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of.get(name)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}
