//! Function calls whose arguments are no ranges.

use crate::ast::ValueType;
use crate::error::EvalError;
use crate::functions::{absent, dates, info, math, quantile, relabel, sorting};
use crate::histogram::Histogram;
use crate::labels::{Labels, METRIC_NAME};
use crate::number::{go_max, go_min, seconds};
use crate::select::node::{CallNode, Node, NodeKind, Selector};

use super::grid::{Column, Steps, distinct_without_metadata, merge};
use super::range::range_argument;
use super::selector::Lookup;
use super::{Evaluated, Evaluator};

impl<'a> Evaluator<'a> {
    /// A function call.
    pub(super) fn call(
        &self,
        call: &'a CallNode,
        at: usize,
        steps: Steps,
    ) -> Result<Evaluated, EvalError> {
        if let Some(position) = range_argument(call) {
            return self
                .range_call(call, position, steps)
                .map(Evaluated::Vector);
        }
        if call.function.return_type == ValueType::Scalar {
            return self.scalar_call(call, steps).map(Evaluated::Scalar);
        }
        self.vector_call(call, at, steps).map(Evaluated::Vector)
    }

    fn scalar_call(&self, call: &'a CallNode, steps: Steps) -> Result<Vec<f64>, EvalError> {
        let number = |at: usize| self.scalar(&call.args[at], steps);
        Ok(match call.function.name {
            "time" => (0..steps.count)
                .map(|step| seconds(steps.at(step)))
                .collect(),
            "pi" => vec![std::f64::consts::PI; steps.count],
            "max_of" => zip(&number(0)?, &number(1)?, go_max),
            "min_of" => zip(&number(0)?, &number(1)?, go_min),
            "scalar" => {
                let columns = self.vector(&call.args[0], steps)?;
                (0..steps.count)
                    .map(|step| only_float(&columns, step))
                    .collect()
            }
            name => return Err(unknown(name)),
        })
    }

    fn vector_call(
        &self,
        call: &'a CallNode,
        at: usize,
        steps: Steps,
    ) -> Result<Vec<Column>, EvalError> {
        let name = call.function.name;
        match name {
            "vector" => {
                let numbers = self.scalar(&call.args[0], steps)?;
                Ok(vec![Column::filled(Labels::empty(), numbers)])
            }
            "absent" => {
                let columns = self.vector(&call.args[0], steps)?;
                let matchers = match &call.args[0].kind {
                    NodeKind::Selector(selector) => &selector.matchers[..],
                    _ => &[],
                };
                Ok(absent::column(matchers, &columns, steps)
                    .into_iter()
                    .collect())
            }
            "timestamp" | "start_timestamp" => self.timestamp(call, steps),
            "label_replace" | "label_join" => self.relabel(call, steps),
            "info" => self.info_call(call, steps),
            "sort" | "sort_desc" | "sort_by_label" | "sort_by_label_desc" => {
                self.sort(call, at, steps)
            }
            _ if name.starts_with("histogram_") => self.histogram_call(call, steps),
            _ => self.float_call(call, steps),
        }
    }

    fn relabel(&self, call: &'a CallNode, steps: Steps) -> Result<Vec<Column>, EvalError> {
        let texts: Vec<&str> = call.args.iter().skip(1).map(text).collect();
        let function = match call.function.name {
            "label_replace" => relabel::label_replace,
            _ => relabel::label_join,
        };
        // The texts are checked even where there are no series.
        function(&mut [], &texts)?;
        let mut columns = self.vector(&call.args[0], steps)?;
        function(&mut columns, &texts)?;
        merge(columns, false)
    }

    fn info_call(&self, call: &'a CallNode, steps: Steps) -> Result<Vec<Column>, EvalError> {
        let columns = self.vector(&call.args[0], steps)?;
        match &call.info {
            Some(selection) => info::info(self, columns, selection, steps),
            None => Ok(columns),
        }
    }

