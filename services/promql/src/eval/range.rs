//! Functions over ranges: a sliding window over each series' samples in, one value per step out.

use std::sync::Arc;

use crate::ast::{Smoothing, ValueType};
use crate::error::EvalError;
use crate::functions::{absent, rate, windows};
use crate::histogram::Histogram;
use crate::labels::Labels;
use crate::select::node::{CallNode, Node, NodeKind, Selector, Shift};

use super::Evaluator;
use super::grid::{Column, Steps, distinct_without_metadata, merge, weight_of};
use super::raw::{Cursor, Raw, Slice};
use super::selector::window;

/// After how many samples of windows it is asked again whether anybody still waits for the answer.
const CHECK_EVERY: usize = 1 << 17;

/// A value that a function gives for one window.
#[derive(Debug)]
pub(crate) enum Cell {
    Float(f64),
    Hist(Histogram),
    /// A stored histogram, unchanged.
    Shared(Arc<Histogram>),
}

mod fast;

/// What a function over a range sees at one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<'w> {
    /// The labels of the series.
    pub(crate) labels: &'w Labels,
    /// Its samples in the window; with `anchored` and `smoothed` also from around it.
    pub(crate) floats: Slice<'w, f64>,
    pub(crate) hists: Slice<'w, Arc<Histogram>>,
    /// The evaluation time.
    pub(crate) ts: i64,
    /// The window is `(start, end]`.
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) smoothing: Smoothing,
    /// The values of the other arguments at this step.
    pub(crate) params: &'w [f64],
    /// Where the first argument stands in the query, for remarks.
    pub(crate) at: usize,
    /// Whether the floats of the series fall anywhere.
    pub(crate) falls: bool,
}

impl Window<'_> {
    /// The length of the window in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        crate::number::span_seconds(self.end - self.start)
    }

    /// The name of the metric.
    pub(crate) fn name(&self) -> &str {
        self.labels.name()
    }
}

/// What computes a function's value from a window.
pub(crate) type WindowFn = fn(&Evaluator<'_>, &Window<'_>) -> Result<Option<Cell>, EvalError>;

/// Where the windows of a call come from.
struct Source<'a> {
    function: WindowFn,
    /// The other arguments, per step.
    params: Vec<Vec<f64>>,
    series: Vec<Raw<'a>>,
    shift: Shift,
    range: i64,
    smoothing: Smoothing,
    at: usize,
    /// What its samples weigh in the budget.
    weight: usize,
    /// The selector itself, where it is not a subquery.
    selector: Option<&'a Selector>,
}

impl<'a> Evaluator<'a> {
    /// A call whose argument `position` is a range.
    pub(super) fn range_call(
        &self,
        call: &'a CallNode,
        position: usize,
        steps: Steps,
    ) -> Result<Vec<Column>, EvalError> {
        let name = call.function.name;
        let mut source = self.source(name, &call.args[position], steps)?;
        if position > 0 {
            // Remarks stand at the first argument, whichever it is.
            source.at = call.args[0].at;
        }
        for (other, arg) in call.args.iter().enumerate() {
            if other != position {
                source.params.push(self.scalar(arg, steps)?);
            }
        }
        let mut columns = Vec::new();
        for raw in &source.series {
            self.check()?;
            let column = match fast::slide(name, raw, &source, steps, self) {
                Some(column) => column,
                None => self.slide(raw, &source, steps)?,
            };
            // The direct way ends early when it is stopped.
            self.check()?;
            if let Some(column) = column {
                self.hold(column.weight())?;
                if matches!(name, "rate" | "increase") && column.floats.any() {
                    rate::check_counter(self, &raw.labels, source.at);
                }
                columns.push(column);
            }
        }
        // The samples of a subquery are gone after this; stored ones were never counted.
        self.release(source.weight);
        self.finish_range(name, &source, columns, steps)
    }

    fn finish_range(
        &self,
        name: &str,
        source: &Source<'_>,
        mut columns: Vec<Column>,
        steps: Steps,
    ) -> Result<Vec<Column>, EvalError> {
        if name == "absent_over_time" {
            let matchers = source
                .selector
                .map_or(&[][..], |selector| &selector.matchers);
            return Ok(absent::column(matchers, &columns, steps)
                .into_iter()
                .collect());
        }
        let keeps_name = matches!(name, "last_over_time" | "first_over_time");
        let distinct = distinct_without_metadata(columns.iter().map(|column| &column.labels));
        for column in &mut columns {
            if !keeps_name || column.drop_name {
                self.drop_name(column);
            }
        }
        if self.delays_names() || keeps_name || distinct {
            Ok(columns)
        } else {
            merge(columns, true)
        }
    }

