//! Makes the pushes of the benchmark, always the same ones.

use std::io::Write;

use auth::translation::Profile;
use flate2::Compression;
use flate2::write::GzEncoder;
use gateway::decode::Encoding;
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

/// When the pushes arrive and their points were taken: 2026-11-01T12:00:00Z.
pub(crate) const NOW_MS: i64 = 1_793_534_400_000;
const NOW_NANOS: u64 = 1_793_534_400_000_000_000;
const STARTED: u64 = NOW_NANOS - 6 * 3600 * 1_000_000_000;

/// Pushes of one kind.
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) profile: Profile,
    pub(crate) encoding: Encoding,
    /// Samples of a push, as a Prometheus-like store would hold them.
    pub(crate) samples: usize,
    pub(crate) points: u64,
    /// The pushes, compressed.
    pub(crate) wire: Vec<Vec<u8>>,
}

/// Everything that is measured.
pub(crate) fn all() -> Vec<Scenario> {
    let cerebrium = |apps: u64| {
        let requests = (0..1000 / apps).map(|push| cerebrium(push * apps..(push + 1) * apps));
        scenario(
            "cerebrium",
            Profile::Cerebrium,
            apps,
            &requests.collect::<Vec<_>>(),
        )
    };
    vec![
        cerebrium(1),
        cerebrium(50),
        file("cerebrium_metrics.json", Profile::Cerebrium, 39, 255),
        scenario("dcgm", Profile::Crusoe, 8, &[dcgm(8)]),
        file("crusoe_dcgm_metrics.json", Profile::Crusoe, 209, 209),
    ]
}

fn scenario(
    name: &str,
    profile: Profile,
    of: u64,
    requests: &[ExportMetricsServiceRequest],
) -> Scenario {
    let (samples, points) = counts(&requests[0]);
    let wire = requests
        .iter()
        .map(|request| gzip(&request.encode_to_vec()));
    Scenario {
        name: format!("{name} of {of}, protobuf"),
        profile,
        encoding: Encoding::Protobuf,
        samples,
        points,
        wire: wire.collect(),
    }
}

/// A payload of the tests, without the white space in it.
fn file(name: &str, profile: Profile, points: u64, samples: usize) -> Scenario {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/payloads");
    let text = std::fs::read_to_string(format!("{folder}/{name}")).expect("a payload");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    Scenario {
        name: name.to_owned(),
        profile,
        encoding: Encoding::Json,
        samples,
        points,
        wire: vec![gzip(json.to_string().as_bytes())],
    }
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).expect("memory");
    encoder.finish().expect("memory")
}

fn counts(request: &ExportMetricsServiceRequest) -> (usize, u64) {
    let mut samples = 0;
    let mut points = 0;
    let scopes = request
        .resource_metrics
        .iter()
        .flat_map(|resource| &resource.scope_metrics);
    for metric in scopes.flat_map(|scope| &scope.metrics) {
        let (of_metric, all) = match metric.data.as_ref().expect("data") {
            Data::Gauge(gauge) => (gauge.data_points.len(), gauge.data_points.len()),
            Data::Sum(sum) => (sum.data_points.len(), sum.data_points.len()),
            Data::Histogram(histogram) => {
                let parts = |point: &HistogramDataPoint| point.bucket_counts.len() + 2;
                let points = &histogram.data_points;
                (points.len(), points.iter().map(parts).sum())
            }
            Data::ExponentialHistogram(_) | Data::Summary(_) => (0, 0),
        };
        points += u64::try_from(of_metric).expect("few");
        samples += all;
    }
    (samples, points)
}

/// Name, unit, help.
const GAUGES: [[&str; 3]; 6] = [
    [
        "cerebrium_cpu_utilization_cores",
        "cores",
        "CPU cores actively in use per app",
    ],
    [
        "cerebrium_memory_usage_bytes",
        "bytes",
        "Memory actively in use per app",
    ],
    [
        "cerebrium_gpu_memory_usage_bytes",
        "bytes",
        "GPU VRAM in use per app",
    ],
    [
        "cerebrium_gpu_compute_utilization_percent",
        "percent",
        "GPU compute utilization (0-100) per app",
    ],
    [
        "cerebrium_containers_running_count",
        "count",
        "Number of running containers per app",
    ],
    [
        "cerebrium_containers_ready_count",
        "count",
        "Number of ready containers per app",
    ],
];
const HISTOGRAMS: [[&str; 3]; 4] = [
    [
        "cerebrium_run_execution_time_ms",
        "ms",
        "Time spent executing user code",
    ],
    [
        "cerebrium_run_queue_time_ms",
        "ms",
        "Time spent waiting in queue",
    ],
    [
        "cerebrium_run_coldstart_time_ms",
        "ms",
        "Time for container cold start",
    ],
    [
        "cerebrium_run_response_time_ms",
        "ms",
        "Total end-to-end response time",
    ],
];
const SUMS: [[&str; 3]; 3] = [
    ["cerebrium_run_total", "", "Total run count"],
    ["cerebrium_run_successes_total", "", "Successful run count"],
    ["cerebrium_run_errors_total", "", "Failed run count"],
];
const BOUNDS: [f64; 14] = [
    5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2500.0, 5000.0, 7500.0,
    10000.0,
];

