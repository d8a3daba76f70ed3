//! Cerebrium's documented metrics: 13 points an app, which a store holds as 77 samples.

use super::growth::{ONE, draw};
use super::metric::{Metric, Model};
use super::{Pair, Source};

/// Milliseconds: 15 buckets.
const BOUNDS: &[f64] = &[
    5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2500.0, 5000.0, 7500.0,
    10000.0,
];

const EXECUTION: &[u64] = &[0, 0, 2, 10, 40, 90, 330, 310, 120, 60, 40, 14, 5, 2, 1];
const QUEUE: &[u64] = &[220, 220, 330, 140, 60, 30, 16, 6, 2];
const COLDSTART: &[u64] = &[0, 0, 0, 0, 0, 0, 0, 20, 100, 200, 400, 204, 80, 20];
const RESPONSE: &[u64] = &[0, 0, 1, 6, 30, 80, 320, 330, 135, 70, 35, 11, 4, 1, 1];

const fn metric(
    name: &'static str,
    description: &'static str,
    unit: &'static str,
    model: Model,
) -> Metric {
    Metric {
        name,
        description,
        unit,
        suffixed: name,
        kept: name,
        variants: 1,
        model,
    }
}

const fn time(
    name: &'static str,
    suffixed: &'static str,
    description: &'static str,
    (share, spread): (u64, &'static [u64]),
) -> Metric {
    let model = Model::Histogram {
        share,
        bounds: BOUNDS,
        spread,
        per_unit: 1000.0,
    };
    Metric {
        suffixed,
        ..metric(name, description, "ms", model)
    }
}

const fn gauge(range: (f64, f64), per_unit: f64) -> Model {
    Model::Gauge { range, per_unit }
}

/// Bytes change by whole pages.
const PAGE: f64 = 1.0 / 4096.0;

/// What every app pushes.
pub(super) const METRICS: &[Metric] = &[
    metric(
        "cerebrium_cpu_utilization_cores",
        "CPU cores actively in use per app",
        "cores",
        gauge((0.1, 8.0), 100.0),
    ),
    metric(
        "cerebrium_memory_usage_bytes",
        "Memory actively in use per app",
        "bytes",
        gauge((1.0e9, 24.0e9), PAGE),
    ),
    metric(
        "cerebrium_gpu_memory_usage_bytes",
        "GPU VRAM in use per app",
        "bytes",
        gauge((4.0e9, 64.0e9), PAGE),
    ),
    metric(
        "cerebrium_gpu_compute_utilization_percent",
        "GPU compute utilization (0-100) per app",
        "percent",
        gauge((0.0, 100.0), 100.0),
    ),
    metric(
        "cerebrium_containers_running_count",
        "Number of running containers per app",
        "count",
        Model::Held { low: 0, high: 8 },
    ),
    metric(
        "cerebrium_containers_ready_count",
        "Number of ready containers per app",
        "count",
        Model::Held { low: 0, high: 8 },
    ),
    time(
        "cerebrium_run_execution_time_ms",
        "cerebrium_run_execution_time_ms_milliseconds",
        "Time spent executing user code",
        (ONE, EXECUTION),
    ),
    time(
        "cerebrium_run_queue_time_ms",
        "cerebrium_run_queue_time_ms_milliseconds",
        "Time spent waiting in queue",
        (ONE, QUEUE),
    ),
    time(
        "cerebrium_run_coldstart_time_ms",
        "cerebrium_run_coldstart_time_ms_milliseconds",
        "Time for container cold start",
        (ONE / 64, COLDSTART),
    ),
    time(
        "cerebrium_run_response_time_ms",
        "cerebrium_run_response_time_ms_milliseconds",
        "Total end-to-end response time",
        (ONE, RESPONSE),
    ),
    metric(
        "cerebrium_run_total",
        "Total run count",
        "",
        Model::Runs { share: ONE },
    ),
    metric(
        "cerebrium_run_successes_total",
        "Successful run count",
        "",
        Model::Runs {
            share: ONE * 49 / 50,
        },
    ),
    metric(
        "cerebrium_run_errors_total",
        "Failed run count",
        "",
        Model::Runs { share: ONE / 50 },
    ),
];

const REGIONS: [&str; 4] = ["us-east-1", "us-west-2", "eu-west-2", "ap-south-1"];
const NAMES: [&str; 6] = [
    "llm-chat",
    "sdxl-image",
    "whisper-stt",
    "embedder",
    "reranker",
    "tts",
];

pub(super) const IDENTIFYING: &[&str] = &["app_id"];

pub(super) fn run_label(run: &str) -> Pair {
    ("project_id", format!("p-load-{run}"))
}

pub(super) fn resource() -> Vec<Pair> {
    vec![("service.name", "cerebrium-metrics-exporter".to_owned())]
}

pub(super) fn attributes(run: &str, source: &Source) -> Vec<Pair> {
    let pick = |list: &[&str], what| {
        let length = u64::try_from(list.len()).unwrap_or(1);
        let at = usize::try_from(draw(u64::from(source.app), what) % length).unwrap_or(0);
        list.get(at).copied().unwrap_or_default().to_owned()
    };
    let name = pick(&NAMES, 1);
    vec![
        run_label(run),
        (
            "app_id",
            format!("p-load-{run}-{name}-{}-{}", source.app, source.generation),
        ),
        ("app_name", format!("{name}-{}", source.app)),
        ("region", pick(&REGIONS, 2)),
    ]
}
