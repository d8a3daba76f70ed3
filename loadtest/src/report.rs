//! What was measured → a report, as JSON, table and SVG.

mod table;
mod svg;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::cli::{OutputArgs, RenderArgs};
use crate::latency::Percentiles;
use crate::plan::Plan;
use crate::process::Usage;
use crate::stored::Stored;
use crate::verify::Verdict;

pub(crate) use self::table::{comparison as comparison_table, run as table, verdict};

/// One run on one store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Where it was measured.
    pub(crate) machine: Machine,
    /// What was pushed.
    pub(crate) plan: Plan,
    /// How, in words.
    pub(crate) pace: String,
    /// How the bodies were made, before the clock started.
    pub(crate) made: Made,
    /// From the first push to the last answer.
    pub(crate) elapsed_seconds: f64,
    /// Pushes accepted whole.
    pub(crate) accepted: u64,
    /// Pushes sent and not accepted whole.
    pub(crate) failed: u64,
    /// Attempts beyond the first of a push.
    pub(crate) retries: u64,
    /// All answers, by status or failure.
    pub(crate) answers: BTreeMap<String, u64>,
    /// Points accepted.
    pub(crate) points: u64,
    /// Samples accepted, as a Prometheus-like store counts them: a histogram is its buckets with the
    /// last one, a count and a sum.
    pub(crate) samples: u64,
    /// Points rejected in answers of 200.
    pub(crate) rejected_points: u64,
    /// Until the acceptance, milliseconds: open loop from the scheduled time, closed loop from the first
    /// attempt.
    pub(crate) latency: Percentiles,
    /// How far the generator fell behind an open loop's schedule, milliseconds.
    pub(crate) behind_ms: f64,
    /// What the generator itself used while it sent.
    pub(crate) generator_cpu_seconds: f64,
    /// Watched processes.
    pub(crate) processes: Vec<Usage>,
    /// What is kept, fully merged.
    pub(crate) stored: Option<Stored>,
    /// Whether all of it is there.
    pub(crate) verified: Option<Verdict>,
}

/// The machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// What Linux calls its processor.
    pub(crate) cpu: String,
    /// Cores to be used.
    pub(crate) cores: u64,
}

/// How the bodies were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Made {
    /// How many.
    pub(crate) pushes: u64,
    /// How long it took.
    pub(crate) seconds: f64,
    /// Before compression.
    pub(crate) plain_bytes: u64,
    /// As sent.
    pub(crate) sent_bytes: u64,
}

impl Machine {
    /// This one.
    pub(crate) fn this() -> Self {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = text
            .lines()
            .find_map(|line| line.strip_prefix("model name"));
        let name = name
            .and_then(|line| line.split_once(':'))
            .map_or("unknown", |(_, name)| name);
        Self {
            cpu: name.trim().to_owned(),
            cores: std::thread::available_parallelism()
                .map_or(1, |cores| u64::try_from(cores.get()).unwrap_or(u64::MAX)),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn real(number: u64) -> f64 {
    number as f64
}

impl Report {
    /// Whether something was accepted and what was verified holds.
    pub(crate) fn is_well(&self) -> bool {
        self.accepted > 0 && self.verified.as_ref().is_none_or(Verdict::holds)
    }

    /// Samples accepted a second.
    pub(crate) fn samples_per_second(&self) -> f64 {
        real(self.samples) / self.elapsed_seconds
    }

    /// CPU seconds of all watched processes until they were quiet.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        self.processes
            .iter()
            .map(|usage| usage.cpu_seconds_settled)
            .sum()
    }

    /// Samples accepted a CPU second of the watched processes.
    pub(crate) fn samples_per_cpu_second(&self) -> Option<f64> {
        let used = self.cpu_seconds();
        (used > 0.0).then(|| real(self.samples) / used)
    }

    /// Stored bytes a sample.
    pub(crate) fn bytes_per_sample(&self) -> Option<f64> {
        let stored = self.stored.as_ref()?;
        (self.samples > 0).then(|| real(stored.bytes) / real(self.samples))
    }

    /// Peak memory of all watched processes.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.processes.iter().map(|usage| usage.peak_bytes).sum()
    }
}

/// Runs on two stores, alternating, on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Comparison {
    /// Runs of Sluice.
    pub(crate) sluice: Vec<Report>,
    /// Runs of VictoriaMetrics.
    pub(crate) victoria_metrics: Vec<Report>,
    /// What is compared.
    pub(crate) rows: Vec<Row>,
}

