//! Reports with made-up numbers, rendered as the golden files beside say.

use super::*;
use crate::plan::Provider;
use crate::plan::tests::small;
use crate::process::Part;
use crate::verify::Fault;

fn report(samples: u64) -> Report {
    Report {
        machine: Machine {
            cpu: "Test & Co".to_owned(),
            cores: 2,
        },
        plan: small(Provider::Cerebrium),
        pace: "closed loop, 8 connections".to_owned(),
        made: Made {
            pushes: 12,
            seconds: 0.25,
            plain_bytes: 120_000,
            sent_bytes: 24_000,
        },
        elapsed_seconds: 2.0,
        accepted: 11,
        failed: 1,
        retries: 3,
        answers: BTreeMap::from([("200".to_owned(), 11), ("503".to_owned(), 4)]),
        points: 143,
        samples,
        rejected_points: 0,
        latency: Percentiles {
            count: 11,
            p50: 2.5,
            p90: 4.0,
            p99: 20.0,
            p999: 30.0,
            max: 31.5,
            curve: vec![
                (1.0, 1.5),
                (50.0, 2.5),
                (90.0, 4.0),
                (99.0, 20.0),
                (100.0, 31.5),
            ],
        },
        behind_ms: 0.4,
        generator_cpu_seconds: 0.1,
        processes: vec![usage()],
        stored: Some(Stored {
            bytes: samples * 2,
            parts: vec![("samples".to_owned(), Some(1234), samples * 2)],
        }),
        verified: Some(verdict_of(samples)),
    }
}

fn usage() -> Usage {
    let part = |what: &str, cpu_seconds, mib: u64| Part {
        what: what.to_owned(),
        cpu_seconds,
        peak_bytes: mib << 20,
    };
    Usage {
        name: "store".to_owned(),
        cpu_seconds: 1.5,
        cpu_seconds_settled: 2.0,
        peak_bytes: 300 << 20,
        parts: vec![
            part("sluice up", 0.5, 100),
            part("sluice clickhouse", 1.5, 200),
        ],
    }
}

fn verdict_of(samples: u64) -> Verdict {
    Verdict {
        queries: 9,
        series: 77,
        acknowledged: samples,
        intact: samples - 1,
        lost: 1,
        took_ms: 1500,
        faults: vec![Fault {
            series: "demo: {__name__=\"a\"}".to_owned(),
            lost: 1,
            example: "nothing at 1".to_owned(),
            ..Fault::default()
        }],
        ..Verdict::default()
    }
}

/// Compares with a golden file; `GOLDEN=write` writes it.
fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/report/golden")
        .join(name);
    if std::env::var_os("GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&path).unwrap(), "{name}");
}

fn comparison() -> Comparison {
    Comparison::of(
        vec![report(1_400_000), report(1_000_000), report(1_200_000)],
        vec![report(600_000), report(400_000)],
    )
}

#[test]
fn a_run_is_a_table() {
    golden("run.txt", &table(&report(123_456)));
}

#[test]
fn a_run_is_a_curve() {
    golden("run.svg", &svg::run(&report(123_456)));
}

#[test]
fn a_comparison_is_a_table() {
    golden("peers.txt", &comparison_table(&comparison()));
}

#[test]
fn a_comparison_is_bars() {
    golden("peers.svg", &svg::comparison(&comparison()));
}

#[test]
fn both_kinds_of_report_survive_json() {
    for text in [
        serde_json::to_string(&report(5)).unwrap(),
        serde_json::to_string(&comparison()).unwrap(),
    ] {
        let back: Any = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }
}

#[test]
fn ratios_are_of_medians() {
    let rows = comparison().rows;
    let row = rows
        .iter()
        .find(|row| row.what == "samples per CPU-second")
        .unwrap();
    assert!((row.sluice.median - 600_000.0).abs() < 1e-6);
    assert!((row.victoria_metrics.median - 250_000.0).abs() < 1e-6);
    assert!((row.ratio - 2.4).abs() < 1e-9 && row.more_is_better);
}

#[test]
fn a_run_with_a_lost_sample_is_not_well() {
    let mut it = report(10);
    assert!(!it.is_well());
    it.verified = Some(Verdict::default());
    assert!(it.is_well());
    it.accepted = 0;
    assert!(!it.is_well());
}
