//! Thirteen minutes of Crusoe's GPU metrics and the queries of public DCGM dashboards, with values worked
//! out by hand.

use auth::translation::Profile;
use serde_json::Value;
use tests::ask::Ask;
use tests::clock::{minutes_until, this_second};
use tests::otlp::{self, Pairs};
use tests::stack::Stack;

use crate::steps::{Expected, gives, range_equals_instants};

/// Labels of a GPU; `Hostname`, `hostname`, `pod` and `host` are not among them, as Crusoe sends it.
macro_rules! gpu {
    ($host:literal, $number:literal, $vm:literal) => {
        &[
            ("UUID", concat!("GPU-", $host, "-", $number)),
            ("cluster", "c1"),
            ("gpu", $number),
            ("instance", $host),
            ("vm_id", $vm),
        ]
    };
}

const GPUS: [Pairs<'static>; 4] = [
    gpu!("h1", "0", "v1"),
    gpu!("h1", "1", "v1"),
    gpu!("h2", "0", "v2"),
    gpu!("h2", "1", "v2"),
];

/// A GPU's labels and a metric name.
macro_rules! named {
    ($name:literal, $gpu:expr) => {
        &[
            ("__name__", $name),
            GPUS[$gpu][0],
            GPUS[$gpu][1],
            GPUS[$gpu][2],
            GPUS[$gpu][3],
            GPUS[$gpu][4],
        ]
    };
}

/// The push of minute `k` (0 to 12), at `ts`.
fn minute(k: u32, ts: i64) -> Value {
    let k = f64::from(k);
    let mut metrics = gauges(k, ts);
    metrics.extend(counters(k, ts));
    metrics.extend(machine(k, ts));
    let without_instance = otlp::gauge(
        "DCGM_FI_DEV_MEMORY_TEMP",
        "",
        &[otlp::number(&[("gpu", "0")], ts, 33.0)],
    );
    serde_json::json!({"resourceMetrics": [
        // The forwarder's own id must not hide the machine's.
        otlp::resource_metrics(&[("service.instance.id", "forwarder-7")], &metrics),
        otlp::resource_metrics(&[], &[without_instance]),
    ]})
}

fn gauges(k: f64, ts: i64) -> Vec<Value> {
    let gauge = |name: &str, values: [f64; 4]| otlp::gauge(name, "", &per_gpu(ts, values));
    vec![
        gauge(
            "DCGM_FI_DEV_GPU_TEMP",
            [48.0 + k, 52.0 + k, 58.0 + k, 38.0 + k],
        ),
        gauge("DCGM_FI_DEV_MEMORY_TEMP", [77.0, 76.0, 43.0, 40.0]),
        gauge("DCGM_FI_DEV_POWER_USAGE", [300.5, 310.25, 650.0, 71.25]),
        gauge("DCGM_FI_DEV_SM_CLOCK", [1980.0, 1980.0, 1980.0, 345.0]),
        gauge("DCGM_FI_DEV_GPU_UTIL", [97.0, 96.0, 12.0, 0.0]),
        gauge("DCGM_FI_DEV_FB_USED", [74_211.0, 74_199.0, 9_120.0, 3.0]),
        gauge(
            "DCGM_FI_DEV_FB_FREE",
            [6_868.0, 6_880.0, 71_959.0, 81_076.0],
        ),
        gauge("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", [0.5, 0.25, 0.125, 0.0]),
        gauge("DCGM_FI_PROF_GR_ENGINE_ACTIVE", [0.9, 0.8, 0.125, 0.0]),
        gauge("DCGM_FI_DEV_XID_ERRORS", [0.0, 0.0, 0.0, 79.0]),
        gauge("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", [0.0, 0.0, 0.0, 4.0]),
    ]
}

