//! A report → lines for a terminal.

use std::fmt::Write as _;

use super::{Comparison, Report, real};
use crate::process::Usage;
use crate::verify::Verdict;

/// Most faults that are shown; the report has more.
const FAULTS: usize = 10;

/// Lines of a name and a value.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, value: &str) {
        // Writing to a string cannot fail.
        writeln!(self.0, "{name:<22} {value}").ok();
    }
}

/// A run.
pub(crate) fn run(report: &Report) -> String {
    let mut lines = Lines::default();
    pushed(&mut lines, report);
    measured(&mut lines, report);
    for usage in &report.processes {
        process(&mut lines, usage, report);
    }
    if let (Some(stored), Some(each)) = (&report.stored, report.bytes_per_sample()) {
        lines.add(
            "stored",
            &format!(
                "{} B in all, {each:.3} B a sample of this run",
                grouped(stored.bytes)
            ),
        );
        for (name, rows, bytes) in &stored.parts {
            let rows = rows.map_or_else(String::new, |rows| format!(", {} rows", grouped(rows)));
            lines.add(
                &format!("  {name}"),
                &format!("{} B{rows}", grouped(*bytes)),
            );
        }
    }
    if let Some(verified) = &report.verified {
        lines.0.push_str(&verdict(verified));
    }
    lines.0
}

fn pushed(lines: &mut Lines, report: &Report) {
    let plan = &report.plan;
    lines.add(
        "machine",
        &format!("{} cores of {}", report.machine.cores, report.machine.cpu),
    );
    lines.add(
        "scenario",
        &format!(
            "{}: {} apps, {} a push, {} tenants, {} % churn an hour, seed {}, run {}",
            plan.provider.word(),
            plan.apps,
            plan.apps_per_push,
            plan.tenants,
            plan.churn,
            plan.seed,
            plan.run
        ),
    );
    let made = &report.made;
    lines.add(
        "bodies",
        &format!(
            "{} of {} B, {} B as sent, made in {:.1} s beforehand",
            made.pushes,
            grouped(made.plain_bytes / made.pushes.max(1)),
            grouped(made.sent_bytes / made.pushes.max(1)),
            made.seconds
        ),
    );
    lines.add("pace", &report.pace);
}

fn measured(lines: &mut Lines, report: &Report) {
    let seconds = report.elapsed_seconds;
    let plan = &report.plan;
    let minutes = report
        .accepted
        .div_ceil(u64::from(plan.forwarders().max(1)));
    lines.add(
        "took",
        &format!(
            "{seconds:.2} s for {} minutes of metric time",
            grouped(minutes)
        ),
    );
    let answers: Vec<String> = report
        .answers
        .iter()
        .map(|(what, count)| format!("{what}: {}", grouped(*count)))
        .collect();
    lines.add("answers", &answers.join(", "));
    lines.add(
        "pushes",
        &format!(
            "{} accepted, {} failed, {} retries, {:.1} accepted/s",
            grouped(report.accepted),
            grouped(report.failed),
            grouped(report.retries),
            real(report.accepted) / seconds
        ),
    );
    lines.add(
        "points",
        &format!(
            "{} accepted, {} rejected, {}/s",
            grouped(report.points),
            grouped(report.rejected_points),
            short(real(report.points) / seconds)
        ),
    );
    lines.add(
        "samples",
        &format!(
            "{} accepted, {}/s",
            grouped(report.samples),
            short(report.samples_per_second())
        ),
    );
    let latency = &report.latency;
    lines.add(
        "latency, ms",
        &format!(
            "p50 {:.2}, p90 {:.2}, p99 {:.2}, p99.9 {:.2}, max {:.2}",
            latency.p50, latency.p90, latency.p99, latency.p999, latency.max
        ),
    );
    lines.add(
        "generator",
        &format!(
            "{:.2} CPU s, at most {:.1} ms behind its schedule",
            report.generator_cpu_seconds, report.behind_ms
        ),
    );
}

fn process(lines: &mut Lines, usage: &Usage, report: &Report) {
    let each = real(report.samples) / usage.cpu_seconds_settled.max(0.01);
    lines.add(
        &usage.name,
        &format!(
            "{:.2} CPU s ({:.2} until quiet), {} samples per CPU s, peak {} MiB",
            usage.cpu_seconds,
            usage.cpu_seconds_settled,
            short(each),
            usage.peak_bytes >> 20
        ),
    );
    if usage.parts.len() > 1 {
        for part in &usage.parts {
            let each = real(report.samples) / part.cpu_seconds.max(0.01);
            lines.add(
                &format!("  {}", part.what),
                &format!(
                    "{:.2} CPU s until quiet, {} samples per CPU s, peak {} MiB",
                    part.cpu_seconds,
                    short(each),
                    part.peak_bytes >> 20
                ),
            );
        }
    }
}

/// What verification found.
pub(crate) fn verdict(verdict: &Verdict) -> String {
    let mut lines = Lines::default();
    let word = if verdict.holds() {
        "verified"
    } else {
        "VERIFICATION FAILED"
    };
    lines.add(
        word,
        &format!(
            "{} of {} acknowledged samples intact, {} series, {} queries in {:.1} s (waited {:.1} s)",
            grouped(verdict.intact),
            grouped(verdict.acknowledged),
            grouped(verdict.series),
            grouped(verdict.queries),
            real(verdict.took_ms) / 1000.0,
            real(verdict.waited_ms) / 1000.0
        ),
    );
    lines.add(
        "",
        &format!(
            "{} lost, {} doubled, {} changed, {} unexpected; {} of unclear pushes are there",
            grouped(verdict.lost),
            grouped(verdict.doubled),
            grouped(verdict.changed),
            grouped(verdict.unexpected),
            grouped(verdict.unclear)
        ),
    );
    for fault in verdict.faults.iter().take(FAULTS) {
        lines.add(
            "",
            &format!(
                "{} lost, {} doubled, {} changed, {} unexpected: {} ({})",
                fault.lost,
                fault.doubled,
                fault.changed,
                fault.unexpected,
                fault.series,
                fault.example
            ),
        );
    }
    lines.0
}

/// Two stores beside each other.
pub(crate) fn comparison(report: &Comparison) -> String {
    let mut text = String::new();
    if let (Some(ours), Some(theirs)) = (report.sluice.last(), report.victoria_metrics.last()) {
        text = format!(
            "--- Sluice, last run\n{}\n--- VictoriaMetrics, last run\n{}\n",
            run(ours),
            run(theirs)
        );
    }
    let runs = report.sluice.len();
    writeln!(
        text,
        "medians of {runs} runs each (least to most)\n{:<24} {:>28} {:>28} {:>7}",
        "", "Sluice", "VictoriaMetrics", "ratio"
    )
    .ok();
    for row in &report.rows {
        let spread = |spread: super::Spread| {
            format!(
                "{} ({}-{})",
                short(spread.median),
                short(spread.least),
                short(spread.most)
            )
        };
        let better = (row.ratio >= 1.0) == row.more_is_better;
        writeln!(
            text,
            "{:<24} {:>28} {:>28} {:>7.2} {}",
            row.what,
            spread(row.sluice),
            spread(row.victoria_metrics),
            row.ratio,
            if better { "better" } else { "worse" }
        )
        .ok();
    }
    text
}

/// A whole number in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three digits and a word for thousands or millions.
fn short(number: f64) -> String {
    if number >= 1e6 {
        format!("{:.2} M", number / 1e6)
    } else if number >= 1e4 {
        format!("{:.1} k", number / 1e3)
    } else if number >= 100.0 {
        format!("{number:.0}")
    } else {
        format!("{number:.2}")
    }
}
