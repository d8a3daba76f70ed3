//! Cog's runtime metrics, and the queries on them.

use serde_json::{Value, json};
use tests::otlp;

use super::{Case, grown, observed};

/// The push of minute `k`, at `ts`: a parent and a worker that share a service name.
pub(super) fn minute(k: u32, ts: i64) -> Value {
    let worker = [otlp::counter(
        "model.token_count",
        "",
        &[grown(&[], ts, 6e4, 6000.0, k)],
    )];
    let role = |role| [("service.name", "my-model"), ("cog.process.role", role)];
    json!({"resourceMetrics": [
        otlp::resource_metrics(&role("parent"), &parent(k, ts)),
        otlp::resource_metrics(&role("worker"), &worker),
    ]})
}

const BOUNDS: &[f64] = &[0.5, 1.0, 2.5, 5.0];

fn parent(k: u32, ts: i64) -> [Value; 5] {
    let status = |status| [("operation", "predict"), ("status", status)];
    let reason = |reason| [("operation", "predict"), ("reason", reason)];
    let slot = |state, value| otlp::number(&[("state", state)], ts, value);
    [
        otlp::counter(
            "cog.runtime.prediction.count",
            "{prediction}",
            &[
                grown(&status("succeeded"), ts, 600.0, 60.0, k),
                grown(&status("failed"), ts, 30.0, 3.0, k),
                grown(&status("canceled"), ts, 3.0, 0.0, k),
            ],
        ),
        otlp::counter(
            "cog.runtime.prediction.rejected",
            "{prediction}",
            &[
                grown(&reason("at_capacity"), ts, 210.0, 21.0, k),
                grown(&reason("not_ready"), ts, 1.0, 0.0, k),
            ],
        ),
        otlp::sum(
            "cog.runtime.prediction.active",
            "{prediction}",
            &[otlp::number(&[("operation", "predict")], ts, 2.0)],
            false,
        ),
        otlp::histogram(
            "cog.runtime.prediction.duration",
            "s",
            &[
                observed(&status("succeeded"), ts, BOUNDS, &[0, 30, 24, 6, 0], k),
                observed(&status("failed"), ts, BOUNDS, &[3, 0, 0, 0, 0], k),
            ],
        ),
        otlp::gauge(
            "cog.runtime.slot.count",
            "{slot}",
            &[
                slot("available", 1.0),
                slot("busy", 2.0),
                slot("poisoned", 1.0),
            ],
        ),
    ]
}

pub(super) const CASES: &[Case] = &[
    (
        "sum by (status) (rate(cog_runtime_prediction_count_total[5m]))",
        &[
            (&[("status", "succeeded")], 1.0),
            (&[("status", "failed")], 0.05),
            (&[("status", "canceled")], 0.0),
        ],
    ),
    // .35 of (1.05 + .35)
    (
        "sum(rate(cog_runtime_prediction_rejected_total{reason=\"at_capacity\"}[5m])) / (sum(rate(cog_runtime_prediction_count_total[5m])) + sum(rate(cog_runtime_prediction_rejected_total[5m])))",
        &[(&[], 0.25)],
    ),
    // A second, up to .5, 1, 2.5, 5: 0, .5, .9, 1. Rank .95 is half of what lies above 2.5.
    (
        "histogram_quantile(0.95, sum by (le, operation) (rate(cog_runtime_prediction_duration_seconds_bucket{status=\"succeeded\"}[5m])))",
        &[(&[("operation", "predict")], 3.75)],
    ),
    (
        "sum by (state) (cog_runtime_slot_count)",
        &[
            (&[("state", "available")], 1.0),
            (&[("state", "busy")], 2.0),
            (&[("state", "poisoned")], 1.0),
        ],
    ),
    (
        "max(cog_runtime_slot_count{state=\"poisoned\"}) > 0",
        &[(&[], 1.0)],
    ),
    // 2 of 4
    (
        "sum(cog_runtime_prediction_active) / sum(cog_runtime_slot_count)",
        &[(&[], 0.5)],
    ),
    // A minute's window holds one sample of a push every minute, and one makes no rate.
    ("rate(model_token_count_total[1m])", &[]),
    // Parent and worker are told apart.
    (
        "rate(model_token_count_total[5m])",
        &[(
            &[("cog_process_role", "worker"), ("job", "my-model")],
            100.0,
        )],
    ),
];
