//! Thirteen minutes of Cerebrium's metrics and the queries of its dashboards, with values worked out by
//! hand.

use auth::translation::Profile;
use serde_json::Value;
use tests::ask::Ask;
use tests::clock::{MINUTE, minutes_until, this_second};
use tests::otlp::{self, Pairs};
use tests::stack::Stack;

use crate::payloads::model;
use crate::steps::{gives, range_equals_instants};

const A: Pairs<'static> = &[
    ("project_id", "p-1"),
    ("app_id", "p-1-east"),
    ("app_name", "my-model"),
    ("region", "us-east-1"),
];
const B: Pairs<'static> = &[
    ("project_id", "p-1"),
    ("app_id", "p-1-north"),
    ("app_name", "my-model"),
    ("region", "eu-north-1"),
];
/// An app that nobody calls.
const QUIET: Pairs<'static> = &[
    ("project_id", "p-1"),
    ("app_id", "p-1-quiet"),
    ("app_name", "quiet"),
    ("region", "us-east-1"),
];
const APPS: [Pairs<'static>; 3] = [A, B, QUIET];

/// Milliseconds.
const BOUNDS: [f64; 6] = [100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0];

/// What the cumulative metrics of an app gain a minute.
struct Gains {
    runs: f64,
    errors: f64,
    /// Runs per bucket, by execution time.
    execution: [u64; 7],
    /// Runs per bucket, by response time.
    response: [u64; 7],
    /// Cold starts per bucket.
    coldstart: [u64; 7],
    /// Milliseconds.
    coldstart_sum: f64,
}

const GAINS: [Gains; 3] = [
    Gains {
        runs: 60.0,
        errors: 3.0,
        execution: [0, 6, 24, 24, 6, 0, 0],
        response: [0, 0, 30, 30, 0, 0, 0],
        coldstart: [0, 0, 0, 0, 2, 0, 0],
        coldstart_sum: 5000.0,
    },
    Gains {
        runs: 30.0,
        errors: 6.0,
        execution: [0, 0, 6, 12, 12, 0, 0],
        response: [30, 0, 0, 0, 0, 0, 0],
        coldstart: [0, 0, 0, 1, 0, 0, 0],
        coldstart_sum: 900.0,
    },
    Gains {
        runs: 0.0,
        errors: 0.0,
        execution: [0; 7],
        response: [0; 7],
        coldstart: [0; 7],
        coldstart_sum: 0.0,
    },
];

/// The push of minute `k` (0 to 12), at `ts`.
fn minute(k: u32, ts: i64) -> Value {
    let mut metrics = gauges(f64::from(k), ts);
    metrics.extend(counters(f64::from(k), ts));
    metrics.extend(histograms(k, ts));
    otlp::request(&[], &metrics)
}

fn gauges(k: f64, ts: i64) -> Vec<Value> {
    let gauge = |name: &str, unit: &str, values: [f64; 3]| {
        let points: Vec<Value> = APPS
            .iter()
            .zip(values)
            .map(|(app, value)| otlp::number(app, ts, value))
            .collect();
        otlp::gauge(&format!("cerebrium_{name}"), unit, &points)
    };
    vec![
        gauge("cpu_utilization_cores", "cores", [1.5, 0.25, 0.0]),
        gauge(
            "memory_usage_bytes",
            "bytes",
            [19_327_352_832.0, 1024.0, 512.0],
        ),
        gauge(
            "gpu_memory_usage_bytes",
            "bytes",
            [61_203_283_968.0, 2048.0, 0.0],
        ),
        // 80, 60 and 0 at the end.
        gauge(
            "gpu_compute_utilization_percent",
            "percent",
            [44.0 + 3.0 * k, 36.0 + 2.0 * k, 0.0],
        ),
        gauge("containers_running_count", "count", [3.0, 2.0, 0.0]),
        gauge("containers_ready_count", "count", [2.0, 2.0, 0.0]),
    ]
}

fn counters(k: f64, ts: i64) -> Vec<Value> {
    let counter = |name: &str, base: f64, gain: fn(&Gains) -> f64| {
        let points: Vec<Value> = APPS
            .iter()
            .zip(&GAINS)
            .map(|(app, gains)| otlp::number(app, ts, base + k * gain(gains)))
            .collect();
        otlp::counter(&format!("cerebrium_run_{name}"), "", &points)
    };
    vec![
        counter("total", 1000.0, |gains| gains.runs),
        counter("successes_total", 900.0, |gains| gains.runs - gains.errors),
        counter("errors_total", 100.0, |gains| gains.errors),
    ]
}

fn histograms(k: u32, ts: i64) -> Vec<Value> {
    let histogram = |name: &str, counts: fn(&Gains) -> [u64; 7], sum: fn(&Gains) -> f64| {
        let points: Vec<Value> = APPS
            .iter()
            .zip(&GAINS)
            .map(|(app, gains)| {
                // As if the exporter had run for 100 minutes before.
                let minutes = u64::from(100 + k);
                let counts = counts(gains).map(|count| count * minutes);
                otlp::observations(app, ts, sum(gains) * f64::from(100 + k), &BOUNDS, &counts)
            })
            .collect();
        otlp::histogram(&format!("cerebrium_run_{name}_time_ms"), "ms", &points)
    };
    vec![
        histogram(
            "execution",
            |gains| gains.execution,
            |gains| gains.runs * 700.0,
        ),
        histogram("queue", |gains| gains.execution, |gains| gains.runs * 10.0),
        histogram(
            "response",
            |gains| gains.response,
            |gains| gains.runs * 710.0,
        ),
        histogram(
            "coldstart",
            |gains| gains.coldstart,
            |gains| gains.coldstart_sum,
        ),
    ]
}

/// `pairs` and a metric name.
macro_rules! named {
    ($name:literal, $pairs:expr) => {
        &[
            ("__name__", $name),
            $pairs[0],
            $pairs[1],
            $pairs[2],
            $pairs[3],
        ]
    };
}

const MY_MODEL: Pairs<'static> = &[("app_name", "my-model")];
const QUIET_NAME: Pairs<'static> = &[("app_name", "quiet")];

#[tokio::test]
async fn the_dashboard_queries_give_the_values_worked_out_by_hand() {
    let (stack, keys) =
        Stack::with(|directory| directory.tenant_from("cerebrium", Profile::Cerebrium)).await;
    let ask = stack.ask_with(&keys.tenant, &keys.query);
    let times = minutes_until(this_second(), 13);
    let gateway = stack.ingest_with(&keys.ingest);
    for (k, ts) in (0..).zip(&times) {
        gateway.all(&minute(k, *ts)).await;
    }
    let at = times[12];
    utilisation(&ask, at).await;
    rates(&ask, at).await;
    quantiles(&ask, at).await;
    panels(&ask, at).await;
    everything(&ask, at).await;
    lookback_ends_after_five_minutes(&ask, at).await;
    let mut compared = 0;
    for query in QUERIES {
        compared += range_equals_instants(&ask, query, &times).await;
        // And at steps that no push met.
        let between: Vec<i64> = (0..5).map(|step| times[2] + step * 97_000).collect();
        compared += range_equals_instants(&ask, query, &between).await;
    }
    assert!(compared > 1000, "only {compared} values were compared");
}

/// The 13 queries of Cerebrium's page and the panels beside them, with their placeholders filled.
const QUERIES: &[&str] = &[
    "avg by (app_name) (cerebrium_gpu_compute_utilization_percent)",
    "histogram_quantile(0.95, sum by (le, app_name) (rate(cerebrium_run_execution_time_ms_milliseconds_bucket[5m])))",
    "sum by (app_name) (rate(cerebrium_run_errors_total[5m])) / sum by (app_name) (rate(cerebrium_run_total[5m]))",
    "sum by (app_name) (cerebrium_containers_running_count)",
    "cerebrium_cpu_utilization_cores{project_id=\"p-1\"}",
    "cerebrium_memory_usage_bytes{app_name=\"my-model\"}",
    "cerebrium_containers_running_count{project_id=\"p-1\"}",
    "rate(cerebrium_run_total[5m])",
    "histogram_quantile(0.99, rate(cerebrium_run_execution_time_ms_milliseconds_bucket{app_name=\"my-model\"}[5m]))",
    "histogram_quantile(0.99, rate(cerebrium_run_response_time_ms_milliseconds_bucket{app_name=\"my-model\"}[5m]))",
    "rate(cerebrium_run_errors_total{app_name=\"my-model\"}[5m]) / rate(cerebrium_run_total{app_name=\"my-model\"}[5m]) * 100",
    "rate(cerebrium_run_coldstart_time_ms_milliseconds_sum{app_name=\"my-model\"}[5m]) / rate(cerebrium_run_coldstart_time_ms_milliseconds_count{app_name=\"my-model\"}[5m])",
    "{__name__=~\"cerebrium_.*\"}",
    "cerebrium_containers_running_count - cerebrium_containers_ready_count",
    "increase(cerebrium_run_coldstart_time_ms_milliseconds_count[1h])",
    "sum(increase(cerebrium_run_successes_total[1d])) / sum(increase(cerebrium_run_total[1d]))",
    "absent_over_time(cerebrium_run_total[5m])",
];

async fn utilisation(ask: &Ask, at: i64) {
    // (80 + 60) / 2
    gives(ask, QUERIES[0], at, &[(MY_MODEL, 70.0), (QUIET_NAME, 0.0)]).await;
    // 3 + 2
    gives(ask, QUERIES[3], at, &[(MY_MODEL, 5.0), (QUIET_NAME, 0.0)]).await;
    gives(
        ask,
        QUERIES[4],
        at,
        &[
            (named!("cerebrium_cpu_utilization_cores", A), 1.5),
            (named!("cerebrium_cpu_utilization_cores", B), 0.25),
            (named!("cerebrium_cpu_utilization_cores", QUIET), 0.0),
        ],
    )
    .await;
    gives(
        ask,
        QUERIES[5],
        at,
        &[
            (named!("cerebrium_memory_usage_bytes", A), 19_327_352_832.0),
            (named!("cerebrium_memory_usage_bytes", B), 1024.0),
        ],
    )
    .await;
    gives(
        ask,
        QUERIES[6],
        at,
        &[
            (named!("cerebrium_containers_running_count", A), 3.0),
            (named!("cerebrium_containers_running_count", B), 2.0),
            (named!("cerebrium_containers_running_count", QUIET), 0.0),
        ],
    )
    .await;
}

/// The window (T-300 s, T] holds five samples, T-240 s to T. The first lies 60 s after the window's
/// start, less than 1.1 sample intervals, so the growth is extrapolated over these 60 s:
/// gain × 4 × (240 + 60) / 240 / 300 = gain / 60.
async fn rates(ask: &Ask, at: i64) {
    // Errors (3 + 6) / 60 a second, runs (60 + 30) / 60 a second. Nothing over nothing is NaN.
    gives(
        ask,
        QUERIES[2],
        at,
        &[(MY_MODEL, 0.1), (QUIET_NAME, f64::NAN)],
    )
    .await;
    gives(ask, QUERIES[7], at, &[(A, 1.0), (B, 0.5), (QUIET, 0.0)]).await;
    // 3 / 60 and 6 / 30, in percent.
    gives(ask, QUERIES[10], at, &[(A, 5.0), (B, 20.0)]).await;
    // 5000 ms over 2 cold starts, 900 ms over 1.
    gives(ask, QUERIES[11], at, &[(A, 2500.0), (B, 900.0)]).await;
    let quiet = "rate(cerebrium_run_errors_total{app_name=\"quiet\"}[5m]) / rate(cerebrium_run_total{app_name=\"quiet\"}[5m]) * 100";
    gives(ask, quiet, at, &[(QUIET, f64::NAN)]).await;
}

async fn quantiles(ask: &Ask, at: i64) {
    // A second, up to 100, 250, 500, 1000, 2500 ms: A 0, .1, .5, .9, 1 and B 0, 0, .1, .3, .5, together
    // 0, .1, .6, 1.2, 1.5. Rank .95 × 1.5 = 1.425 is .225 of the .3 between 1000 and 2500 ms:
    // 1000 + 1500 × .75.
    gives(
        ask,
        QUERIES[1],
        at,
        &[(MY_MODEL, 2125.0), (QUIET_NAME, f64::NAN)],
    )
    .await;
    // A: rank .99 is .09 of .1: 1000 + 1500 × .9. B: rank .495 is .195 of .2: 1000 + 1500 × .975.
    gives(ask, QUERIES[8], at, &[(A, 2350.0), (B, 2462.5)]).await;
    // A: .5 below 500 ms, 1 below 1000: 500 + 500 × .98. B: all .5 below 100 ms: 100 × .99.
    gives(ask, QUERIES[9], at, &[(A, 990.0), (B, 99.0)]).await;
}

async fn panels(ask: &Ask, at: i64) {
    gives(ask, QUERIES[13], at, &[(A, 1.0), (B, 0.0), (QUIET, 0.0)]).await;
    // 12 minutes of data in the hour: gains of 24 and 12, extrapolated by half an interval at the start:
    // × (720 + 30) / 720.
    gives(ask, QUERIES[14], at, &[(A, 25.0), (B, 12.5), (QUIET, 0.0)]).await;
    // (57 + 24) / (60 + 30): every series is extrapolated by the same factor.
    gives(ask, QUERIES[15], at, &[(&[], 0.9)]).await;
    gives(ask, QUERIES[16], at, &[]).await;
    let gone = "absent_over_time(cerebrium_run_total{app_name=\"gone\"}[5m])";
    gives(ask, gone, at, &[(&[("app_name", "gone")], 1.0)]).await;
}

/// Query 13 gives every series of the last push, and only those.
async fn everything(ask: &Ask, at: i64) {
    let renamed = [
        (
            "cerebrium_run_execution_time_ms",
            "cerebrium_run_execution_time_ms_milliseconds",
        ),
        (
            "cerebrium_run_queue_time_ms",
            "cerebrium_run_queue_time_ms_milliseconds",
        ),
        (
            "cerebrium_run_response_time_ms",
            "cerebrium_run_response_time_ms_milliseconds",
        ),
        (
            "cerebrium_run_coldstart_time_ms",
            "cerebrium_run_coldstart_time_ms_milliseconds",
        ),
    ];
    let expected = model::series(&renamed, &[], &minute(12, at), at);
    // 3 apps × (9 numbers + 4 histograms × (7 buckets, count, sum)).
    assert_eq!(expected.len(), 135);
    assert_eq!(ask.instant(QUERIES[12], at).await, expected);
}

async fn lookback_ends_after_five_minutes(ask: &Ask, at: i64) {
    let query = QUERIES[3];
    let last = at + 5 * MINUTE - 1;
    gives(ask, query, last, &[(MY_MODEL, 5.0), (QUIET_NAME, 0.0)]).await;
    gives(ask, query, at + 5 * MINUTE, &[]).await;
}
