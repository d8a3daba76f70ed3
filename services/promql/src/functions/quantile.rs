//! `histogram_quantile`, `histogram_quantiles` and `histogram_fraction` over classic and native histograms.

use std::collections::HashMap;
use std::sync::Arc;

use crate::annotations::{Forced, with_metric};
use crate::error::EvalError;
use crate::eval::Evaluator;
use crate::eval::grid::{Bits, Column, Steps, merge};
use crate::histogram::{Histogram, NanNote};
use crate::labels::Labels;
use crate::number::{label_value, quote};

use super::classic::{self, Bucket};
use super::notes;

/// The buckets of one classic histogram: columns in ascending order of their bounds.
struct Classic {
    labels: Labels,
    drop_name: bool,
    /// Bound and index of the column.
    buckets: Vec<(f64, usize)>,
    /// Steps at which it cannot be used because a native histogram has the same labels.
    conflicts: Bits,
}

/// What is asked of the histograms, per step.
pub(crate) enum Asked {
    /// Quantiles.
    Quantile(Vec<f64>),
    /// Shares between lower and upper limits.
    Fraction(Vec<f64>, Vec<f64>),
}

/// Histograms of either kind in `columns`, sorted out.
pub(crate) struct Histograms<'e> {
    ev: &'e Evaluator<'e>,
    /// Where the histograms stand in the query.
    at: usize,
    steps: Steps,
    columns: Vec<Column>,
    classic: Vec<Classic>,
}

impl<'e> Histograms<'e> {
    /// Tells classic buckets and native histograms apart; where both have the same labels at the same
    /// step, neither counts.
    pub(crate) fn new(
        ev: &'e Evaluator<'e>,
        mut columns: Vec<Column>,
        at: usize,
        steps: Steps,
    ) -> Self {
        let classic = group(ev, &columns, at, steps);
        let mut sorted = Self {
            ev,
            at,
            steps,
            columns: Vec::new(),
            classic,
        };
        sorted.separate(&mut columns);
        sorted.columns = columns;
        sorted
    }

    fn separate(&mut self, columns: &mut [Column]) {
        let places: HashMap<Labels, usize> = self
            .classic
            .iter()
            .enumerate()
            .map(|(at, one)| (one.labels.clone(), at))
            .collect();
        let mut conflicts: Vec<(usize, usize)> = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            let Some(place) = places.get(&column.labels) else {
                continue;
            };
            let classic = &mut self.classic[*place];
            for (step, hist) in column.hists.iter().enumerate() {
                let has_bucket = |(_, bucket): &(f64, usize)| columns[*bucket].floats.get(step);
                if hist.is_some() && classic.buckets.iter().any(has_bucket) {
                    classic.conflicts.set(step);
                    conflicts.push((index, step));
                }
            }
        }
        for (index, step) in conflicts {
            let text = "vector contains a mix of classic and native histograms";
            let text = with_metric(text, columns[index].labels.name());
            self.ev.note(|all| all.warn(self.at, text));
            columns[index].hists[step] = None;
        }
    }

    /// The metric's name where remarks show it: Prometheus has lost it by then unless names stay.
    fn name<'l>(&self, labels: &'l Labels) -> &'l str {
        if self.ev.delays_names() {
            labels.name()
        } else {
            ""
        }
    }

    /// One answer per histogram; `label` is set on each where given.
    pub(crate) fn answer(&self, asked: &Asked, label: Option<(&str, &[f64])>) -> Vec<Column> {
        let mut out = Vec::new();
        for column in self
            .columns
            .iter()
            .filter(|column| !column.hists.is_empty())
        {
            let cell = |step: usize| {
                let hist = column.hist(step)?;
                Some(self.native(asked, step, hist, self.name(&column.labels)))
            };
            out.extend(self.column(&column.labels, label, cell));
        }
        for classic in &self.classic {
            let mut buckets = Vec::with_capacity(classic.buckets.len());
            let cell = |step: usize| {
                if classic.conflicts.get(step) {
                    return None;
                }
                buckets.clear();
                buckets.extend(classic.buckets.iter().filter_map(|(bound, column)| {
                    let count = self.columns[*column].float(step)?;
                    Some(Bucket {
                        bound: *bound,
                        count,
                    })
                }));
                if buckets.is_empty() {
                    return None;
                }
                Some(self.classic_cell(asked, step, &mut buckets, &classic.labels))
            };
            let made = self.column(&classic.labels, label, cell);
            out.extend(made.into_iter().map(|mut column| {
                column.drop_name |= classic.drop_name;
                column
            }));
        }
        out
    }

    /// Columns from cells; several where the label's value changes over time.
    fn column(
        &self,
        labels: &Labels,
        label: Option<(&str, &[f64])>,
        mut cell: impl FnMut(usize) -> Option<f64>,
    ) -> Vec<Column> {
        let mut out: Vec<(u64, Column)> = Vec::new();
        for step in 0..self.steps.count {
            let Some(value) = cell(step) else {
                continue;
            };
            let quantile = label.map_or(0.0, |(_, quantiles)| quantiles[step]);
            let key = if quantile.is_nan() {
                f64::NAN.to_bits()
            } else {
                quantile.to_bits()
            };
            let at = out
                .iter()
                .position(|(known, _)| *known == key)
                .unwrap_or_else(|| {
                    let labels = match label {
                        Some((name, _)) => labels.with(name, &label_value(quantile)),
                        None => labels.clone(),
                    };
                    let mut column = Column::new(labels, self.steps.count);
                    self.ev.drop_name(&mut column);
                    out.push((key, column));
                    out.len() - 1
                });
            out[at].1.set_float(step, value);
        }
        out.into_iter().map(|(_, column)| column).collect()
    }

    fn native(&self, asked: &Asked, step: usize, hist: &Arc<Histogram>, name: &str) -> f64 {
        let (value, note) = match asked {
            Asked::Quantile(quantiles) => hist.quantile(quantiles[step]),
            Asked::Fraction(lower, upper) => hist.fraction(lower[step], upper[step]),
        };
        if let Some(note) = note {
            let text = match note {
                NanNote::QuantileIsNan => {
                    "input to histogram_quantile has NaN observations, result is NaN"
                }
                NanNote::QuantileSkewedHigher => {
                    "input to histogram_quantile has NaN observations, result is skewed higher"
                }
                NanNote::ExcludedFromFraction => {
                    "input to histogram_fraction has NaN observations, which are excluded from all fractions"
                }
            };
            self.ev
                .note(|all| all.info(self.at, with_metric(text, name)));
        }
        value
    }

    fn classic_cell(
        &self,
        asked: &Asked,
        step: usize,
        buckets: &mut Vec<Bucket>,
        labels: &Labels,
    ) -> f64 {
        match asked {
            Asked::Quantile(quantiles) => {
                let (value, forced) = classic::quantile(quantiles[step], buckets);
                if let Some(forced) = forced {
                    let ts = self.steps.at(step);
                    let forced = Forced {
                        first: ts,
                        last: ts,
                        ..forced
                    };
                    let name = self.name(labels);
                    self.ev
                        .note(|all| all.forced_monotonicity(self.at, name, forced));
                }
                value
            }
            Asked::Fraction(lower, upper) => classic::fraction(lower[step], upper[step], buckets),
        }
    }
}

