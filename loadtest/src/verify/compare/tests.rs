//! Faults put into a right answer by hand, each found as what it is.

use super::*;
use crate::journal::Journal;
use crate::plan::Provider;
use crate::plan::tests::small;
use crate::target::Names;
use crate::verify::check::{Check, checks};
use crate::verify::expect::expected;

/// A run whose pushes were all accepted, and the right answer to one of its checks.
struct Run {
    scenario: Scenario,
    journal: Journal,
    check: Check,
}

impl Run {
    fn new(name: &str) -> Self {
        let scenario = Scenario::new(small(Provider::Cerebrium));
        let mut journal = Journal::create(&scenario.plan, None).unwrap();
        for number in 0..scenario.plan.pushes() {
            journal.note(number, Fate::Accepted).unwrap();
        }
        let mut checks = checks(&scenario, 0, Names::Suffixed).into_iter();
        let check = checks.find(|check| check.name == name).unwrap();
        Self {
            scenario,
            journal,
            check,
        }
    }

    fn answer(&self) -> Vec<Found> {
        let mut series: Vec<Found> = expected(&self.scenario, &self.journal, &self.check)
            .into_iter()
            .map(|(identity, wanted)| found(&identity, &wanted))
            .collect();
        series.sort_by(|one, two| one.metric.cmp(&two.metric));
        series
    }

    fn compare(&self, answer: &[Found]) -> Findings {
        let wanted = expected(&self.scenario, &self.journal, &self.check);
        compare(&self.scenario, &wanted, answer, 0.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "times in milliseconds")]
fn found(identity: &str, wanted: &Wanted) -> Found {
    let mut metric: std::collections::BTreeMap<String, String> =
        wanted.labels.iter().cloned().collect();
    let bound = identity.rsplit('\u{1}').next().unwrap();
    if let Ok(bits) = bound.parse() {
        let le = f64::from_bits(bits);
        let le = if le.is_infinite() {
            "+Inf".to_owned()
        } else {
            le.to_string()
        };
        metric.insert("le".to_owned(), le);
    }
    metric.insert("job".to_owned(), "of the resource".to_owned());
    let sample = |(time, value, _): &(i64, f64, Fate)| (*time as f64 / 1000.0, value.to_string());
    Found {
        metric,
        values: wanted.samples.iter().map(sample).collect(),
    }
}

/// Lost, doubled, changed, unexpected.
fn counts(findings: &Findings) -> [u64; 4] {
    findings
        .faults
        .iter()
        .fold([0; 4], |[lost, doubled, changed, unexpected], fault| {
            [
                lost + fault.lost,
                doubled + fault.doubled,
                changed + fault.changed,
                unexpected + fault.unexpected,
            ]
        })
}

#[test]
fn a_right_answer_is_intact() {
    for name in [
        "cerebrium_run_total",
        "cerebrium_run_queue_time_ms_milliseconds_bucket",
    ] {
        let run = Run::new(name);
        let answer = run.answer();
        let findings = run.compare(&answer);
        assert!(findings.faults.is_empty(), "{:?}", findings.faults);
        // Tenant 0 has forwarders 0 and 2: apps 0, 1 and 4; four rounds.
        let series = length(answer.len());
        assert_eq!((findings.series, findings.intact), (series, series * 4));
    }
}

#[test]
fn a_sample_that_is_missing_is_lost() {
    let run = Run::new("cerebrium_run_queue_time_ms_milliseconds_bucket");
    let mut answer = run.answer();
    answer[7].values.remove(2);
    let findings = run.compare(&answer);
    assert_eq!(counts(&findings), [1, 0, 0, 0]);
    assert!(
        findings.faults[0].series.contains("le="),
        "{:?}",
        findings.faults
    );
}

#[test]
fn a_series_that_is_missing_is_lost_whole() {
    let run = Run::new("cerebrium_run_total");
    let mut answer = run.answer();
    answer.remove(0);
    assert_eq!(counts(&run.compare(&answer)), [4, 0, 0, 0]);
}

#[test]
fn a_sample_that_is_there_twice_is_doubled() {
    let run = Run::new("cerebrium_run_total");
    let mut answer = run.answer();
    let copy = answer[1].values[3].clone();
    answer[1].values.push(copy);
    assert_eq!(counts(&run.compare(&answer)), [0, 1, 0, 0]);
}

#[test]
fn a_series_under_two_label_sets_is_doubled() {
    let run = Run::new("cerebrium_run_total");
    let mut answer = run.answer();
    let mut copy = answer[0].clone();
    copy.metric
        .insert("otel_scope_name".to_owned(), "x".to_owned());
    answer.push(copy);
    assert_eq!(counts(&run.compare(&answer)), [0, 4, 0, 0]);
}

#[test]
fn another_value_and_another_label_are_changes() {
    let run = Run::new("cerebrium_run_total");
    let mut answer = run.answer();
    answer[0].values[0].1.push('1');
    answer[1]
        .metric
        .insert("region".to_owned(), "moon".to_owned());
    assert_eq!(counts(&run.compare(&answer)), [0, 0, 1 + 4, 0]);
}

#[test]
fn the_last_digit_counts() {
    let run = Run::new("cerebrium_run_queue_time_ms_milliseconds_sum");
    let mut answer = run.answer();
    let value: f64 = answer[0].values[0].1.parse().unwrap();
    answer[0].values[0].1 = value.next_up().to_string();
    assert_eq!(counts(&run.compare(&answer)), [0, 0, 1, 0]);
}

#[test]
fn samples_and_series_that_nobody_pushed_are_unexpected() {
    let run = Run::new("cerebrium_run_total");
    let mut answer = run.answer();
    let (time, value) = answer[0].values[1].clone();
    answer[0].values.insert(1, (time - 30.0, value));
    let mut stranger = answer[1].clone();
    stranger
        .metric
        .insert("app_id".to_owned(), "stranger".to_owned());
    answer.push(stranger);
    assert_eq!(counts(&run.compare(&answer)), [0, 0, 0, 1 + 4]);
}

#[test]
fn a_refused_push_must_not_be_there_and_an_unclear_one_may() {
    let mut run = Run::new("cerebrium_run_total");
    let answer = run.answer();
    // Forwarder 2 has one app, forwarder 0 two.
    run.journal.note(2, Fate::Refused).unwrap();
    run.journal.note(3, Fate::Unknown).unwrap();
    let findings = run.compare(&answer);
    assert_eq!(counts(&findings), [0, 0, 0, 1]);
    assert_eq!(
        (findings.unclear, findings.acknowledged, findings.intact),
        (2, 9, 9)
    );
    assert!(findings.faults[0].example.contains("refused"));
}