/// One thing that is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// What, with its unit.
    pub(crate) what: String,
    /// Of Sluice.
    pub(crate) sluice: Spread,
    /// Of VictoriaMetrics.
    pub(crate) victoria_metrics: Spread,
    /// Sluice's median through VictoriaMetrics'.
    pub(crate) ratio: f64,
    /// Whether a larger value is better.
    pub(crate) more_is_better: bool,
}

/// Several measurements of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    /// The middle one.
    pub(crate) median: f64,
    /// The least.
    pub(crate) least: f64,
    /// The greatest.
    pub(crate) most: f64,
}

impl Spread {
    /// Of measurements; `None` of none.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (least, most) = (values.first().copied()?, values.last().copied()?);
        let upper = values.get(values.len() / 2).copied()?;
        let lower = values.get((values.len() - 1) / 2).copied()?;
        Some(Self {
            median: f64::midpoint(lower, upper),
            least,
            most,
        })
    }
}

/// What a run is compared by.
type Measure = fn(&Report) -> Option<f64>;

/// What is compared, and whether more is better.
const MEASURES: [(&str, bool, Measure); 9] = [
    ("samples/s", true, |run| Some(run.samples_per_second())),
    (
        "samples per CPU-second",
        true,
        Report::samples_per_cpu_second,
    ),
    ("CPU seconds", false, |run| Some(run.cpu_seconds())),
    ("latency p50, ms", false, |run| Some(run.latency.p50)),
    ("latency p90, ms", false, |run| Some(run.latency.p90)),
    ("latency p99, ms", false, |run| Some(run.latency.p99)),
    ("latency max, ms", false, |run| Some(run.latency.max)),
    ("stored bytes per sample", false, Report::bytes_per_sample),
    ("peak memory, MiB", false, |run| {
        Some(real(run.peak_bytes()) / 1_048_576.0)
    }),
];

impl Comparison {
    /// Compares.
    pub(crate) fn of(sluice: Vec<Report>, victoria_metrics: Vec<Report>) -> Self {
        let spread = |runs: &[Report], measure: Measure| {
            Spread::of(runs.iter().filter_map(measure).collect())
        };
        let rows = MEASURES
            .iter()
            .filter_map(|(what, more_is_better, measure)| {
                let (ours, theirs) = (
                    spread(&sluice, *measure)?,
                    spread(&victoria_metrics, *measure)?,
                );
                Some(Row {
                    what: (*what).to_owned(),
                    sluice: ours,
                    victoria_metrics: theirs,
                    ratio: ours.median / theirs.median,
                    more_is_better: *more_is_better,
                })
            });
        Self {
            rows: rows.collect(),
            sluice,
            victoria_metrics,
        }
    }

    /// Whether every run is well.
    pub(crate) fn is_well(&self) -> bool {
        self.sluice
            .iter()
            .chain(&self.victoria_metrics)
            .all(Report::is_well)
    }
}

/// Writes what the options ask for.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write(output: &OutputArgs, report: &Report) -> anyhow::Result<()> {
    write_files(output, &Any::Run(Box::new(report.clone())))
}

/// The same for a comparison.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write_comparison(output: &OutputArgs, report: &Comparison) -> anyhow::Result<()> {
    write_files(output, &Any::Peers(Box::new(report.clone())))
}

/// Either kind of report, told apart by its fields.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Any {
    Run(Box<Report>),
    Peers(Box<Comparison>),
}

impl Any {
    fn svg(&self) -> String {
        match self {
            Self::Run(report) => svg::run(report),
            Self::Peers(report) => svg::comparison(report),
        }
    }

    fn table(&self) -> String {
        match self {
            Self::Run(report) => table(report),
            Self::Peers(report) => comparison_table(report),
        }
    }
}

fn write_files(output: &OutputArgs, report: &Any) -> anyhow::Result<()> {
    if let Some(path) = &output.json {
        put(path, &(serde_json::to_string_pretty(report)? + "\n"))?;
    }
    if let Some(path) = &output.svg {
        put(path, &report.svg())?;
    }
    Ok(())
}

fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// `loadtest render`.
///
/// # Errors
/// When the file is no report, or the SVG cannot be written.
pub(crate) fn render(args: &RenderArgs) -> anyhow::Result<(String, bool)> {
    let shown = args.report.display();
    let text = std::fs::read(&args.report).with_context(|| format!("cannot read {shown}"))?;
    let report: Any =
        serde_json::from_slice(&text).with_context(|| format!("{shown} is no report"))?;
    let Some(path) = &args.svg else {
        return Ok((report.table(), true));
    };
    put(path, &report.svg())?;
    Ok((String::new(), true))
}

#[cfg(test)]
mod tests;