    /// The series behind a range argument.
    fn source(&self, name: &str, arg: &'a Node, steps: Steps) -> Result<Source<'a>, EvalError> {
        let Some(function) = windows::function(name) else {
            return Err(EvalError::Execution(format!("unknown function {name}")));
        };
        let params = Vec::new();
        match &arg.kind {
            NodeKind::Range(range) => {
                let selector = &range.selector;
                check_smoothing(name, selector.smoothing)?;
                let starts = self.params.features.start_timestamps
                    && matches!(name, "rate" | "irate" | "increase" | "resets");
                Ok(Source {
                    function,
                    params,
                    series: self.raw(selector, starts).collect(),
                    shift: selector.shift,
                    range: range.range,
                    smoothing: selector.smoothing,
                    at: arg.at,
                    weight: 0,
                    selector: Some(selector),
                })
            }
            NodeKind::Subquery(subquery) => {
                let (series, weight) = self.subquery(subquery, steps)?;
                Ok(Source {
                    function,
                    params,
                    series,
                    shift: subquery.shift,
                    range: subquery.range,
                    smoothing: Smoothing::None,
                    // Prometheus loses the place of a subquery, and its remarks stand at the start.
                    at: 0,
                    weight,
                    selector: None,
                })
            }
            _ => Err(EvalError::Execution(format!("{name} needs a range"))),
        }
    }

    /// One series at all steps.
    fn slide(
        &self,
        raw: &Raw<'_>,
        source: &Source<'_>,
        steps: Steps,
    ) -> Result<Option<Column>, EvalError> {
        let (mut floats, mut hists) = (Cursor::default(), Cursor::default());
        let mut at_step = vec![0.0; source.params.len()];
        let mut column: Option<Column> = None;
        let (mut samples, mut next_check) = (0, CHECK_EVERY);
        let (before, after) = self.margins(source.smoothing);
        let falls = raw.falls();
        for step in 0..steps.count {
            let ts = steps.at(step);
            let (start, end) = window(source.shift, source.range, ts);
            let (from, to) = (start.saturating_sub(before), end.saturating_add(after));
            let floats = floats.slice(&raw.floats, from, to);
            let hists = hists.slice(&raw.hists, from, to);
            if floats.is_empty() && hists.is_empty() {
                continue;
            }
            samples += floats.len();
            samples += hists
                .values
                .iter()
                .map(|hist| weight_of(hist))
                .sum::<usize>();
            if samples >= next_check {
                self.check()?;
                next_check = samples + CHECK_EVERY;
            }
            for (value, param) in at_step.iter_mut().zip(&source.params) {
                *value = param.get(step).copied().unwrap_or(f64::NAN);
            }
            let view = Window {
                labels: &raw.labels,
                floats,
                hists,
                ts,
                start,
                end,
                smoothing: source.smoothing,
                params: &at_step,
                at: source.at,
                falls,
            };
            let Some(cell) = (source.function)(self, &view)? else {
                continue;
            };
            let column = column.get_or_insert_with(|| {
                let mut column = Column::new(raw.labels.clone(), steps.count);
                column.drop_name = raw.drop_name;
                column
            });
            match cell {
                Cell::Float(value) => column.set_float(step, value),
                Cell::Hist(hist) => column.set_hist(step, Arc::new(hist)),
                Cell::Shared(hist) => column.set_hist(step, hist),
            }
        }
        self.read(samples);
        Ok(column)
    }

    /// How far before and after its window an extended range looks.
    pub(crate) fn margins(&self, smoothing: Smoothing) -> (i64, i64) {
        match smoothing {
            Smoothing::None => (0, 0),
            Smoothing::Anchored => (self.params.lookback, 0),
            Smoothing::Smoothed => (self.params.lookback, self.params.lookback),
        }
    }
}

fn check_smoothing(name: &str, smoothing: Smoothing) -> Result<(), EvalError> {
    let (word, allowed): (_, &[&str]) = match smoothing {
        Smoothing::None => return Ok(()),
        Smoothing::Anchored => (
            "anchored",
            &["changes", "delta", "increase", "rate", "resets"],
        ),
        Smoothing::Smoothed => ("smoothed", &["delta", "increase", "rate"]),
    };
    if allowed.contains(&name) {
        return Ok(());
    }
    let list = allowed.join(", ");
    let text = format!("{word} modifier can only be used with: {list} - not with {name}");
    Err(EvalError::Execution(text))
}

/// Which argument of a call is a range.
pub(super) fn range_argument(call: &CallNode) -> Option<usize> {
    let takes = call.function.arg_types.contains(&ValueType::Matrix);
    call.args.iter().position(|arg| takes && arg.is_matrix())
}
