//! Queries of the dashboards that the system is made for.

use super::super::parse;
use crate::ast::ValueType;

#[rustfmt::skip]
const QUERIES: &[&str] = &[
    "avg by (app_name) (cerebrium_gpu_compute_utilization_percent)",
    "histogram_quantile(0.95, sum by (le, app_name) (rate(cerebrium_run_execution_time_ms_milliseconds_bucket[5m])))",
    "sum by (app_name) (rate(cerebrium_run_errors_total[5m])) / sum by (app_name) (rate(cerebrium_run_total[5m]))",
    "sum by (app_name) (cerebrium_containers_running_count)",
    r#"cerebrium_cpu_utilization_cores{project_id="p"}"#,
    r#"cerebrium_memory_usage_bytes{app_name="my-model"}"#,
    r#"cerebrium_containers_running_count{project_id="p"}"#,
    "rate(cerebrium_run_total[5m])",
    r#"histogram_quantile(0.99, rate(cerebrium_run_execution_time_ms_milliseconds_bucket{app_name="my-model"}[5m]))"#,
    r#"histogram_quantile(0.99, rate(cerebrium_run_response_time_ms_milliseconds_bucket{app_name="my-model"}[5m]))"#,
    r#"rate(cerebrium_run_errors_total{app_name="my-model"}[5m]) / rate(cerebrium_run_total{app_name="my-model"}[5m]) * 100"#,
    r#"rate(cerebrium_run_coldstart_time_ms_milliseconds_sum{app_name="my-model"}[5m]) / rate(cerebrium_run_coldstart_time_ms_milliseconds_count{app_name="my-model"}[5m])"#,
    r#"{__name__=~"cerebrium_.*"}"#,
    r#"DCGM_FI_DEV_GPU_TEMP{instance=~"$instance", gpu=~"$gpu"}"#,
    r#"avg(DCGM_FI_DEV_GPU_TEMP{instance=~"$instance", gpu=~"$gpu"})"#,
    r#"DCGM_FI_DEV_POWER_USAGE{instance=~"$instance", gpu=~"$gpu"}"#,
    r#"sum(DCGM_FI_DEV_POWER_USAGE{instance=~"$instance", gpu=~"$gpu"})"#,
    r#"DCGM_FI_DEV_SM_CLOCK{instance=~"$instance", gpu=~"$gpu"} * 1000000"#,
    r#"DCGM_FI_DEV_GPU_UTIL{instance=~"$instance", gpu=~"$gpu"}"#,
    r#"DCGM_FI_DEV_FB_USED{instance=~"$instance", gpu=~"$gpu"}"#,
    r#"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{instance=~"$instance", gpu=~"$gpu"}"#,
    r#"(sum(DCGM_FI_DEV_FB_USED{instance=~"$node"}) / (sum(DCGM_FI_DEV_FB_USED{instance=~"$node"}) + sum(DCGM_FI_DEV_FB_FREE{instance=~"$node"}))) * 100"#,
    r#"max by(host)(DCGM_FI_DEV_FB_USED{a="b"} / (DCGM_FI_DEV_FB_USED{a="b"} + DCGM_FI_DEV_FB_FREE{a="b"})) or max by(host)(nvidia_smi_memory_used_bytes / nvidia_smi_memory_total_bytes)"#,
    r#"avg(max_over_time(DCGM_FI_DEV_GPU_UTIL{cluster="$cluster",gpu=~"${gpu}"}[29s]))"#,
    r#"topk(10, avg by (pod) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{namespace=~"$namespace"}) * 100)"#,
    "topk(5, max_over_time((DCGM_FI_DEV_CLOCKS_EVENT_REASONS != 0)[5m:30s])) by (UUID, Hostname)",
    "sum(DCGM_FI_DEV_FB_USED > 0)",
    "count(DCGM_FI_DEV_FB_FREE)",
    "count(count by (hostname, gpu) (DCGM_FI_DEV_SM_CLOCK))",
    "sum by (UUID, Hostname) (rate(DCGM_FI_DEV_XID_ERRORS[5m]))",
    "sum by (UUID) (rate(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL[1h]))",
    "sum by (UUID, link) (rate(DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL[5m]))",
    r#"avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0"}[14d]) < 0.14 and avg_over_time(DCGM_FI_DEV_FB_USED{gpu="0"}[14d]) < 10737418240"#,
    "rate(DCGM_FI_PROF_PCIE_TX_BYTES[5m]) / 1048576",
    r#"(sum(rate(crusoe_vm_cpu_seconds_total{vm_id="X",mode!="idle"}[2m])) / sum(rate(crusoe_vm_cpu_seconds_total{vm_id="X"}[2m]))) * 100"#,
    r#"(sum(crusoe_vm_memory_used_bytes{vm_id="X"}) / sum(crusoe_vm_memory_total_bytes{vm_id="X"})) * 100"#,
    r#"sum(rate(crusoe_vm_network_receive_bytes_total{vm_id="X"}[2m]))"#,
    "rate(crusoe_ib_port_throughput_tx[5m])",
    r#"avg(DCGM_FI_DEV_GPU_UTIL{vm_id="X"})"#,
    r#"max(DCGM_FI_DEV_GPU_TEMP{vm_id="X"})"#,
    r#"avg(DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{vm_id="X"}) * 100"#,
    "sum by (status) (rate(cog_runtime_prediction_count_total[5m]))",
    r#"sum(rate(cog_runtime_prediction_rejected_total{reason="at_capacity"}[5m])) / (sum(rate(cog_runtime_prediction_count_total[5m])) + sum(rate(cog_runtime_prediction_rejected_total[5m])))"#,
    r#"histogram_quantile(0.95, sum by (le, operation) (rate(cog_runtime_prediction_duration_seconds_bucket{status="succeeded"}[5m])))"#,
    "sum by (state) (cog_runtime_slot_count)",
    r#"max(cog_runtime_slot_count{state="poisoned"}) > 0"#,
    "sum(cog_runtime_prediction_active) / sum(cog_runtime_slot_count)",
    "rate(model_token_count_total[1m])",
    r#"avg by (function_name) (modal_gpu_compute_utilization{app_name=~".*",function_name=~".*",workspace_name=~".*",environment_name=~".*"})"#,
    "(sum by (function_name) (modal_input_events_coldstart_time_us_sum) / sum by (function_name) (modal_input_events_coldstart_time_us_count)) / 1000",
    r#"avg by (function_name) (modal_memory_usage{a="b"}) / 1048576"#,
    "count by (app_name, function_name) (modal_function_pending_inputs)",
    r#"sum({"modal.input_events.elapsed_time_us_count", app_name=~".*"})"#,
    r#"sum(rate(baseten_inference_requests_total{status_code=~"5.."}[5m])) / sum(rate(baseten_inference_requests_total[5m]))"#,
    "histogram_quantile(0.99, sum by (le, model_name) (rate(baseten_end_to_end_response_time_seconds_bucket[5m])))",
    "sum by (model_name) (baseten_replicas_active)",
    "sum(rate(baseten_incoming_inference_requests_total[1m]))",
    "sum by (BT_MODEL_ID) (rate(model_cache_hits_total[5m])) / (sum by (BT_MODEL_ID) (rate(model_cache_hits_total[5m])) + sum by (BT_MODEL_ID) (rate(model_cache_misses_total[5m])))",
    "sum by (signal, key) (rate(sluice_tenant_received_items_total[5m]))",
    "sum by (reason) (increase(sluice_tenant_rejected_items_total[1h]))",
    r#"sluice_tenant_active_series / on() sluice_tenant_limit{name="max_active_series"}"#,
    "max by (key) (sluice_tenant_consecutive_failures)",
    "time() - max by (key) (sluice_tenant_last_success_timestamp_seconds) > 180",
    "absent_over_time(cerebrium_run_total[5m])",
    "increase(cerebrium_run_coldstart_time_ms_milliseconds_count[1h])",
    "running - ready",
    r#"{__name__!=""}"#,
    r#"{"modal.input_events.elapsed_time_us_count"}"#,
    r#"DCGM_FI_PROF_PIPE_FP32_ACTIVE{hostname=~"h", oci_name=~"o"}"#,
    r#"up{instance=~""}"#,
    r#"up{gpu=~"(0|1|2|7)"}"#,
    "1+1",
];

#[test]
fn every_dashboard_query_is_an_instant_vector() {
    for text in QUERIES {
        let expr = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let expected = if *text == "1+1" {
            ValueType::Scalar
        } else {
            ValueType::Vector
        };
        assert_eq!(expr.value_type(), expected, "{text}");
    }
}