/// What Cerebrium's exporter sends of these apps.
fn cerebrium(apps: std::ops::Range<u64>) -> ExportMetricsServiceRequest {
    let mut metrics = Vec::new();
    for (at, words) in (0..).zip(GAUGES) {
        let points = apps.clone().map(|app| gauge(app, at)).collect();
        let gauge = Gauge {
            data_points: points,
        };
        metrics.push(metric(words, Data::Gauge(gauge)));
    }
    for (at, words) in (0..).zip(HISTOGRAMS) {
        let points = apps.clone().map(|app| histogram(app, at)).collect();
        let histogram = Histogram {
            data_points: points,
            aggregation_temporality: 2,
        };
        metrics.push(metric(words, Data::Histogram(histogram)));
    }
    for (at, words) in (0..).zip(SUMS) {
        let points = apps.clone().map(|app| counter(app, at)).collect();
        let sum = Sum {
            data_points: points,
            aggregation_temporality: 2,
            is_monotonic: true,
        };
        metrics.push(metric(words, Data::Sum(sum)));
    }
    let scope = InstrumentationScope {
        name: "cerebrium.metrics".to_owned(),
        version: "1.0.0".to_owned(),
        ..InstrumentationScope::default()
    };
    let resource = Resource {
        attributes: vec![text(
            "service.name",
            "cerebrium-metrics-exporter".to_owned(),
        )],
        ..Resource::default()
    };
    let scope_metrics = ScopeMetrics {
        scope: Some(scope),
        metrics,
        ..ScopeMetrics::default()
    };
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(resource),
            scope_metrics: vec![scope_metrics],
            ..ResourceMetrics::default()
        }],
    }
}

fn metric([name, unit, help]: [&str; 3], data: Data) -> Metric {
    Metric {
        name: name.to_owned(),
        unit: unit.to_owned(),
        description: help.to_owned(),
        data: Some(data),
        ..Metric::default()
    }
}

fn text(key: &str, value: String) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue {
            value: Some(Value::StringValue(value)),
        }),
        ..KeyValue::default()
    }
}

fn attributes(app: u64) -> Vec<KeyValue> {
    let project = format!(
        "p-{:08x}",
        (app / 7).wrapping_mul(0x9e37_79b9) & 0xffff_ffff
    );
    let region = ["us-east-1", "eu-west-2", "ap-south-1"][usize::try_from(app % 3).expect("small")];
    vec![
        text("project_id", project.clone()),
        text("app_id", format!("{project}-llm-chat-{app}")),
        text("app_name", format!("llm-chat-{app}")),
        text("region", region.to_owned()),
        text("gpu_type", "NVIDIA H100 80GB HBM3".to_owned()),
    ]
}

fn some(app: u64, at: u64) -> u64 {
    (app * 31 + at * 17 + 5).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

fn gauge(app: u64, at: u64) -> NumberDataPoint {
    NumberDataPoint {
        attributes: attributes(app),
        time_unix_nano: NOW_NANOS,
        value: Some(number_data_point::Value::AsDouble(
            some(app, at) as f64 / 64.0,
        )),
        ..NumberDataPoint::default()
    }
}

fn counter(app: u64, at: u64) -> NumberDataPoint {
    let value = i64::try_from(some(app, at)).expect("small");
    NumberDataPoint {
        start_time_unix_nano: STARTED,
        value: Some(number_data_point::Value::AsInt(value)),
        ..gauge(app, at)
    }
}

fn histogram(app: u64, at: u64) -> HistogramDataPoint {
    let counts: Vec<u64> = (0..15)
        .map(|bucket| {
            some(app, at * 15 + bucket)
                % [1, 9, 120, 700][usize::try_from(bucket % 4).expect("small")]
        })
        .collect();
    HistogramDataPoint {
        attributes: attributes(app),
        start_time_unix_nano: STARTED,
        time_unix_nano: NOW_NANOS,
        count: counts.iter().sum(),
        sum: Some(some(app, at) as f64 / 3.0),
        min: Some(some(app, at) as f64 / 1e6),
        max: Some(some(app, at) as f64 / 7.0),
        bucket_counts: counts,
        explicit_bounds: BOUNDS.to_vec(),
        ..HistogramDataPoint::default()
    }
}

/// What an agent on a machine with so many GPUs sends of them.
fn dcgm(gpus: u64) -> ExportMetricsServiceRequest {
    let fields = (0..30).map(|field| {
        let points = (0..gpus).map(|gpu| NumberDataPoint {
            attributes: of_gpu(gpu),
            ..gauge(gpu, field)
        });
        let gauge = Gauge {
            data_points: points.collect(),
        };
        let name = format!("DCGM_FI_DEV_FIELD_{field}");
        metric([&name, "", "What DCGM says of a GPU."], Data::Gauge(gauge))
    });
    let scope_metrics = ScopeMetrics {
        metrics: fields.collect(),
        ..ScopeMetrics::default()
    };
    let id = |letter: &str| format!("00000000-0000-4000-8000-0000000000{letter}0");
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(Resource {
                attributes: vec![
                    text("crusoe_org_id", id("c")),
                    text("crusoe_project_id", id("f")),
                ],
                ..Resource::default()
            }),
            scope_metrics: vec![scope_metrics],
            ..ResourceMetrics::default()
        }],
    }
}

fn of_gpu(gpu: u64) -> Vec<KeyValue> {
    vec![
        text("vm_id", "00000000-0000-4000-8000-00000000a001".to_owned()),
        text("crusoe_resource", "vm".to_owned()),
        text("instance", "h100-vm-01".to_owned()),
        text(
            "cluster_id",
            "00000000-0000-4000-8000-0000000000d0".to_owned(),
        ),
        text("nodepool", "h100-pool".to_owned()),
        text("vm_instance_type", "h100-80gb-sxm-ib.8x".to_owned()),
        text("gpu", gpu.to_string()),
        text("UUID", format!("GPU-00000000-0000-4000-8000-{gpu:012}")),
        text("pci_bus_id", format!("00000000:{gpu:02x}:00.0")),
        text("device", format!("nvidia{gpu}")),
        text("modelName", "NVIDIA H100 80GB HBM3".to_owned()),
        text("DCGM_FI_DRIVER_VERSION", "570.86.15".to_owned()),
    ]
}
