//! Columns per stored series → the series of each selection: views applied, equal labels merged, sorted.

use std::sync::Arc;

use promql::labels::Labels;
use promql::series::{Floats, Histograms, Series, SeriesSet};

use crate::fetch::columns::{Numbers, Points};
use crate::fetch::resolve::{LE, Part, Pick, Resolved};
use crate::fetch::rows::Slots;
use crate::fetch::units::{Unit, Units};
use crate::fetch::views;

/// What was read for all selections of a query.
#[derive(Debug)]
pub(crate) struct Fetched {
    selections: Vec<Resolved>,
    plan: Units,
    slots: Vec<Slots>,
}

impl Fetched {
    /// `slots` are the results of the plan's units, in their order.
    pub(crate) fn new(selections: Vec<Resolved>, plan: Units, slots: Vec<Slots>) -> Self {
        Self {
            selections,
            plan,
            slots,
        }
    }

    /// How many stored series were read.
    pub(crate) fn series(&self) -> usize {
        self.plan.units.iter().map(|unit| unit.slots.len()).sum()
    }

    /// The series of each selection, in the order of the selections.
    pub(crate) fn into_sets(mut self) -> Vec<SeriesSet> {
        self.slots.iter_mut().for_each(Slots::tidy);
        let mut sets = Vec::with_capacity(self.selections.len());
        let Units { units, read_by, .. } = &mut self.plan;
        for (resolved, read) in self.selections.iter().zip(read_by) {
            let mut series = Vec::new();
            for at in read {
                let unit = &mut units[*at];
                unit.readers -= 1;
                let slots = &mut self.slots[*at];
                let mut source = Source { unit, slots };
                resolved
                    .picks
                    .iter()
                    .for_each(|pick| source.add(&mut series, pick, resolved));
            }
            sets.push(SeriesSet {
                series: merged(series),
            });
        }
        sets
    }
}

/// The result of one statement.
struct Source<'a> {
    unit: &'a Unit,
    slots: &'a mut Slots,
}

impl Source<'_> {
    /// Adds the series of `pick`, if they were read here. The last selection that reads a number takes
    /// its columns instead of a copy.
    fn add(&mut self, series: &mut Vec<Series>, pick: &Pick, resolved: &Resolved) {
        let Some(slot) = self.unit.slot(&pick.entry) else {
            return;
        };
        match (&mut *self.slots, &pick.parts[..]) {
            (Slots::Numbers(all), [(Part::Number, labels)]) => {
                let last = self.unit.readers == 0;
                let numbers = if last {
                    std::mem::take(&mut all[slot])
                } else {
                    all[slot].clone()
                };
                series.push(float_series(labels, floats(numbers)));
            }
            (Slots::Points(all), parts) => {
                for (part, labels) in parts {
                    histogram_part(series, &all[slot], pick, (*part, labels), resolved);
                }
            }
            // The pick is in the other table and comes with the other unit.
            (Slots::Numbers(_), _) => {}
        }
    }
}

fn floats(numbers: Numbers) -> Floats {
    Floats {
        ts: numbers.ts,
        values: numbers.values,
        starts: Vec::new(),
    }
}

fn float_series(labels: &Labels, floats: Floats) -> Series {
    Series {
        labels: labels.clone(),
        floats,
        histograms: Histograms::default(),
    }
}

/// Adds what one part of a stored histogram shows.
fn histogram_part(
    series: &mut Vec<Series>,
    points: &Points,
    pick: &Pick,
    (part, labels): (Part, &Labels),
    resolved: &Resolved,
) {
    let bounds = &pick.entry.bounds;
    match part {
        Part::Count => series.push(float_series(labels, views::counts(points))),
        Part::Sum => series.push(float_series(labels, views::sums(points))),
        Part::Bucket(bound) => series.push(float_series(
            labels,
            views::bucket(points, bound, bounds.len()),
        )),
        Part::Buckets => {
            let all = views::buckets(points).into_iter();
            let labelled = all.map(|(le, floats)| float_series(&labels.with(LE, &le), floats));
            series.extend(labelled.filter(|one| resolved.matchers.matches(&one.labels)));
        }
        Part::Native => {
            let histograms = views::native(points, bounds);
            series.push(Series {
                labels: labels.clone(),
                floats: Floats::default(),
                histograms,
            });
        }
        Part::Number => {}
    }
}

/// Sorts by labels and makes one series of those that carry the same ones: a histogram whose bounds have
/// changed, a gauge that is called like a part of a histogram. Series without samples are left out.
fn merged(mut series: Vec<Series>) -> Vec<Series> {
    series.retain(|one| !one.floats.ts.is_empty() || !one.histograms.ts.is_empty());
    series.sort_by(|left, right| left.labels.cmp(&right.labels));
    let mut merged: Vec<Series> = Vec::with_capacity(series.len());
    for one in series {
        match merged.last_mut() {
            Some(last) if last.labels == one.labels => join(last, one),
            _ => merged.push(one),
        }
    }
    merged
}

/// Adds the samples of `other`. Of two of the same time the greater number counts, and a number before a
/// histogram.
fn join(series: &mut Series, other: Series) {
    let mut numbers = Numbers {
        ts: std::mem::take(&mut series.floats.ts),
        values: std::mem::take(&mut series.floats.values),
    };
    numbers.ts.extend(other.floats.ts);
    numbers.values.extend(other.floats.values);
    numbers.tidy();
    let mut samples: Vec<(i64, Arc<promql::histogram::Histogram>)> =
        std::mem::take(&mut series.histograms.ts)
            .into_iter()
            .zip(std::mem::take(&mut series.histograms.values))
            .chain(other.histograms.ts.into_iter().zip(other.histograms.values))
            .filter(|(ts, _)| numbers.ts.binary_search(ts).is_err())
            .collect();
    // The preferred of a time first, so that it is the one that stays.
    samples.sort_by(|left, right| {
        let key = |one: &(i64, Arc<promql::histogram::Histogram>)| (one.0, one.1.is_stale());
        key(left)
            .cmp(&key(right))
            .then_with(|| right.1.count.total_cmp(&left.1.count))
    });
    samples.dedup_by_key(|(ts, _)| *ts);
    series.floats = floats(numbers);
    (series.histograms.ts, series.histograms.values) = samples.into_iter().unzip();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, samples: &[(i64, f64)]) -> Series {
        let (ts, values) = samples.iter().copied().unzip();
        float_series(
            &Labels::from_pairs([("__name__", name)]),
            Floats {
                ts,
                values,
                starts: vec![],
            },
        )
    }

    #[test]
    fn series_come_in_label_order_and_equal_labels_are_one() {
        let all = vec![
            series("b", &[(1, 1.0)]),
            series("a", &[(2, 5.0)]),
            series("b", &[(1, 3.0), (2, 2.0)]),
            series("c", &[]),
        ];
        let merged = merged(all);
        let names: Vec<_> = merged
            .iter()
            .map(|one| one.labels.name().to_owned())
            .collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(
            (&merged[1].floats.ts[..], &merged[1].floats.values[..]),
            (&[1, 2][..], &[3.0, 2.0][..])
        );
    }
}
