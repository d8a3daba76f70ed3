//! Any bytes in: the parser must answer without panicking, what it accepts must print to what it accepts, and
//! what it accepts must be planned and evaluated, within its budget, on a few fixed series, as an instant query
//! and as a range query that agrees with it.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use promql::ast::Expr;
use promql::error::EvalError;
use promql::eval::evaluate;
use promql::histogram::{Buckets, Histogram};
use promql::labels::Labels;
use promql::parse::{parse, parse_metric_selector};
use promql::select::{Features, Params, Plan, Selection};
use promql::series::{Floats, Histograms, STALE_NAN, Series, SeriesSet};
use promql::value::{Point, Value};

/// Distance of samples in milliseconds.
const STEP: i64 = 60_000;

/// Small, so that a case takes milliseconds.
const MAX_SAMPLES: usize = 20_000;

static SERIES: LazyLock<Vec<Series>> = LazyLock::new(series);

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let _ = parse_metric_selector(&text);
    let Ok(expr) = parse(&text) else { return };
    let printed = expr.to_string();
    let again = parse(&printed).expect("what is printed parses");
    assert_eq!(again.to_string(), printed);
    parse(&promql::format::pretty(&expr)).expect("what is laid out parses");
    for delayed_name_removal in [false, true] {
        let features = Features {
            delayed_name_removal,
            start_timestamps: delayed_name_removal,
            type_and_unit_labels: false,
        };
        let run = |params| {
            run(
                expr.clone(),
                Params {
                    max_samples: MAX_SAMPLES,
                    features,
                    ..params
                },
            )
        };
        let alone = run(Params::instant(AT));
        let among = run(Params::range(AT - 4 * STEP, AT + STEP, 30_000));
        if !ABOUT_THE_QUERY.iter().any(|word| printed.contains(word)) {
            agree(&printed, alone, among);
        }
    }
});

/// What makes the value at a step depend on the other steps.
const ABOUT_THE_QUERY: [&str; 4] = ["start()", "end()", "step()", "range()"];

/// When instants are evaluated.
const AT: i64 = 8 * STEP;

/// Either an answer or an error; nothing else may happen.
fn run(expr: Expr, params: Params) -> Result<Value, EvalError> {
    let plan = Plan::new(expr, params)?;
    let sets = plan.selections().iter().map(fetched).collect();
    let answer = evaluate(&plan, sets)?;
    assert!(answer.peak_samples <= MAX_SAMPLES as u64);
    Ok(answer.value)
}

/// A range query gives at each step what an instant query gives there. It may fail at another step.
fn agree(query: &str, alone: Result<Value, EvalError>, among: Result<Value, EvalError>) {
    let (Ok(alone), Ok(Value::Matrix(series))) = (alone, among) else {
        return;
    };
    let float = |value: f64| match value.is_nan() {
        true => "NaN".to_owned(),
        false => format!("{:x}", value.to_bits()),
    };
    let mut left: Vec<(String, String)> = match alone {
        Value::Scalar { value, .. } => vec![("{}".to_owned(), float(value))],
        Value::Vector(samples) => samples
            .iter()
            .map(|one| match &one.value {
                Point::Float(value) => (one.labels.to_string(), float(*value)),
                Point::Histogram(hist) => (one.labels.to_string(), format!("{hist:?}")),
            })
            .collect(),
        Value::String { .. } | Value::Matrix(_) => return,
    };
    let mut right = Vec::new();
    for one in &series {
        let floats = one.floats.iter().filter(|(ts, _)| *ts == AT);
        right.extend(floats.map(|(_, value)| (one.labels.to_string(), float(*value))));
        let hists = one.histograms.iter().filter(|(ts, _)| *ts == AT);
        right.extend(hists.map(|(_, hist)| (one.labels.to_string(), format!("{hist:?}"))));
    }
    left.sort();
    right.sort();
    assert_eq!(left, right, "{query}");
}

/// All series whatever the matchers say, so that random names find something; only the times count.
fn fetched(selection: &Selection) -> SeriesSet {
    let inside = |ts: &i64| *ts > selection.start && *ts <= selection.end;
    let series = SERIES.iter().map(|all| Series {
        labels: all.labels.clone(),
        floats: Floats {
            ts: all.floats.ts.iter().copied().filter(inside).collect(),
            values: kept(&all.floats.ts, &all.floats.values, inside),
            starts: kept(&all.floats.ts, &all.floats.starts, inside),
        },
        histograms: Histograms {
            ts: all.histograms.ts.iter().copied().filter(inside).collect(),
            values: kept(&all.histograms.ts, &all.histograms.values, inside),
            starts: Vec::new(),
        },
    });
    SeriesSet {
        series: series.collect(),
    }
}

fn kept<T: Clone>(ts: &[i64], values: &[T], inside: impl Fn(&i64) -> bool) -> Vec<T> {
    let pairs = ts.iter().zip(values);
    pairs
        .filter(|(ts, _)| inside(ts))
        .map(|(_, value)| value.clone())
        .collect()
}

fn series() -> Vec<Series> {
    let nan = f64::from_bits(STALE_NAN);
    let mut all = vec![
        floats(
            "a",
            "1",
            &[1.0, 2.0, 3.0, 1.0, 5.0, 1e15, 6.0, 7.0, 8.0, 9.0, 10.0],
        ),
        floats("a", "+Inf", &[0.0, 5.0, 5.0, nan, 9.0, f64::INFINITY, 3.0]),
        floats("b", "0.5", &[-1.0, f64::NAN, 0.0, f64::NEG_INFINITY, 4.0]),
        floats(
            "c_bucket",
            "2",
            &[1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0],
        ),
    ];
    for (name, schema) in [("h", 0), ("i", 3), ("n", -53)] {
        let histograms = Histograms {
            ts: (0..10).map(|step| step * STEP).collect(),
            values: (0..10)
                .map(|step| histogram(schema, f64::from(step)))
                .collect(),
            starts: Vec::new(),
        };
        all.push(Series {
            labels: Labels::from_pairs([("__name__", name), ("job", "j")]),
            histograms,
            ..Series::default()
        });
    }
    all
}

fn floats(name: &str, le: &str, values: &[f64]) -> Series {
    let labels = [
        ("__name__", name),
        ("instance", "i"),
        ("job", "j"),
        ("le", le),
    ];
    let ts: Vec<i64> = (0..).map(|step| step * STEP).take(values.len()).collect();
    Series {
        labels: Labels::from_pairs(labels),
        floats: Floats {
            starts: ts.iter().map(|ts| ts - 7 * STEP / 2).collect(),
            ts,
            values: values.to_vec(),
        },
        ..Series::default()
    }
}

fn histogram(schema: i32, scale: f64) -> Arc<Histogram> {
    let custom = schema == -53;
    let counts = |factor: f64| vec![scale * factor, 2.0 * scale, scale];
    let run = |offset, counts| Buckets::run(offset, counts).expect("buckets of a fixed histogram");
    Arc::new(Histogram {
        schema,
        count: scale * if custom { 4.0 } else { 10.0 },
        sum: scale * 3.0,
        zero_threshold: if custom { 0.0 } else { 0.001 },
        zero_count: if custom { 0.0 } else { scale },
        positive: run(0, counts(1.0)),
        negative: run(-1, if custom { Vec::new() } else { counts(2.0) }),
        custom_bounds: if custom {
            vec![0.5, 1.0].into()
        } else {
            Vec::new().into()
        },
        ..Histogram::default()
    })
}