/// Puts the buckets of each classic histogram together.
fn group(ev: &Evaluator<'_>, columns: &[Column], at: usize, steps: Steps) -> Vec<Classic> {
    let mut classic: Vec<Classic> = Vec::new();
    let mut places: HashMap<Labels, usize> = HashMap::new();
    for (index, column) in columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.floats.any())
    {
        let text = column.labels.get("le");
        let Ok(bound) = text.parse::<f64>() else {
            let name = column.labels.name();
            let text = format!(
                "bucket label \"le\" is missing or has a malformed value of {}",
                quote(text)
            );
            ev.note(|all| all.warn(at, with_metric(&text, name)));
            continue;
        };
        let labels = column.labels.filter(|name| name != "le");
        let place = *places.entry(labels.clone()).or_insert(classic.len());
        if place == classic.len() {
            let conflicts = Bits::new(steps.count);
            let drop_name = column.drop_name;
            classic.push(Classic {
                labels,
                drop_name,
                buckets: Vec::new(),
                conflicts,
            });
        }
        classic[place].buckets.push((bound, index));
    }
    for one in &mut classic {
        one.buckets
            .sort_by(|left, right| left.0.total_cmp(&right.0));
    }
    classic
}

/// `histogram_quantile`.
pub(crate) fn histogram_quantile(
    ev: &Evaluator<'_>,
    quantiles: Vec<f64>,
    quantile_at: usize,
    histograms: (Vec<Column>, usize),
    steps: Steps,
) -> Result<Vec<Column>, EvalError> {
    quantiles
        .iter()
        .for_each(|quantile| notes::bad_quantile(ev, quantile_at, *quantile));
    let (columns, at) = histograms;
    let sorted = Histograms::new(ev, columns, at, steps);
    merge(sorted.answer(&Asked::Quantile(quantiles), None), false)
}

/// `histogram_fraction`.
pub(crate) fn histogram_fraction(
    ev: &Evaluator<'_>,
    (lower, upper): (Vec<f64>, Vec<f64>),
    histograms: (Vec<Column>, usize),
    steps: Steps,
) -> Result<Vec<Column>, EvalError> {
    let (columns, at) = histograms;
    let sorted = Histograms::new(ev, columns, at, steps);
    merge(sorted.answer(&Asked::Fraction(lower, upper), None), false)
}

/// `histogram_quantiles`; each quantile comes with where it stands in the query.
pub(crate) fn histogram_quantiles(
    ev: &Evaluator<'_>,
    label: &str,
    quantiles: Vec<(Vec<f64>, usize)>,
    histograms: (Vec<Column>, usize),
    steps: Steps,
) -> Result<Vec<Column>, EvalError> {
    for (values, at) in &quantiles {
        values
            .iter()
            .for_each(|quantile| notes::bad_quantile(ev, *at, *quantile));
    }
    let (columns, at) = histograms;
    let sorted = Histograms::new(ev, columns, at, steps);
    let mut out = Vec::new();
    for (values, _) in quantiles {
        let asked = Asked::Quantile(values.clone());
        out.extend(sorted.answer(&asked, Some((label, &values))));
    }
    merge(out, false)
}
