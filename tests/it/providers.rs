//! Thirteen minutes of Cog's, Modal's and Baseten's metrics and the queries of their dashboards, with
//! values worked out by hand. All counters grow evenly; over `[5m]` a rate is the gain of a minute / 60.

use auth::translation::{NamingStrategy, Profile};
use serde_json::Value;
use tests::clock::{minutes_until, this_second};
use tests::keys::Keys;
use tests::otlp::{self, Pairs};
use tests::stack::Stack;

use crate::steps::{Expected, gives, range_equals_instants};

type Case = (&'static str, Expected<'static>);

#[tokio::test]
async fn the_dashboard_queries_give_the_values_worked_out_by_hand() {
    let (stack, (cog, modal, dotted, baseten)) = Stack::with(|directory| {
        let cog = directory.tenant_from("cog", Profile::Cog);
        let modal = directory.tenant_from("modal", Profile::Modal);
        let dotted = directory.ingest_naming("modal", NamingStrategy::NoTranslation);
        let baseten = directory.tenant_from("baseten", Profile::Baseten);
        (cog, modal, dotted, baseten)
    })
    .await;
    let times = minutes_until(this_second(), 13);
    for (k, ts) in (0..).zip(&times) {
        stack.ingest_with(&cog.ingest).all(&cog_minute(k, *ts)).await;
        stack.ingest_with(&modal.ingest).all(&modal_minute(*ts)).await;
        stack.ingest_with(&dotted).all(&modal_dotted(*ts)).await;
        stack.ingest_with(&baseten.ingest).all(&baseten_minute(k, *ts)).await;
    }
    check(&stack, &cog, &times, cog_cases()).await;
    check(&stack, &modal, &times, modal_cases()).await;
    check(&stack, &baseten, &times, baseten_cases()).await;
}

async fn check(stack: &Stack, keys: &Keys, times: &[i64], cases: &[Case]) {
    let ask = stack.ask_with(&keys.tenant, &keys.query);
    for (query, expected) in cases {
        gives(&ask, query, times[times.len() - 1], expected).await;
        range_equals_instants(&ask, query, times).await;
    }
}

/// A counter that had `base` at minute 0.
fn grown(labels: Pairs<'_>, ts: i64, base: f64, gain: f64, k: u32) -> Value {
    otlp::number(labels, ts, base + gain * f64::from(k))
}

/// A histogram that had run for 100 minutes at minute 0.
fn observed(labels: Pairs<'_>, ts: i64, bounds: &[f64], gains: &[u64], k: u32) -> Value {
    let counts: Vec<u64> = gains.iter().map(|gain| gain * u64::from(100 + k)).collect();
    otlp::observations(labels, ts, 1.0, bounds, &counts)
}

fn cog_minute(k: u32, ts: i64) -> Value {
    let status = |status| [("operation", "predict"), ("status", status)];
    let reason = |reason| [("operation", "predict"), ("reason", reason)];
    let slot = |state, value| otlp::number(&[("state", state)], ts, value);
    let parent = [
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
                observed(&status("succeeded"), ts, &[0.5, 1.0, 2.5, 5.0], &[0, 30, 24, 6, 0], k),
                observed(&status("failed"), ts, &[0.5, 1.0, 2.5, 5.0], &[3, 0, 0, 0, 0], k),
            ],
        ),
        otlp::gauge(
            "cog.runtime.slot.count",
            "{slot}",
            &[slot("available", 1.0), slot("busy", 2.0), slot("poisoned", 1.0)],
        ),
    ];
    let worker = [otlp::counter("model.token_count", "", &[grown(&[], ts, 6e4, 6000.0, k)])];
    let role = |role| [("service.name", "my-model"), ("cog.process.role", role)];
    serde_json::json!({"resourceMetrics": [
        otlp::resource_metrics(&role("parent"), &parent),
        otlp::resource_metrics(&role("worker"), &worker),
    ]})
}

fn cog_cases() -> &'static [Case] {
    &[
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
        ("max(cog_runtime_slot_count{state=\"poisoned\"}) > 0", &[(&[], 1.0)]),
        // 2 of 4
        ("sum(cog_runtime_prediction_active) / sum(cog_runtime_slot_count)", &[(&[], 0.5)]),
        // A minute's window holds one sample of a push every minute, and one makes no rate.
        ("rate(model_token_count_total[1m])", &[]),
        // Parent and worker are told apart.
        (
            "rate(model_token_count_total[5m])",
            &[(&[("cog_process_role", "worker"), ("job", "my-model")], 100.0)],
        ),
    ]
}

const APP: (&str, &str) = ("app_name", "app");
const WORKSPACE: (&str, &str) = ("workspace_name", "w");

