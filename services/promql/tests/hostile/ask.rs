//! A query in, its answer as text out; and what it took.

use promql::eval::evaluate;
use promql::labels::Labels;
use promql::parse::parse;
use promql::select::{Params, Plan};
use promql::series::{Floats, Series, SeriesSet};
use promql::value::{Point, Value};

/// Threads of an async runtime have this much.
const STACK: usize = 2 * 1024 * 1024;

pub(crate) const TOO_MANY: &str =
    "query processing would load too many samples into memory in query execution";

/// A series `x` of `1 2 3`, a minute apart, ending at the first evaluation.
pub(crate) fn series(at: i64) -> SeriesSet {
    let ts = vec![at - 120_000, at - 60_000, at];
    let floats = Floats {
        ts,
        values: vec![1.0, 2.0, 3.0],
        starts: Vec::new(),
    };
    let labels = Labels::from_pairs([("__name__", "x"), ("le", "1"), ("a", "b")]);
    SeriesSet {
        series: vec![Series {
            labels,
            floats,
            ..Series::default()
        }],
    }
}

/// What a query answers, as text: values separated by blanks, or the error.
pub(crate) fn answer(query: &str, params: Params) -> String {
    let expr = match parse(query) {
        Ok(expr) => expr,
        Err(error) => return error.to_string(),
    };
    let plan = match Plan::new(expr, params) {
        Ok(plan) => plan,
        Err(error) => return error.to_string(),
    };
    let sets = vec![series(params.start.max(0)); plan.selections().len()];
    let value = match evaluate(&plan, sets) {
        Ok(answer) => answer.value,
        Err(error) => return error.to_string(),
    };
    let point = |point: &Point| match point {
        Point::Float(value) => value.to_string(),
        Point::Histogram(hist) => hist.to_string(),
    };
    match value {
        Value::Scalar { value, .. } => value.to_string(),
        Value::String { value, .. } => value,
        Value::Vector(samples) => {
            let texts: Vec<String> = samples.iter().map(|one| point(&one.value)).collect();
            texts.join(" ")
        }
        Value::Matrix(series) => format!("{} series", series.len()),
    }
}

/// At ten minutes.
pub(crate) fn instant(query: &str) -> String {
    answer(query, Params::instant(600_000))
}

/// The most memory that this process ever had, in KiB.
pub(crate) fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let words = line.unwrap().split_whitespace();
    words.skip(1).find_map(|word| word.parse().ok()).unwrap()
}

pub(crate) fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(work).unwrap().join().unwrap();
}
