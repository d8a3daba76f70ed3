//! Baseten's metrics, and the queries on them.

use serde_json::{Value, json};
use tests::otlp;

use super::{Case, grown, observed};

/// The push of minute `k`, at `ts`: what a collector scrapes, and what the model pushes itself.
pub(super) fn minute(k: u32, ts: i64) -> Value {
    let requests = |code, base, gain| {
        grown(
            &[("model_name", "m"), ("status_code", code)],
            ts,
            base,
            gain,
            k,
        )
    };
    let replicas = |model, deployment, value| {
        otlp::number(
            &[("model_name", model), ("deployment_id", deployment)],
            ts,
            value,
        )
    };
    let scraped = [
        otlp::counter(
            "baseten_inference_requests_total",
            "",
            &[
                requests("200", 570.0, 57.0),
                requests("503", 20.0, 2.0),
                requests("500", 10.0, 1.0),
            ],
        ),
        otlp::counter(
            "baseten_incoming_inference_requests_total",
            "",
            &[grown(&[("model_name", "m")], ts, 600.0, 60.0, k)],
        ),
        otlp::histogram(
            "baseten_end_to_end_response_time_seconds",
            "s",
            &[observed(
                &[("model_name", "m")],
                ts,
                &[0.1, 1.0, 10.0],
                &[0, 60, 0, 0],
                k,
            )],
        ),
        otlp::gauge(
            "baseten_replicas_active",
            "",
            &[
                replicas("m", "d1", 3.0),
                replicas("m", "d2", 1.0),
                replicas("n", "d3", 0.0),
            ],
        ),
    ];
    json!({"resourceMetrics": [
        otlp::resource_metrics(&[], &scraped),
        otlp::resource_metrics(&[("BT_MODEL_ID", "abcd1234")], &own(k, ts)),
    ]})
}

fn own(k: u32, ts: i64) -> [Value; 2] {
    [
        otlp::counter(
            "model.cache.hits",
            "{hit}",
            &[grown(&[("cache", "prefix")], ts, 450.0, 45.0, k)],
        ),
        otlp::counter(
            "model.cache.misses",
            "{miss}",
            &[grown(&[("cache", "prefix")], ts, 150.0, 15.0, k)],
        ),
    ]
}

pub(super) const CASES: &[Case] = &[
    // 3 of 60
    (
        "sum(rate(baseten_inference_requests_total{status_code=~\"5..\"}[5m])) / sum(rate(baseten_inference_requests_total[5m]))",
        &[(&[], 0.05)],
    ),
    // Rank .99 of 1, all between .1 and 1: .1 + .9 × .99
    (
        "histogram_quantile(0.99, sum by (le, model_name) (rate(baseten_end_to_end_response_time_seconds_bucket[5m])))",
        &[(&[("model_name", "m")], 0.991)],
    ),
    (
        "sum by (model_name) (baseten_replicas_active)",
        &[(&[("model_name", "m")], 4.0), (&[("model_name", "n")], 0.0)],
    ),
    (
        "sum(rate(baseten_incoming_inference_requests_total[1m]))",
        &[],
    ),
    // 45 of 60
    (
        "sum by (BT_MODEL_ID) (rate(model_cache_hits_total[5m])) / (sum by (BT_MODEL_ID) (rate(model_cache_hits_total[5m])) + sum by (BT_MODEL_ID) (rate(model_cache_misses_total[5m])))",
        &[(&[("BT_MODEL_ID", "abcd1234")], 0.75)],
    ),
];