/// Counters whose names end as Crusoe gives them, without `_total`.
fn counters(k: f64, ts: i64) -> Vec<Value> {
    let link: Vec<_> = GPUS[0].iter().copied().chain([("link", "3")]).collect();
    vec![
        otlp::counter(
            "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
            "",
            &per_gpu(ts, [0.0, 0.0, 0.0, k]),
        ),
        otlp::counter(
            "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
            "",
            &[otlp::number(&link, ts, 100.0 + 6.0 * k)],
        ),
        otlp::counter(
            "DCGM_FI_PROF_PCIE_TX_BYTES",
            "",
            &per_gpu(
                ts,
                [1.0, 2.0, 3.0, 4.0].map(|mib| 5e9 + k * 60.0 * mib * 1_048_576.0),
            ),
        ),
    ]
}

/// Metrics of the machine `v1`.
fn machine(k: f64, ts: i64) -> Vec<Value> {
    let one = |label: (&str, &str), value: f64| otlp::number(&[("vm_id", "v1"), label], ts, value);
    vec![
        otlp::counter(
            "crusoe_vm_cpu_seconds_total",
            "",
            &[
                one(("mode", "user"), 5000.0 + 30.0 * k),
                one(("mode", "system"), 4000.0 + 6.0 * k),
                one(("mode", "idle"), 3000.0 + 24.0 * k),
            ],
        ),
        otlp::gauge(
            "crusoe_vm_memory_used_bytes",
            "",
            &[one(("node", "n"), 536_870_912.0)],
        ),
        otlp::gauge(
            "crusoe_vm_memory_total_bytes",
            "",
            &[one(("node", "n"), 2_147_483_648.0)],
        ),
        otlp::counter(
            "crusoe_vm_network_receive_bytes_total",
            "",
            &[
                one(("device", "ens7"), 1e6 + 6000.0 * k),
                one(("device", "ens8"), 1e6 + 3000.0 * k),
            ],
        ),
        otlp::counter(
            "crusoe_ib_port_throughput_tx",
            "",
            &[one(("port", "0"), 1e6 + 300.0 * k)],
        ),
    ]
}

fn per_gpu(ts: i64, values: [f64; 4]) -> Vec<Value> {
    GPUS.iter()
        .zip(values)
        .map(|(gpu, value)| otlp::number(gpu, ts, value))
        .collect()
}

#[tokio::test]
async fn the_dashboard_queries_give_the_values_worked_out_by_hand() {
    let (stack, keys) =
        Stack::with(|directory| directory.tenant_from("crusoe", Profile::Crusoe)).await;
    let ask = stack.ask_with(&keys.tenant, &keys.query);
    let times = minutes_until(this_second(), 13);
    let gateway = stack.ingest_with(&keys.ingest);
    for (k, ts) in (0..).zip(&times) {
        gateway.all(&minute(k, *ts)).await;
    }
    let at = times[12];
    variables(&ask).await;
    let mut compared = 0;
    for (query, expected) in PANELS.iter().chain(PUBLIC).chain(CRUSOE) {
        gives(&ask, query, at, expected).await;
        compared += range_equals_instants(&ask, query, &times).await;
    }
    assert!(compared > 500, "only {compared} values were compared");
    // A window shorter than the push interval is empty between the pushes, and no error.
    let short = "avg(max_over_time(DCGM_FI_DEV_GPU_UTIL{cluster=\"c1\",gpu=~\"(0|1)\"}[29s]))";
    gives(&ask, short, at, &[(&[], 51.25)]).await;
    gives(&ask, short, at + 29_000, &[]).await;
}

/// `label_values(metric, label)` of Grafana.
async fn variables(ask: &Ask) {
    let of = [("match[]", "DCGM_FI_DEV_GPU_TEMP")];
    assert_eq!(
        ask.strings("/api/v1/label/instance/values", &of).await,
        ["h1", "h2"]
    );
    assert_eq!(
        ask.strings("/api/v1/label/gpu/values", &of).await,
        ["0", "1"]
    );
}

type Case = (&'static str, Expected<'static>);

