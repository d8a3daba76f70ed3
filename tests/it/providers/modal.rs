//! Modal's metrics, and the queries on them.

use serde_json::Value;
use tests::otlp;

use super::Case;

const APP: (&str, &str) = ("app_name", "app");
const WORKSPACE: (&str, &str) = ("workspace_name", "w");

/// The push of any minute, at `ts`: three containers of two functions.
pub(super) fn minute(ts: i64) -> Value {
    let container = |function, id, value| {
        let labels = [
            APP,
            WORKSPACE,
            ("environment_name", "main"),
            ("function_name", function),
            ("container_id", id),
        ];
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
        otlp::observations(
            &[APP, ("function_name", function)],
            ts,
            sum,
            &[1e6],
            &[0, count],
        )
    };
    otlp::request(
        &[],
        &[
            three("modal.gpu.compute.utilization", [50.0, 70.0, 10.0]),
            three(
                "modal.memory.usage",
                [104_857_600.0, 314_572_800.0, 1_048_576.0],
            ),
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
pub(super) fn dotted(ts: i64) -> Value {
    let points = [
        otlp::observations(&[APP], ts, 9.0, &[5.0], &[2, 3]),
        otlp::observations(&[("app_name", "other")], ts, 9.0, &[5.0], &[1, 0]),
    ];
    otlp::request(
        &[],
        &[otlp::histogram(
            "modal.input_events.elapsed_time_us",
            "",
            &points,
        )],
    )
}

pub(super) const CASES: &[Case] = &[
    (
        "avg by (function_name) (modal_gpu_compute_utilization{app_name=~\".*\",function_name=~\".*\",workspace_name=~\".*\",environment_name=~\".*\"})",
        &[
            (&[("function_name", "f1")], 60.0),
            (&[("function_name", "f2")], 10.0),
        ],
    ),
    // 4 s over 2 starts, half a second over 1, in milliseconds.
    (
        "(sum by (function_name) (modal_input_events_coldstart_time_us_sum) / sum by (function_name) (modal_input_events_coldstart_time_us_count)) / 1000",
        &[
            (&[("function_name", "f1")], 2000.0),
            (&[("function_name", "f2")], 500.0),
        ],
    ),
    // (100 + 300) / 2 MiB
    (
        "avg by (function_name) (modal_memory_usage{app_name=~\".*\"}) / 1048576",
        &[
            (&[("function_name", "f1")], 200.0),
            (&[("function_name", "f2")], 1.0),
        ],
    ),
    (
        "count by (app_name, function_name) (modal_function_pending_inputs)",
        &[
            (&[APP, ("function_name", "f1")], 2.0),
            (&[APP, ("function_name", "f2")], 1.0),
        ],
    ),
    // 2 + 3 and 1
    (
        "sum({\"modal.input_events.elapsed_time_us_count\", app_name=~\".*\"})",
        &[(&[], 6.0)],
    ),
    (
        "{\"modal.input_events.elapsed_time_us_count\", app_name=\"app\"}",
        &[(
            &[
                ("__name__", "modal.input_events.elapsed_time_us_count"),
                APP,
            ],
            5.0,
        )],
    ),
];
