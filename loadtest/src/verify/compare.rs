//! Expected and found series → how many samples are intact, lost, doubled, changed or unexpected.

use std::collections::HashMap;

use super::Fault;
use super::expect::{Expected, Wanted, identity};
use super::read::Found;
use crate::journal::Fate;
use crate::scenario::Scenario;

/// What one check found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Findings {
    pub(super) series: u64,
    pub(super) acknowledged: u64,
    pub(super) intact: u64,
    pub(super) unclear: u64,
    pub(super) faults: Vec<Fault>,
}

impl Findings {
    /// Samples that are not there, yet or at all.
    pub(super) fn lost(&self) -> u64 {
        self.faults.iter().map(|fault| fault.lost).sum()
    }
}

/// Compares; values that differ by less than `tolerance` of themselves are equal.
pub(super) fn compare(
    scenario: &Scenario,
    expected: &Expected,
    found: &[Found],
    tolerance: f64,
) -> Findings {
    let mut findings = Findings::default();
    let mut by_identity: HashMap<String, &Found> = HashMap::new();
    for series in found {
        let label = |name: &str| series.metric.get(name).map(String::as_str);
        let identity = identity(scenario, label, bound(series));
        let (unexpected, doubled, example) = if !expected.contains_key(&identity) {
            (series.values.len(), 0, "nobody pushed this series")
        } else if by_identity.insert(identity, series).is_some() {
            (
                0,
                series.values.len(),
                "the series is there under two label sets",
            )
        } else {
            continue;
        };
        findings.faults.push(Fault {
            unexpected: length(unexpected),
            doubled: length(doubled),
            example: example.to_owned(),
            ..named(series)
        });
    }
    for (identity, wanted) in expected {
        let series = by_identity.get(identity).copied();
        one(wanted, series, tolerance, &mut findings);
    }
    // Maps have no order; reports do.
    findings
        .faults
        .sort_by(|one, two| one.series.cmp(&two.series));
    findings
}

/// The upper bound of a bucket's series.
fn bound(series: &Found) -> Option<f64> {
    series.metric.get("le").and_then(|le| le.parse().ok())
}

fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// A fault of a series, nothing counted yet.
fn named(series: &Found) -> Fault {
    let labels: Vec<String> = series
        .metric
        .iter()
        .map(|(name, value)| format!("{name}={value:?}"))
        .collect();
    Fault {
        series: format!("{{{}}}", labels.join(", ")),
        ..Fault::default()
    }
}

fn one(wanted: &Wanted, found: Option<&Found>, tolerance: f64, findings: &mut Findings) {
    let accepted = wanted
        .samples
        .iter()
        .filter(|(_, _, fate)| *fate == Fate::Accepted)
        .count();
    findings.series += u64::from(accepted > 0);
    findings.acknowledged += length(accepted);
    let mut fault = found.map_or_else(|| unnamed(wanted), named);
    let values = found.map_or(&[][..], |series| &series.values);
    if let Some(series) = found
        && let Some((name, value)) = missing_label(wanted, series)
    {
        fault.changed += length(values.len());
        fault.example = format!("label {name} is not {value:?}");
    } else {
        let mut merge = Merge {
            tolerance,
            fault: &mut fault,
            findings,
        };
        merge.run(&wanted.samples, values);
    }
    if fault.lost + fault.doubled + fault.changed + fault.unexpected > 0 {
        findings.faults.push(fault);
    }
}

/// A fault of a series of which nothing was found.
fn unnamed(wanted: &Wanted) -> Fault {
    let labels: Vec<String> = wanted
        .labels
        .iter()
        .map(|(name, value)| format!("{name}={value:?}"))
        .collect();
    Fault {
        series: format!("{{{}}}, nothing found", labels.join(", ")),
        ..Fault::default()
    }
}

fn missing_label<'a>(wanted: &'a Wanted, found: &Found) -> Option<&'a (String, String)> {
    wanted
        .labels
        .iter()
        .find(|(name, value)| found.metric.get(name) != Some(value))
}

/// Walks through expected and found samples of one series, both in order of time.
struct Merge<'a> {
    tolerance: f64,
    fault: &'a mut Fault,
    findings: &'a mut Findings,
}

impl Merge<'_> {
    fn run(&mut self, wanted: &[(i64, f64, Fate)], found: &[(f64, String)]) {
        let mut found = found.iter().peekable();
        for (time, value, fate) in wanted {
            while let Some((_, text)) = found.next_if(|(seconds, _)| milliseconds(*seconds) < *time)
            {
                self.stray(*time, text);
            }
            let mut copies = 0;
            while let Some((_, text)) =
                found.next_if(|(seconds, _)| milliseconds(*seconds) == *time)
            {
                copies += 1;
                if copies == 1 {
                    self.present(*time, (*value, text), *fate);
                } else {
                    self.fault.doubled += 1;
                    self.example(format!("twice at {time}"));
                }
            }
            if copies == 0 && *fate == Fate::Accepted {
                self.fault.lost += 1;
                self.example(format!("nothing at {time}"));
            }
        }
        for (seconds, text) in found {
            self.stray(milliseconds(*seconds), text);
        }
    }

    fn present(&mut self, time: i64, (value, text): (f64, &str), fate: Fate) {
        let same = text.parse().is_ok_and(|found| self.equal(value, found));
        if fate == Fate::Refused {
            self.fault.unexpected += 1;
            self.example(format!("{text} at {time}, of a push that was refused"));
        } else if !same {
            self.fault.changed += 1;
            self.example(format!("{text} at {time} instead of {value}"));
        } else if fate == Fate::Accepted {
            self.findings.intact += 1;
        } else {
            self.findings.unclear += 1;
        }
    }

    fn stray(&mut self, time: i64, text: &str) {
        self.fault.unexpected += 1;
        self.example(format!("{text} near {time}, which nobody pushed"));
    }

    fn equal(&self, wanted: f64, found: f64) -> bool {
        wanted.to_bits() == found.to_bits()
            || wanted == found
            || (wanted - found).abs() <= self.tolerance * wanted.abs()
    }

    fn example(&mut self, text: String) {
        if self.fault.example.is_empty() {
            self.fault.example = text;
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "seconds with three decimals, in milliseconds, fit 53 bits"
)]
fn milliseconds(seconds: f64) -> i64 {
    (seconds * 1000.0).round() as i64
}

#[cfg(test)]
mod tests;
