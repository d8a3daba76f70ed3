//! Loaded samples in, the series that a selection asks for out.
//!
//! Like Prometheus' storage it tells the reader of a histogram series where a counter went on without a
//! reset, and turns a stale marker behind a histogram into a histogram.

use std::collections::BTreeMap;
use std::sync::Arc;

use promql::histogram::{Histogram, ResetHint};
use promql::labels::{Labels, METRIC_NAME};
use promql::select::{MatcherSet, Selection};
use promql::series::{Series, SeriesSet, is_stale};

use crate::script::{Loaded, LoadedSample};
use crate::sequence::Sample;

/// A stored sample and its start time.
#[derive(Clone)]
struct Stored {
    start: i64,
    sample: Sample,
}

#[derive(Default)]
pub(crate) struct Store {
    series: BTreeMap<Labels, BTreeMap<i64, Stored>>,
}

/// The parts of one classic histogram at one time.
#[derive(Default)]
struct Classic {
    buckets: Vec<(f64, f64)>,
    count: Option<f64>,
    sum: f64,
}

impl Store {
    pub(crate) fn clear(&mut self) {
        self.series.clear();
    }

    pub(crate) fn load(&mut self, loaded: &[Loaded], with_nhcb: bool) {
        for one in loaded {
            self.append(&one.labels, &one.samples);
        }
        if with_nhcb {
            for (labels, samples) in classic_histograms(loaded) {
                self.append(&labels, &samples);
            }
        }
    }

    fn append(&mut self, labels: &Labels, samples: &[LoadedSample]) {
        let stored = self.series.entry(labels.clone()).or_default();
        for LoadedSample { ts, start, sample } in samples {
            let after_histogram = stored
                .range(..ts)
                .next_back()
                .is_some_and(|(_, before)| matches!(before.sample, Sample::Histogram(..)));
            let sample = match sample {
                Sample::Float(value) if is_stale(*value) && after_histogram => {
                    Sample::Histogram(Arc::new(Histogram::stale()), false)
                }
                other => other.clone(),
            };
            stored.insert(
                *ts,
                Stored {
                    start: *start,
                    sample,
                },
            );
        }
        hint(stored);
    }

    pub(crate) fn select(&self, selection: &Selection) -> SeriesSet {
        let matchers = MatcherSet::new(&selection.matchers).unwrap();
        let chosen = self
            .series
            .iter()
            .filter(|(labels, _)| matchers.matches(labels));
        let series = chosen
            .map(|(labels, samples)| window(labels, samples, selection))
            .filter(|series| !series.floats.ts.is_empty() || !series.histograms.ts.is_empty());
        SeriesSet {
            series: series.collect(),
        }
    }
}

fn window(labels: &Labels, samples: &BTreeMap<i64, Stored>, selection: &Selection) -> Series {
    let mut series = Series {
        labels: labels.clone(),
        ..Series::default()
    };
    let inside = samples
        .iter()
        .filter(|(ts, _)| **ts > selection.start && **ts <= selection.end);
    for (ts, stored) in inside {
        match &stored.sample {
            Sample::Float(value) => {
                series.floats.ts.push(*ts);
                series.floats.values.push(*value);
                series.floats.starts.push(stored.start);
            }
            Sample::Histogram(histogram, _) => {
                series.histograms.ts.push(*ts);
                series.histograms.values.push(Arc::clone(histogram));
                series.histograms.starts.push(stored.start);
            }
        }
    }
    for starts in [&mut series.floats.starts, &mut series.histograms.starts] {
        if starts.iter().all(|start| *start == 0) {
            starts.clear();
        }
    }
    series
}

/// Sets the reset hints of a series as Prometheus' chunks give them: within a run of counters without a
/// reset all but the first say so, the first says nothing.
fn hint(samples: &mut BTreeMap<i64, Stored>) {
    let mut before: Option<Arc<Histogram>> = None;
    for stored in samples.values_mut() {
        let Sample::Histogram(histogram, _) = &mut stored.sample else {
            before = None;
            continue;
        };
        if histogram.reset_hint == ResetHint::Gauge {
            before = None;
            continue;
        }
        let told_reset = histogram.reset_hint == ResetHint::Reset;
        let counter = Arc::make_mut(histogram);
        counter.reset_hint = ResetHint::Unknown;
        let goes_on = !told_reset
            && before
                .as_deref()
                .is_some_and(|before| continues(counter, before));
        if goes_on {
            counter.reset_hint = ResetHint::NotReset;
        }
        before = Some(Arc::clone(histogram));
    }
}

fn continues(now: &Histogram, before: &Histogram) -> bool {
    if now.is_stale() || before.is_stale() {
        return now.is_stale();
    }
    let mut before = before.clone();
    before.reset_hint = ResetHint::Unknown;
    now.schema == before.schema
        && now.zero_threshold == before.zero_threshold
        && now.custom_bounds == before.custom_bounds
        && !now.detect_reset(&before)
}

/// The native histograms with custom bounds that the classic histograms among `loaded` become.
fn classic_histograms(loaded: &[Loaded]) -> Vec<(Labels, Vec<LoadedSample>)> {
    let mut found: BTreeMap<Labels, BTreeMap<i64, Classic>> = BTreeMap::new();
    for one in loaded {
        let name = one.labels.name();
        let Some((base, part)) = ["_bucket", "_count", "_sum"]
            .into_iter()
            .find_map(|suffix| name.strip_suffix(suffix).map(|base| (base, suffix)))
        else {
            continue;
        };
        let Ok(le) = one
            .labels
            .get("le")
            .parse::<f64>()
            .or_else(|error| match part {
                "_bucket" => Err(error),
                _ => Ok(0.0),
            })
        else {
            continue;
        };
        let series = found
            .entry(one.labels.with("le", "").with(METRIC_NAME, base))
            .or_default();
        for LoadedSample { ts, sample, .. } in &one.samples {
            let Sample::Float(value) = sample else {
                continue;
            };
            let classic = series.entry(*ts).or_default();
            match part {
                "_bucket" => classic.buckets.push((le, *value)),
                "_count" => classic.count = Some(*value),
                _ => classic.sum = *value,
            }
        }
    }
    found
        .into_iter()
        .map(|(labels, times)| (labels, times.into_iter().map(converted).collect()))
        .collect()
}

fn converted((ts, mut classic): (i64, Classic)) -> LoadedSample {
    classic
        .buckets
        .sort_by(|left, right| left.0.total_cmp(&right.0));
    // Of a bound that is written in two ways the first counts.
    classic.buckets.dedup_by(|later, first| later.0 == first.0);
    let histogram =
        Histogram::from_cumulative(&classic.buckets, classic.count, classic.sum).unwrap();
    LoadedSample {
        ts,
        start: 0,
        sample: Sample::Histogram(Arc::new(histogram), false),
    }
}
