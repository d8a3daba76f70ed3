//! Realistic pushes of each provider, checked by hand and against the same message as protobuf.

use std::collections::BTreeSet;

use auth::translation::{Profile, Translation};
use bumpalo::Bump;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use schemas::rows::{HistogramRow, SampleRow};

use super::build::{NOW_MS, Translated, run_as, run_json, written};
use crate::decode::{Encoding, generated, metrics};
use crate::translate::{Reason, Warning};

fn read(file: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/payloads");
    std::fs::read(format!("{folder}/{file}")).unwrap()
}

/// The message that a payload is, in the generated types.
fn payload(file: &str) -> ExportMetricsServiceRequest {
    let (body, arena) = (read(file), Bump::new());
    let decoded = metrics(Encoding::Json, &body, u64::MAX, &arena).unwrap();
    assert_eq!(decoded.warning, None);
    generated::of(&decoded.request)
}

fn pushed(file: &str, profile: Profile) -> Translated {
    run_as(&Translation::of(profile), payload(file))
}

/// The rows of a metric with a label of this value, with the series they belong to.
fn find<'b, R>(
    batch: &'b Translated,
    rows: &'b [R],
    key: impl Fn(&R) -> (&str, u64),
    series: &str,
) -> &'b R {
    let id = batch.series.iter().find(|row| written(row) == series);
    let id = id.unwrap_or_else(|| panic!("no {series} in {:#?}", super::all_written(batch)));
    rows.iter()
        .find(|row| key(row) == (id.metric.as_str(), id.id))
        .unwrap()
}

fn sample<'b>(batch: &'b Translated, series: &str) -> &'b SampleRow {
    find(batch, &batch.samples, |row| (&row.metric, row.id), series)
}

fn whole<'b>(batch: &'b Translated, series: &str) -> &'b HistogramRow {
    find(
        batch,
        &batch.histograms,
        |row| (&row.metric, row.id),
        series,
    )
}

fn names(batch: &Translated) -> Vec<&str> {
    let names: BTreeSet<_> = batch.series.iter().map(|row| row.metric.as_str()).collect();
    names.into_iter().collect()
}

#[test]
fn every_payload_gives_the_same_rows_from_json_and_from_protobuf() {
    for file in [
        "cerebrium_metrics.json",
        "crusoe_dcgm_metrics.json",
        "cog_runtime_metrics.json",
        "baseten_custom_metrics.json",
    ] {
        let (body, request) = (read(file), payload(file));
        for profile in [Profile::Generic, Profile::Crusoe, Profile::Cerebrium] {
            let translation = Translation::of(profile);
            let from_json = run_json(&translation, &body);
            assert!(
                from_json == run_as(&translation, request.clone()),
                "{file} {profile:?}"
            );
            assert!(from_json.tally.accepted() > 0);
        }
    }
}

#[test]
fn cerebriums_push_reads_as_its_documentation_promises() {
    let batch = pushed("cerebrium_metrics.json", Profile::Cerebrium);
    assert_eq!(
        (batch.tally.accepted(), batch.tally.partial_success()),
        (39, None)
    );
    assert_eq!(
        (
            batch.samples.len(),
            batch.histograms.len(),
            batch.series.len()
        ),
        (27, 12, 39)
    );
    let parts: usize = batch.histograms.iter().map(|row| row.pos.len() + 2).sum();
    assert_eq!(
        batch.samples.len() + parts,
        255,
        "as Prometheus counts series"
    );
    assert_eq!(
        names(&batch),
        [
            "cerebrium_containers_ready_count",
            "cerebrium_containers_running_count",
            "cerebrium_cpu_utilization_cores",
            "cerebrium_gpu_compute_utilization_percent",
            "cerebrium_gpu_memory_usage_bytes",
            "cerebrium_memory_usage_bytes",
            "cerebrium_run_coldstart_time_ms_milliseconds",
            "cerebrium_run_errors_total",
            "cerebrium_run_execution_time_ms_milliseconds",
            "cerebrium_run_queue_time_ms_milliseconds",
            "cerebrium_run_response_time_ms_milliseconds",
            "cerebrium_run_successes_total",
            "cerebrium_run_total",
        ]
    );
}

#[test]
fn cerebriums_points_keep_their_values_labels_and_start() {
    let batch = pushed("cerebrium_metrics.json", Profile::Cerebrium);
    let labels = r#"{app_id="p-synth0001-llm-chat", app_name="llm-chat", job="cerebrium-metrics-exporter-synthetic", project_id="p-synth0001", region="us-east-1"}"#;
    let cores = sample(&batch, &format!("cerebrium_cpu_utilization_cores{labels}"));
    assert_eq!((cores.value, cores.ts, cores.start_ts), (2.41, NOW_MS, 0));
    let runs = sample(&batch, &format!("cerebrium_run_total{labels}"));
    assert_eq!((runs.value, runs.start_ts), (420.0, 1_793_512_800_000));
    let times = whole(
        &batch,
        &format!("cerebrium_run_execution_time_ms_milliseconds{labels}"),
    );
    assert_eq!((times.count, times.sum), (420, Some(460_669.452)));
    assert_eq!(
        times.pos,
        [0, 0, 0, 0, 0, 0, 8, 62, 106, 63, 161, 18, 1, 1, 0, 0, 0]
    );
    assert_eq!((times.min, times.max), (Some(181.545), Some(7809.487)));
    let metadata = batch
        .metadata
        .iter()
        .find(|row| row.family == times.metric)
        .unwrap();
    assert_eq!(
        (metadata.kind.as_str(), metadata.unit.as_str()),
        ("histogram", "milliseconds")
    );
}

