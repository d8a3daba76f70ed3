//! Any bytes in: the parser must answer without panicking, what it accepts must print to what it accepts, and
//! what it accepts must be planned and evaluated, within its budget, on a few fixed series.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use promql::ast::Expr;
use promql::eval::evaluate;
use promql::histogram::{Buckets, Histogram};
use promql::labels::Labels;
use promql::parse::{parse, parse_metric_selector};
use promql::select::{Features, Params, Plan, Selection};
use promql::series::{Floats, Histograms, STALE_NAN, Series, SeriesSet};

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
    for params in [
        Params::instant(10 * STEP),
        Params::range(-STEP, 12 * STEP, 90_000),
    ] {
        for delayed_name_removal in [false, true] {
            let features = Features {
                delayed_name_removal,
                start_timestamps: delayed_name_removal,
                type_and_unit_labels: false,
            };
            run(
                expr.clone(),
                Params {
                    max_samples: MAX_SAMPLES,
                    features,
                    ..params
                },
            );
        }
    }
});

/// Either an answer or an error; nothing else may happen.
fn run(expr: Expr, params: Params) {
    let Ok(plan) = Plan::new(expr, params) else {
        return;
    };
    let sets = plan.selections().iter().map(fetched).collect();
    if let Ok(answer) = evaluate(&plan, sets) {
        assert!(answer.peak_samples <= MAX_SAMPLES as u64);
    }
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