/// Grafana 12239.
const PANELS: &[Case] = &[
    (
        "DCGM_FI_DEV_GPU_TEMP{instance=~\"(h1|h2)\", gpu=~\"0\"}",
        &[
            (named!("DCGM_FI_DEV_GPU_TEMP", 0), 60.0),
            (named!("DCGM_FI_DEV_GPU_TEMP", 2), 70.0),
        ],
    ),
    // (60 + 64 + 70 + 50) / 4
    (
        "avg(DCGM_FI_DEV_GPU_TEMP{instance=~\"(h1|h2)\", gpu=~\"(0|1)\"})",
        &[(&[], 61.0)],
    ),
    (
        "DCGM_FI_DEV_POWER_USAGE{instance=~\"h2\", gpu=~\"1\"}",
        &[(named!("DCGM_FI_DEV_POWER_USAGE", 3), 71.25)],
    ),
    // 300.5 + 310.25 + 650 + 71.25
    (
        "sum(DCGM_FI_DEV_POWER_USAGE{instance=~\"(h1|h2)\", gpu=~\"(0|1)\"})",
        &[(&[], 1332.0)],
    ),
    (
        "DCGM_FI_DEV_SM_CLOCK{instance=~\"h2\", gpu=~\"(0|1)\"} * 1000000",
        &[(GPUS[2], 1.98e9), (GPUS[3], 3.45e8)],
    ),
    (
        "DCGM_FI_DEV_GPU_UTIL{instance=~\"h1\", gpu=~\"1\"}",
        &[(named!("DCGM_FI_DEV_GPU_UTIL", 1), 96.0)],
    ),
    (
        "DCGM_FI_DEV_FB_USED{instance=~\"h1\", gpu=~\"0\"}",
        &[(named!("DCGM_FI_DEV_FB_USED", 0), 74_211.0)],
    ),
    (
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{instance=~\"h2\", gpu=~\"0\"}",
        &[(named!("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 2), 0.125)],
    ),
    // An empty variable finds the series without the label.
    (
        "DCGM_FI_DEV_MEMORY_TEMP{instance=~\"\", gpu=~\"0\"}",
        &[(
            &[("__name__", "DCGM_FI_DEV_MEMORY_TEMP"), ("gpu", "0")],
            33.0,
        )],
    ),
    // (33 + 77 + 43) / 3
    (
        "avg(DCGM_FI_DEV_MEMORY_TEMP{instance=~\".*\", gpu=~\"0\"})",
        &[(&[], 51.0)],
    ),
];

/// MiB: 74211 + 74199 + 9120 + 3.
const USED: f64 = 157_533.0;
/// MiB: 6868 + 6880 + 71959 + 81076.
const FREE: f64 = 166_783.0;

/// Other public dashboards.
const PUBLIC: &[Case] = &[
    (
        "(sum(DCGM_FI_DEV_FB_USED{instance=~\"h.*\"}) / (sum(DCGM_FI_DEV_FB_USED{instance=~\"h.*\"}) + sum(DCGM_FI_DEV_FB_FREE{instance=~\"h.*\"}))) * 100",
        &[(&[], USED / (USED + FREE) * 100.0)],
    ),
    // Every GPU has 81,079 MiB; no series has a label `host`, and nobody pushes nvidia_smi metrics.
    (
        "max by(host)(DCGM_FI_DEV_FB_USED{cluster=\"c1\"} / (DCGM_FI_DEV_FB_USED{cluster=\"c1\"} + DCGM_FI_DEV_FB_FREE{cluster=\"c1\"})) or max by(host)(nvidia_smi_memory_used_bytes / nvidia_smi_memory_total_bytes)",
        &[(&[], 74_211.0 / 81_079.0)],
    ),
    // (97 + 96 + 12 + 0) / 4
    (
        "avg(max_over_time(DCGM_FI_DEV_GPU_UTIL{cluster=\"c1\",gpu=~\"(0|1)\"}[29s]))",
        &[(&[], 51.25)],
    ),
    // (.5 + .25 + .125 + 0) / 4
    (
        "topk(10, avg by (pod) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{namespace=~\".*\"}) * 100)",
        &[(&[], 21.875)],
    ),
    (
        "topk(5, max_over_time((DCGM_FI_DEV_CLOCKS_EVENT_REASONS != 0)[5m:30s])) by (UUID, Hostname)",
        &[(GPUS[3], 4.0)],
    ),
    ("sum(DCGM_FI_DEV_FB_USED > 0)", &[(&[], USED)]),
    ("count(DCGM_FI_DEV_FB_FREE)", &[(&[], 4.0)]),
    // Without `hostname` the two hosts fall together: GPU 0 and GPU 1.
    (
        "count(count by (hostname, gpu) (DCGM_FI_DEV_SM_CLOCK))",
        &[(&[], 2.0)],
    ),
    (
        "sum by (UUID, Hostname) (rate(DCGM_FI_DEV_XID_ERRORS[5m]))",
        &[
            (&[("UUID", "GPU-h1-0")], 0.0),
            (&[("UUID", "GPU-h1-1")], 0.0),
            (&[("UUID", "GPU-h2-0")], 0.0),
            (&[("UUID", "GPU-h2-1")], 0.0),
        ],
    ),
    // From 0 to 12 in 12 minutes. A counter that began at 0 has nothing before its first sample, so
    // nothing is extrapolated: 12 / 3600.
    (
        "sum by (UUID) (rate(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL[1h]))",
        &[
            (&[("UUID", "GPU-h1-0")], 0.0),
            (&[("UUID", "GPU-h1-1")], 0.0),
            (&[("UUID", "GPU-h2-0")], 0.0),
            (&[("UUID", "GPU-h2-1")], 12.0 / 3600.0),
        ],
    ),
    // 6 a minute.
    (
        "sum by (UUID, link) (rate(DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL[5m]))",
        &[(&[("UUID", "GPU-h1-0"), ("link", "3")], 0.1)],
    ),
    // .125 stays, .9 does not; the right side has both GPUs 0 with less than 10737418240 (MiB).
    (
        "avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"0\"}[14d]) < 0.14 and avg_over_time(DCGM_FI_DEV_FB_USED{gpu=\"0\"}[14d]) < 10737418240",
        &[(GPUS[2], 0.125)],
    ),
    (
        "rate(DCGM_FI_PROF_PCIE_TX_BYTES[5m]) / 1048576",
        &[
            (GPUS[0], 1.0),
            (GPUS[1], 2.0),
            (GPUS[2], 3.0),
            (GPUS[3], 4.0),
        ],
    ),
    ("DCGM_FI_DEV_GPU_TEMP{instance=\"forwarder-7\"}", &[]),
];

/// Crusoe's own panels. A window of 2 minutes holds two samples a minute apart, the first a minute after
/// the window's start: rate = gain × (60 + 60) / 60 / 120 = gain / 60.
const CRUSOE: &[Case] = &[
    // (30 + 6) of (30 + 6 + 24)
    (
        "(sum(rate(crusoe_vm_cpu_seconds_total{vm_id=\"v1\",mode!=\"idle\"}[2m])) / sum(rate(crusoe_vm_cpu_seconds_total{vm_id=\"v1\"}[2m]))) * 100",
        &[(&[], 60.0)],
    ),
    // 512 MiB of 2 GiB
    (
        "(sum(crusoe_vm_memory_used_bytes{vm_id=\"v1\"}) / sum(crusoe_vm_memory_total_bytes{vm_id=\"v1\"})) * 100",
        &[(&[], 25.0)],
    ),
    // (6000 + 3000) / 60
    (
        "sum(rate(crusoe_vm_network_receive_bytes_total{vm_id=\"v1\"}[2m]))",
        &[(&[], 150.0)],
    ),
    // 300 / 60. The point has no `instance` of its own, so the forwarder's id stands.
    (
        "rate(crusoe_ib_port_throughput_tx[5m])",
        &[(
            &[("instance", "forwarder-7"), ("port", "0"), ("vm_id", "v1")],
            5.0,
        )],
    ),
    // (97 + 96) / 2
    ("avg(DCGM_FI_DEV_GPU_UTIL{vm_id=\"v1\"})", &[(&[], 96.5)]),
    ("max(DCGM_FI_DEV_GPU_TEMP{vm_id=\"v1\"})", &[(&[], 64.0)]),
    // (.5 + .25) / 2
    (
        "avg(DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{vm_id=\"v1\"}) * 100",
        &[(&[], 37.5)],
    ),
];