    fn sort(&self, call: &'a CallNode, at: usize, steps: Steps) -> Result<Vec<Column>, EvalError> {
        let mut columns = self.vector(&call.args[0], steps)?;
        if !steps.single {
            let text =
                "sort is ineffective for range queries since results are always ordered by labels";
            self.note(|all| all.warn(at, text));
        }
        let name = call.function.name;
        let falling = name.ends_with("_desc");
        if name.starts_with("sort_by_label") {
            let labels: Vec<&str> = call.args.iter().skip(1).map(text).collect();
            sorting::by_label(&mut columns, &labels, falling);
        } else if steps.count > 0 {
            sorting::by_value(&mut columns, falling);
        }
        Ok(columns)
    }

    /// `timestamp` and `start_timestamp`: of a selector the times of its samples, of anything else the
    /// evaluation time.
    fn timestamp(&self, call: &'a CallNode, steps: Steps) -> Result<Vec<Column>, EvalError> {
        let wants_start = call.function.name == "start_timestamp";
        if wants_start && !self.params.features.start_timestamps {
            self.vector(&call.args[0], steps)?;
            return Ok(Vec::new());
        }
        let columns = match &call.args[0].kind {
            NodeKind::Selector(selector) => self.sample_times(selector, wants_start, steps)?,
            _ if wants_start => Vec::new(),
            _ => {
                let mut columns = self.vector(&call.args[0], steps)?;
                for column in &mut columns {
                    column.floats = column.presence();
                    column.hists = Vec::new();
                    let vals = column.vals.iter_mut().enumerate();
                    vals.for_each(|(step, value)| *value = seconds(steps.at(step)));
                }
                columns
            }
        };
        self.nameless(columns)
    }

    fn sample_times(
        &self,
        selector: &Selector,
        wants_start: bool,
        steps: Steps,
    ) -> Result<Vec<Column>, EvalError> {
        let mut columns = Vec::new();
        for series in self.series(selector.selection) {
            self.check()?;
            let mut lookup = Lookup::new(series, self.params.lookback);
            let mut column = Column::new(series.labels.clone(), steps.count);
            for step in 0..steps.count {
                // As in Prometheus, a fixed time makes this function forget the offset.
                let time = selector
                    .shift
                    .at
                    .unwrap_or_else(|| selector.shift.of(steps.at(step)));
                let found = lookup.at(time).map(|latest| match wants_start {
                    true => lookup.start(latest),
                    false => lookup.time(latest),
                });
                if let Some(time) = found {
                    column.set_float(step, seconds(time));
                }
            }
            if column.floats.any() {
                self.read(column.floats.ones());
                self.hold(column.weight())?;
                columns.push(column);
            }
        }
        Ok(columns)
    }

    fn histogram_call(&self, call: &'a CallNode, steps: Steps) -> Result<Vec<Column>, EvalError> {
        let args = &call.args;
        let number = |at: usize| self.scalar(&args[at], steps);
        let name = call.function.name;
        match name {
            "histogram_quantile" => {
                let quantiles = number(0)?;
                let columns = self.vector(&args[1], steps)?;
                let histograms = (columns, args[1].at);
                quantile::histogram_quantile(self, quantiles, args[0].at, histograms, steps)
            }
            "histogram_fraction" => {
                let limits = (number(0)?, number(1)?);
                let columns = self.vector(&args[2], steps)?;
                quantile::histogram_fraction(self, limits, (columns, args[2].at), steps)
            }
            "histogram_quantiles" => {
                let columns = self.vector(&args[0], steps)?;
                let mut quantiles = Vec::new();
                for arg in args.iter().skip(2) {
                    quantiles.push((self.scalar(arg, steps)?, arg.at));
                }
                let histograms = (columns, args[0].at);
                quantile::histogram_quantiles(self, text(&args[1]), quantiles, histograms, steps)
            }
            _ => {
                let function: fn(&Histogram) -> f64 = match name {
                    "histogram_count" => |hist| hist.count,
                    "histogram_sum" => |hist| hist.sum,
                    "histogram_avg" => Histogram::avg,
                    "histogram_stddev" => Histogram::stddev,
                    "histogram_stdvar" => Histogram::stdvar,
                    _ => return Err(unknown(name)),
                };
                self.histogram_numbers(&args[0], steps, function)
            }
        }
    }

