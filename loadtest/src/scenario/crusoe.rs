//! Crusoe's forwarder: DCGM metrics of each GPU of 8-GPU machines, and metrics of the machines.

use super::growth::{draw, part};
use super::metric::{Metric, Model};
use super::{Pair, Source};

/// GPUs of a machine.
const GPUS: u32 = 8;

const fn metric(
    name: &'static str,
    (description, suffixed): (&'static str, &'static str),
    variants: u32,
    model: Model,
) -> Metric {
    Metric {
        name,
        description,
        unit: "",
        suffixed,
        kept: name,
        variants,
        model,
    }
}

/// A gauge of each GPU: its name is the same everywhere.
const fn gauge(
    name: &'static str,
    description: &'static str,
    range: (f64, f64),
    per_unit: f64,
) -> Metric {
    metric(
        name,
        (description, name),
        GPUS,
        Model::Gauge { range, per_unit },
    )
}

/// A counter of each GPU, `name` with `_total` where names get suffixes.
const fn counter(
    name: &'static str,
    suffixed: &'static str,
    description: &'static str,
    rate: u64,
) -> Metric {
    let model = Model::Steady {
        rate,
        per_unit: 1.0,
    };
    metric(name, (description, suffixed), GPUS, model)
}

/// A metric of the machine whose name is the same everywhere.
const fn machine(name: &'static str, model: Model) -> Metric {
    metric(name, ("", name), 1, model)
}

/// What every machine pushes.
pub(super) const METRICS: &[Metric] = &[
    gauge(
        "DCGM_FI_DEV_GPU_UTIL",
        "GPU utilization (in %).",
        (0.0, 100.0),
        1.0,
    ),
    gauge(
        "DCGM_FI_DEV_MEM_COPY_UTIL",
        "Memory utilization (in %).",
        (0.0, 80.0),
        1.0,
    ),
    gauge(
        "DCGM_FI_DEV_GPU_TEMP",
        "GPU temperature (in C).",
        (35.0, 78.0),
        1.0,
    ),
    gauge(
        "DCGM_FI_DEV_MEMORY_TEMP",
        "Memory temperature (in C).",
        (40.0, 85.0),
        1.0,
    ),
    gauge(
        "DCGM_FI_DEV_POWER_USAGE",
        "Power draw (in W).",
        (90.0, 700.0),
        10.0,
    ),
    gauge(
        "DCGM_FI_DEV_SM_CLOCK",
        "SM clock frequency (in MHz).",
        (1200.0, 1980.0),
        1.0 / 15.0,
    ),
    gauge(
        "DCGM_FI_DEV_MEM_CLOCK",
        "Memory clock frequency (in MHz).",
        (2619.0, 2619.0),
        1.0,
    ),
    gauge(
        "DCGM_FI_DEV_FB_USED",
        "Framebuffer memory used (in MiB).",
        (2000.0, 78_000.0),
        1.0,
    ),
    gauge(
        "DCGM_FI_DEV_FB_FREE",
        "Framebuffer memory free (in MiB).",
        (1000.0, 77_000.0),
        1.0,
    ),
    gauge(
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        "Ratio of time the graphics engine is active.",
        (0.0, 1.0),
        10_000.0,
    ),
    gauge(
        "DCGM_FI_PROF_SM_ACTIVE",
        "The ratio of cycles an SM has at least 1 warp assigned.",
        (0.0, 1.0),
        10_000.0,
    ),
    gauge(
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "Ratio of cycles the tensor (HMMA) pipe is active.",
        (0.0, 0.6),
        10_000.0,
    ),
    gauge(
        "DCGM_FI_PROF_DRAM_ACTIVE",
        "Ratio of cycles the device memory interface is active sending or receiving data.",
        (0.0, 0.7),
        10_000.0,
    ),
    gauge(
        "DCGM_FI_DEV_XID_ERRORS",
        "Value of the last XID error encountered.",
        (0.0, 0.0),
        1.0,
    ),
    counter(
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total",
        "Total energy consumption since boot (in mJ).",
        24_000_000,
    ),
    counter(
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER_total",
        "Total number of PCIe retries.",
        0,
    ),
    counter(
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL_total",
        "Total number of NVLink bandwidth counters for all lanes.",
        400_000,
    ),
    counter(
        "DCGM_FI_PROF_NVLINK_TX_BYTES",
        "DCGM_FI_PROF_NVLINK_TX_BYTES_total",
        "The total number of bytes of active NvLink tx (transmit) data including both header and payload.",
        9_000_000,
    ),
    counter(
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL_total",
        "Total number of double-bit volatile ECC errors.",
        0,
    ),
    machine(
        "crusoe_vm_cpu_seconds_total",
        Model::Steady {
            rate: 340_000,
            per_unit: 1000.0,
        },
    ),
    machine(
        "crusoe_vm_memory_used_bytes",
        Model::Gauge {
            range: (9.0e10, 9.0e11),
            per_unit: 1.0 / 4096.0,
        },
    ),
    machine(
        "crusoe_vm_network_receive_bytes_total",
        Model::Steady {
            rate: 7_000_000,
            per_unit: 1.0,
        },
    ),
    machine(
        "crusoe_vm_network_transmit_bytes_total",
        Model::Steady {
            rate: 5_000_000,
            per_unit: 1.0,
        },
    ),
    machine(
        "crusoe_vm_boot_time",
        Model::Gauge {
            range: (1_792_756_800.0, 1_792_756_800.0),
            per_unit: 1.0,
        },
    ),
];

pub(super) const IDENTIFYING: &[&str] = &["vm_id", "gpu"];

pub(super) fn run_label(run: &str) -> Pair {
    ("crusoe_project_id", format!("project-{run}"))
}

/// Also the labels that stores make of it.
pub(super) fn resource(run: &str) -> Vec<Pair> {
    vec![
        (
            "crusoe_org_id",
            "00000000-0000-4000-8000-0000000000c0".to_owned(),
        ),
        run_label(run),
    ]
}

pub(super) fn attributes(run: &str, source: &Source, metric: &Metric, variant: u32) -> Vec<Pair> {
    let machine = format!("{run}-{}-{}", source.app, source.generation);
    let mut pairs = vec![
        ("vm_id", format!("vm-{machine}")),
        ("crusoe_resource", "vm".to_owned()),
        ("instance", format!("h100-{machine}")),
        (
            "cluster_id",
            "00000000-0000-4000-8000-0000000000d0".to_owned(),
        ),
        ("nodepool", "h100-pool".to_owned()),
        ("vm_instance_type", "h100-80gb-sxm-ib.8x".to_owned()),
    ];
    if metric.variants > 1 {
        let id = draw(
            part(u64::from(source.app), u64::from(source.generation)),
            u64::from(variant),
        );
        pairs.extend([
            ("gpu", variant.to_string()),
            ("UUID", format!("GPU-{id:016x}")),
            ("pci_bus_id", format!("00000000:{}0:00.0", variant + 1)),
            ("device", format!("nvidia{variant}")),
            ("modelName", "NVIDIA H100 80GB HBM3".to_owned()),
            ("DCGM_FI_DRIVER_VERSION", "570.86.15".to_owned()),
        ]);
    }
    pairs
}
