//! `smoothed` instant selectors: values between samples are interpolated.

use std::sync::Arc;

use crate::error::EvalError;
use crate::functions::extended::{interpolate, interpolate_histograms};
use crate::functions::notes;
use crate::histogram::{Histogram, ResetHint};
use crate::number::quote;
use crate::select::node::Selector;

use super::Evaluator;
use super::grid::{Column, Steps};
use super::range::Cell;
use super::raw::{Cursor, Slice};

/// Where a remark belongs.
struct Place<'p> {
    at: usize,
    name: &'p str,
}

impl Evaluator<'_> {
    /// A smoothed selector at all steps.
    pub(super) fn smoothed(
        &self,
        selector: &Selector,
        at: usize,
        steps: Steps,
    ) -> Result<Vec<Column>, EvalError> {
        let lookback = self.params.lookback;
        let mut columns = Vec::new();
        for raw in self.raw(selector, false) {
            self.check()?;
            let (mut floats, mut hists) = (Cursor::default(), Cursor::default());
            let mut column = Column::new(raw.labels.clone(), steps.count);
            let place = Place {
                at,
                name: raw.labels.name(),
            };
            for step in 0..steps.count {
                let time = selector.shift.of(steps.at(step));
                let from = time.saturating_sub(lookback);
                let to = time.saturating_add(lookback);
                let floats = floats.slice(&raw.floats, from, to);
                let hists = hists.slice(&raw.hists, from, to);
                let cell = self.smooth_cell((floats, hists), time, &place);
                match cell {
                    Some(Cell::Float(value)) => column.set_float(step, value),
                    Some(Cell::Shared(hist)) => column.set_hist(step, hist),
                    Some(Cell::Hist(hist)) => column.set_hist(step, Arc::new(hist)),
                    None => {}
                }
            }
            if !column.is_empty() {
                self.hold(column.weight())?;
                columns.push(column);
            }
        }
        Ok(columns)
    }

    /// One cell from the samples around its time.
    fn smooth_cell(
        &self,
        (floats, hists): (Slice<'_, f64>, Slice<'_, Arc<Histogram>>),
        time: i64,
        place: &Place<'_>,
    ) -> Option<Cell> {
        if !floats.is_empty() && !hists.is_empty() {
            let name = quote(place.name);
            let text = format!("encountered a mix of histograms and floats for metric name {name}");
            self.note(|all| all.warn(place.at, text));
            return None;
        }
        if hists.is_empty() {
            return float_at(floats, time).map(Cell::Float);
        }
        self.hist_at(hists, time, place).map(Cell::Shared)
    }

    fn hist_at(
        &self,
        hists: Slice<'_, Arc<Histogram>>,
        time: i64,
        place: &Place<'_>,
    ) -> Option<Arc<Histogram>> {
        let next = hists.ts.partition_point(|ts| *ts < time);
        if hists.ts.get(next) == Some(&time) {
            return Some(Arc::clone(&hists.values[next]));
        }
        let before = next.checked_sub(1)?;
        let first = &hists.values[before];
        let Some(second) = hists.values.get(next) else {
            // A hint is about the sample itself, not about a value carried forward.
            let mut carried = Histogram::clone(first);
            carried.reset_hint = ResetHint::Unknown;
            return Some(Arc::new(carried));
        };
        let gauges = [first, second]
            .iter()
            .all(|hist| hist.reset_hint == ResetHint::Gauge);
        let mut note = |operation| notes::reconciled(self, place.at, operation);
        let ends = ((hists.ts[before], &**first), (hists.ts[next], &**second));
        let found = if first.has_custom_bounds() == second.has_custom_bounds() {
            interpolate_histograms(ends.0, ends.1, time, !gauges, &mut note).ok()
        } else {
            None
        };
        if found.is_none() {
            notes::mixed_schemas_of(self, place.at, place.name);
        }
        found.map(Arc::new)
    }
}

fn float_at(floats: Slice<'_, f64>, time: i64) -> Option<f64> {
    let next = floats.ts.partition_point(|ts| *ts < time);
    if floats.ts.get(next) == Some(&time) {
        return Some(floats.values[next]);
    }
    let before = next.checked_sub(1)?;
    let first = (floats.ts[before], floats.values[before]);
    match floats.values.get(next) {
        Some(value) => Some(interpolate(first, (floats.ts[next], *value), time, false)),
        None => Some(first.1),
    }
}