    /// One number from each histogram; floats are passed over. Type and unit labels stay.
    fn histogram_numbers(
        &self,
        arg: &'a Node,
        steps: Steps,
        function: fn(&Histogram) -> f64,
    ) -> Result<Vec<Column>, EvalError> {
        let mut out = Vec::new();
        for column in self
            .vector(arg, steps)?
            .iter()
            .filter(|column| !column.hists.is_empty())
        {
            let mut made = Column::new(column.labels.clone(), steps.count);
            for step in 0..steps.count {
                if let Some(hist) = column.hist(step) {
                    made.set_float(step, function(hist));
                }
            }
            if !self.delays_names() {
                made.labels = made.labels.with(METRIC_NAME, "");
            }
            made.drop_name = true;
            if made.floats.any() {
                out.push(made);
            }
        }
        if self.delays_names() {
            Ok(out)
        } else {
            merge(out, false)
        }
    }

    fn float_call(&self, call: &'a CallNode, steps: Steps) -> Result<Vec<Column>, EvalError> {
        let name = call.function.name;
        let args = &call.args;
        let number = |at: usize, default: f64| match args.get(at) {
            Some(arg) => self.scalar(arg, steps),
            None => Ok(vec![default; steps.count]),
        };
        if let (Some(read), None) = (dates::function(name), args.first()) {
            let fields = (0..steps.count).map(|step| read((steps.at(step) / 1000) as f64));
            return Ok(vec![Column::filled(Labels::empty(), fields.collect())]);
        }
        let columns = self.vector(&args[0], steps)?;
        let (min, max) = match name {
            "clamp" => (number(1, f64::NAN)?, number(2, f64::NAN)?),
            "clamp_min" => (number(1, f64::NAN)?, vec![f64::INFINITY; steps.count]),
            "clamp_max" => (vec![f64::NEG_INFINITY; steps.count], number(1, f64::NAN)?),
            "round" => {
                let nearest = number(1, 1.0)?;
                return self.map(columns, |step, value| {
                    Some(math::round(value, nearest[step]))
                });
            }
            _ => {
                let function = math::function(name).or_else(|| dates::function(name));
                let function = function.ok_or_else(|| unknown(name))?;
                return self.map(columns, |_, value| Some(function(value)));
            }
        };
        self.map(columns, |step, value| {
            let empty = max[step] < min[step];
            (!empty).then(|| math::clamp(value, min[step], max[step]))
        })
    }

    /// Each float as `function` of it; histograms are passed over and names go.
    fn map(
        &self,
        mut columns: Vec<Column>,
        function: impl Fn(usize, f64) -> Option<f64>,
    ) -> Result<Vec<Column>, EvalError> {
        for column in &mut columns {
            column.hists = Vec::new();
            for step in 0..column.vals.len() {
                let Some(value) = column.float(step) else {
                    continue;
                };
                match function(step, value) {
                    Some(value) => column.vals[step] = value,
                    None => column.floats.clear(step),
                }
            }
        }
        columns.retain(|column| column.floats.any());
        self.nameless(columns)
    }

    /// The columns without names; those that are the same then are put together.
    pub(crate) fn nameless(&self, mut columns: Vec<Column>) -> Result<Vec<Column>, EvalError> {
        let distinct = distinct_without_metadata(columns.iter().map(|column| &column.labels));
        columns.iter_mut().for_each(|column| self.drop_name(column));
        if self.delays_names() || distinct {
            Ok(columns)
        } else {
            merge(columns, false)
        }
    }
}

/// The only float at `step`, NaN where there is none or more than one.
fn only_float(columns: &[Column], step: usize) -> f64 {
    let mut floats = columns.iter().filter_map(|column| column.float(step));
    match (floats.next(), floats.next()) {
        (Some(value), None) => value,
        _ => f64::NAN,
    }
}

fn zip(left: &[f64], right: &[f64], function: fn(f64, f64) -> f64) -> Vec<f64> {
    left.iter()
        .zip(right)
        .map(|(left, right)| function(*left, *right))
        .collect()
}

/// The text of a literal argument.
pub(crate) fn text(node: &Node) -> &str {
    match &node.kind {
        NodeKind::Text(text) => text,
        NodeKind::Once(inner) => text(inner),
        _ => "",
    }
}

fn unknown(name: &str) -> EvalError {
    EvalError::Execution(format!("unknown function {name}"))
}