fn modal_minute(ts: i64) -> Value {
    let container = |function, id, value| {
        let labels = [APP, WORKSPACE, ("environment_name", "main"), ("function_name", function), ("container_id", id)];
        otlp::number(&labels, ts, value)
    };
    let three = |name: &str, values: [f64; 3]| {
        let points = [
            container("f1", "c1", values[0]),
            container("f1", "c2", values[1]),
            container("f2", "c3", values[2]),
        ];
        otlp::gauge(name, "", &points)
    };
    let start = |function, sum, count| {
        otlp::observations(&[APP, ("function_name", function)], ts, sum, &[1e6], &[0, count])
    };
    otlp::request(
        &[],
        &[
            three("modal.gpu.compute.utilization", [50.0, 70.0, 10.0]),
            three("modal.memory.usage", [104_857_600.0, 314_572_800.0, 1_048_576.0]),
            three("modal.function.pending_inputs", [4.0, 0.0, 1.0]),
            otlp::histogram(
                "modal.input_events.coldstart_time_us",
                "",
                &[start("f1", 4e6, 2), start("f2", 5e5, 1)],
            ),
        ],
    )
}

/// The same exporter with a key that keeps names as they are.
fn modal_dotted(ts: i64) -> Value {
    let points = [
        otlp::observations(&[APP], ts, 9.0, &[5.0], &[2, 3]),
        otlp::observations(&[("app_name", "other")], ts, 9.0, &[5.0], &[1, 0]),
    ];
    otlp::request(&[], &[otlp::histogram("modal.input_events.elapsed_time_us", "", &points)])
}

fn modal_cases() -> &'static [Case] {
    &[
        (
            "avg by (function_name) (modal_gpu_compute_utilization{app_name=~\".*\",function_name=~\".*\",workspace_name=~\".*\",environment_name=~\".*\"})",
            &[(&[("function_name", "f1")], 60.0), (&[("function_name", "f2")], 10.0)],
        ),
        // 4 s over 2 starts, half a second over 1, in milliseconds.
        (
            "(sum by (function_name) (modal_input_events_coldstart_time_us_sum) / sum by (function_name) (modal_input_events_coldstart_time_us_count)) / 1000",
            &[(&[("function_name", "f1")], 2000.0), (&[("function_name", "f2")], 500.0)],
        ),
        // (100 + 300) / 2 MiB
        (
            "avg by (function_name) (modal_memory_usage{app_name=~\".*\"}) / 1048576",
            &[(&[("function_name", "f1")], 200.0), (&[("function_name", "f2")], 1.0)],
        ),
        (
            "count by (app_name, function_name) (modal_function_pending_inputs)",
            &[
                (&[APP, ("function_name", "f1")], 2.0),
                (&[APP, ("function_name", "f2")], 1.0),
            ],
        ),
        // 2 + 3 and 1
        ("sum({\"modal.input_events.elapsed_time_us_count\", app_name=~\".*\"})", &[(&[], 6.0)]),
        (
            "{\"modal.input_events.elapsed_time_us_count\", app_name=\"app\"}",
            &[(&[("__name__", "modal.input_events.elapsed_time_us_count"), APP], 5.0)],
        ),
    ]
}

fn baseten_minute(k: u32, ts: i64) -> Value {
    let requests = |code, base, gain| grown(&[("model_name", "m"), ("status_code", code)], ts, base, gain, k);
    let replicas = |model, deployment, value| {
        otlp::number(&[("model_name", model), ("deployment_id", deployment)], ts, value)
    };
    let scraped = [
        otlp::counter(
            "baseten_inference_requests_total",
            "",
            &[requests("200", 570.0, 57.0), requests("503", 20.0, 2.0), requests("500", 10.0, 1.0)],
        ),
        otlp::counter(
            "baseten_incoming_inference_requests_total",
            "",
            &[grown(&[("model_name", "m")], ts, 600.0, 60.0, k)],
        ),
        otlp::histogram(
            "baseten_end_to_end_response_time_seconds",
            "s",
            &[observed(&[("model_name", "m")], ts, &[0.1, 1.0, 10.0], &[0, 60, 0, 0], k)],
        ),
        otlp::gauge(
            "baseten_replicas_active",
            "",
            &[replicas("m", "d1", 3.0), replicas("m", "d2", 1.0), replicas("n", "d3", 0.0)],
        ),
    ];
    let own = [
        otlp::counter("model.cache.hits", "{hit}", &[grown(&[("cache", "prefix")], ts, 450.0, 45.0, k)]),
        otlp::counter("model.cache.misses", "{miss}", &[grown(&[("cache", "prefix")], ts, 150.0, 15.0, k)]),
    ];
    serde_json::json!({"resourceMetrics": [
        otlp::resource_metrics(&[], &scraped),
        otlp::resource_metrics(&[("BT_MODEL_ID", "abcd1234")], &own),
    ]})
}

fn baseten_cases() -> &'static [Case] {
    &[
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
        ("sum(rate(baseten_incoming_inference_requests_total[1m]))", &[]),
        // 45 of 60
        (
            "sum by (BT_MODEL_ID) (rate(model_cache_hits_total[5m])) / (sum by (BT_MODEL_ID) (rate(model_cache_hits_total[5m])) + sum by (BT_MODEL_ID) (rate(model_cache_misses_total[5m])))",
            &[(&[("BT_MODEL_ID", "abcd1234")], 0.75)],
        ),
    ]
}
