//! Model servers with a Python OpenTelemetry SDK: a resource each, a few custom metrics, no more.

use super::growth::ONE;
use super::metric::{Metric, Model};
use super::{Pair, Source};

/// Seconds, the bounds that model servers usually set.
const SECONDS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];
const LATENCY: &[u64] = &[0, 1, 8, 40, 130, 300, 280, 150, 70, 30, 10, 4, 1];
const SIZES: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
const SIZE: &[u64] = &[190, 170, 170, 230, 110, 150, 4];

const CACHES: [&str; 2] = ["prompt", "embedding"];
const ROUTES: [&str; 3] = ["/predict", "/embed", "/health"];

const fn metric(
    (name, kept, suffixed): (&'static str, &'static str, &'static str),
    (description, unit): (&'static str, &'static str),
    variants: u32,
    model: Model,
) -> Metric {
    Metric {
        name,
        description,
        unit,
        suffixed,
        kept,
        variants,
        model,
    }
}

/// What every process pushes.
pub(super) const METRICS: &[Metric] = &[
    metric(
        (
            "model.cache.hits",
            "model_cache_hits",
            "model_cache_hits_total",
        ),
        ("Cache hits", "{hit}"),
        2,
        Model::Runs { share: ONE },
    ),
    metric(
        (
            "model.cache.misses",
            "model_cache_misses",
            "model_cache_misses_total",
        ),
        ("Cache misses", "{miss}"),
        2,
        Model::Runs { share: ONE / 8 },
    ),
    metric(
        ("model.batch.size", "model_batch_size", "model_batch_size"),
        ("Requests per batch", "{request}"),
        1,
        Model::Histogram {
            share: ONE / 4,
            bounds: SIZES,
            spread: SIZE,
            per_unit: 1000.0,
        },
    ),
    metric(
        (
            "model.queue.depth",
            "model_queue_depth",
            "model_queue_depth",
        ),
        ("Requests waiting in the server queue", "{request}"),
        1,
        Model::Held { low: 0, high: 20 },
    ),
    metric(
        (
            "model.kv_cache.utilization",
            "model_kv_cache_utilization",
            "model_kv_cache_utilization_ratio",
        ),
        ("KV cache utilization (0-1)", "1"),
        1,
        Model::Gauge {
            range: (0.0, 1.0),
            per_unit: 10_000.0,
        },
    ),
    metric(
        (
            "http.server.request.duration",
            "http_server_request_duration",
            "http_server_request_duration_seconds",
        ),
        ("Duration of HTTP server requests", "s"),
        3,
        Model::Histogram {
            share: ONE,
            bounds: SECONDS,
            spread: LATENCY,
            per_unit: 1_000_000.0,
        },
    ),
];

pub(super) const IDENTIFYING: &[&str] = &["BT_MODEL_DEPLOYMENT_ID", "cache", "http_route"];

pub(super) fn run_label(run: &str) -> Pair {
    ("BT_MODEL_ID", format!("model-{run}"))
}

/// Labels of the resource that stores make by themselves.
pub(super) fn promoted(run: &str, source: &Source) -> Vec<Pair> {
    vec![
        run_label(run),
        (
            "BT_MODEL_DEPLOYMENT_ID",
            format!("w-{run}-{}-{}", source.app, source.generation),
        ),
    ]
}

pub(super) fn resource(run: &str, source: &Source) -> Vec<Pair> {
    let mut pairs = vec![
        ("service.name", "ranker-model-server".to_owned()),
        (
            "service.instance.id",
            format!("{run}-{}-{}", source.app, source.generation),
        ),
        ("telemetry.sdk.name", "opentelemetry".to_owned()),
        ("telemetry.sdk.language", "python".to_owned()),
        ("telemetry.sdk.version", "1.44.0".to_owned()),
    ];
    pairs.extend(promoted(run, source));
    pairs
}

pub(super) fn attributes(metric: &Metric, variant: u32) -> Vec<Pair> {
    let nth = |list: &[&str]| {
        let at = usize::try_from(variant).unwrap_or(0);
        list.get(at).copied().unwrap_or_default().to_owned()
    };
    match metric.variants {
        2 => vec![("cache", nth(&CACHES))],
        3 => vec![
            ("http.route", nth(&ROUTES)),
            ("http.request.method", "POST".to_owned()),
        ],
        _ => Vec::new(),
    }
}