#[test]
fn crusoes_push_keeps_its_names_and_the_instance_of_each_point() {
    let batch = pushed("crusoe_dcgm_metrics.json", Profile::Crusoe);
    assert_eq!((batch.tally.received(), batch.tally.accepted()), (209, 209));
    assert_eq!(batch.tally.warned_of(Warning::SentinelDropped), 1);
    assert_eq!((batch.samples.len(), batch.histograms.len()), (208, 0));
    let sent = payload("crusoe_dcgm_metrics.json");
    let sent: BTreeSet<_> = sent.resource_metrics[0].scope_metrics[0]
        .metrics
        .iter()
        .map(|m| m.name.as_str())
        .collect();
    assert_eq!(names(&batch), sent.into_iter().collect::<Vec<_>>());
    let cpu = concat!(
        r#"crusoe_vm_cpu_seconds_total{cluster_id="00000000-0000-4000-8000-0000000000d0", cpu="0", "#,
        r#"crusoe_org_id="00000000-0000-4000-8000-0000000000c0", "#,
        r#"crusoe_project_id="00000000-0000-4000-8000-0000000000f0", crusoe_resource="vm", "#,
        r#"instance="synthetic-h100-vm-01", mode="user", nodepool="synthetic-h100-pool", "#,
        r#"vm_id="00000000-0000-4000-8000-00000000a001", vm_instance_type="h100-80gb-sxm-ib.8x"}"#
    );
    let row = sample(&batch, cpu);
    assert_eq!((row.value, row.start_ts), (412_345.21, 1_792_756_800_000));
    let gpu = batch
        .series
        .iter()
        .find(|row| row.metric == "DCGM_FI_DEV_GPU_UTIL")
        .unwrap();
    let keys: Vec<_> = gpu.labels.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "DCGM_FI_DRIVER_VERSION",
            "UUID",
            "cluster_id",
            "crusoe_org_id",
            "crusoe_project_id",
            "crusoe_resource",
            "device",
            "gpu",
            "instance",
            "modelName",
            "nodepool",
            "pci_bus_id",
            "vm_id",
            "vm_instance_type"
        ]
    );
    let kind = |name| {
        &batch
            .metadata
            .iter()
            .find(|row| row.family == name)
            .unwrap()
            .kind
    };
    assert_eq!(kind("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"), "counter");
    assert_eq!(kind("DCGM_FI_DEV_GPU_UTIL"), "gauge");
}

#[test]
fn cogs_push_keeps_parent_and_worker_apart() {
    let batch = pushed("cog_runtime_metrics.json", Profile::Cog);
    assert_eq!(
        (batch.tally.accepted(), batch.tally.partial_success()),
        (15, None)
    );
    assert_eq!((batch.samples.len(), batch.histograms.len()), (13, 4));
    assert_eq!(
        names(&batch),
        [
            "cog_runtime_prediction_active",
            "cog_runtime_prediction_count_total",
            "cog_runtime_prediction_duration_seconds",
            "cog_runtime_prediction_rejected_total",
            "cog_runtime_setup_duration_seconds",
            "cog_runtime_slot_count",
            "model_token_count_total",
            "target_info",
        ]
    );
    let worker = r#"model_token_count_total{cog_process_role="worker", job="my-model"}"#;
    assert_eq!(sample(&batch, worker).value, 48_213.0);
    let slots =
        r#"cog_runtime_slot_count{cog_process_role="parent", job="my-model", state="available"}"#;
    assert_eq!(sample(&batch, slots).value, 1.0);
    let duration = r#"cog_runtime_prediction_duration_seconds{cog_process_role="parent", job="my-model", operation="predict", status="succeeded"}"#;
    let row = whole(&batch, duration);
    assert_eq!(
        (row.count, row.sum, row.pos.len()),
        (187, Some(485.165), 16)
    );
    assert_eq!(
        batch
            .series
            .iter()
            .filter(|row| row.metric == "target_info")
            .count(),
        2
    );
}

#[test]
fn basetens_push_is_told_apart_by_model_and_its_exponential_histogram_refused_visibly() {
    let batch = pushed("baseten_custom_metrics.json", Profile::Baseten);
    assert_eq!((batch.tally.received(), batch.tally.accepted()), (10, 9));
    assert_eq!(
        batch.tally.reasons().collect::<Vec<_>>(),
        [(Reason::UnsupportedType, 1)]
    );
    assert_eq!((batch.samples.len(), batch.histograms.len()), (9, 1));
    assert_eq!(
        names(&batch),
        [
            "model_batch_size",
            "model_cache_hits_total",
            "model_cache_misses_total",
            "model_kv_cache_utilization_ratio",
            "model_queue_depth",
            "model_validation_failures_total",
            "target_info",
        ]
    );
    let model = r#"BT_MODEL_DEPLOYMENT_ID="w0rk5678", BT_MODEL_ID="abcd1234""#;
    let hits =
        format!(r#"model_cache_hits_total{{{model}, cache="prefix", job="ranker-model-server"}}"#);
    assert_eq!(sample(&batch, &hits).value, 5120.0);
    let ratio =
        format!(r#"model_kv_cache_utilization_ratio{{{model}, job="ranker-model-server"}}"#);
    assert_eq!(sample(&batch, &ratio).value, 0.6375);
    let sizes = whole(
        &batch,
        &format!(r#"model_batch_size{{{model}, job="ranker-model-server"}}"#),
    );
    assert_eq!(
        (sizes.count, &sizes.pos[..]),
        (640, &[121, 107, 108, 148, 62, 94, 0, 0][..])
    );
}
