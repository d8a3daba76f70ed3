//! An evaluation of the corpus is run in all its forms and held against what is expected.

use std::sync::Arc;

use promql::eval::evaluate;
use promql::parse::parse;
use promql::select::{Features, Params, Plan};
use promql::value::{Answer, MatrixSeries, Point, Value, VectorSample};

use crate::compare;
use crate::expect::check_notes;
use crate::pinned::pinned;
use crate::script::Eval;
use crate::store::Store;

/// The switches that Prometheus' own corpus assumes.
pub(crate) const CORPUS: Features = Features {
    delayed_name_removal: true,
    start_timestamps: true,
    type_and_unit_labels: false,
};

/// Loaded series and the switches of the engine.
pub(crate) struct Engine<'s> {
    pub(crate) store: &'s Store,
    pub(crate) features: Features,
}

/// Runs the evaluation as written. An instant one also runs in the middle of a range, and pinned by `@` at
/// other times, which must not change its value.
pub(crate) fn eval(eval: &Eval, engine: &Engine<'_>) -> Result<(), String> {
    if !eval.instant {
        let answer = query(
            &eval.expr,
            Params::range(eval.start, eval.end, eval.step),
            engine,
        );
        return judge(eval, answer).map(drop);
    }
    let at = eval.end;
    instant(eval, &eval.expr, at, engine)?;
    let Ok(expr) = parse(&eval.expr) else {
        return Ok(());
    };
    let Some(pinned) = pinned(expr, at) else {
        return Ok(());
    };
    let pinned = pinned.to_string();
    let others = if at == 0 {
        vec![-1000, 0, 1000]
    } else {
        vec![-10 * at, 0, at / 5, at, 10 * at]
    };
    for other in others {
        instant(eval, &pinned, other, engine)
            .map_err(|error| format!("`{pinned}` at {other}: {error}"))?;
    }
    Ok(())
}

fn instant(eval: &Eval, expr: &str, at: i64, engine: &Engine<'_>) -> Result<(), String> {
    let Some(answer) = judge(eval, query(expr, Params::instant(at), engine))? else {
        return Ok(());
    };
    let depends_on_range = ["start()", "end()", "range()", "step()"]
        .iter()
        .any(|call| expr.contains(call));
    if eval.step != 0 || eval.expect.text.is_some() || depends_on_range {
        return Ok(());
    }
    let params = Params::range(at - 60_000, at + 60_000, 60_000);
    let ranged = query(expr, params, engine).map_err(|error| format!("in range mode: {error}"))?;
    if eval.expect.ordered {
        return Ok(());
    }
    in_range(eval, at, &answer, &ranged).map_err(|error| format!("in range mode: {error}"))
}

/// Checks failure, annotations and value; gives the answer where one was due.
fn judge(eval: &Eval, answer: Result<Answer, String>) -> Result<Option<Answer>, String> {
    let expect = &eval.expect;
    let answer = match (answer, &expect.fail) {
        (Err(error), Some(expected)) if expected.holds(&error) => return Ok(None),
        (Err(error), _) => return Err(format!("error: {error}")),
        (Ok(_), Some(_)) => return Err("an error was expected".to_owned()),
        (Ok(answer), None) => answer,
    };
    check_notes("warn", &expect.warns, expect.no_warn, &answer.warnings)?;
    check_notes("info", &expect.infos, expect.no_info, &answer.infos)?;
    compare::value(eval, &answer.value)?;
    Ok(Some(answer))
}

/// Compares the middle step of a range query with what is expected of the instant query.
fn in_range(eval: &Eval, at: i64, answer: &Answer, ranged: &Answer) -> Result<(), String> {
    let Value::Matrix(series) = &ranged.value else {
        return Err("not a matrix".to_owned());
    };
    compare::sorted(series)?;
    let middle: Vec<VectorSample> = series
        .iter()
        .filter_map(|series| sample_at(series, at))
        .collect();
    match (&answer.value, middle.first()) {
        (
            Value::Scalar { .. },
            Some(VectorSample {
                value: Point::Float(value),
                ..
            }),
        ) => compare::value(
            eval,
            &Value::Scalar {
                ts: at,
                value: *value,
            },
        ),
        _ => compare::vector(&eval.expect, &middle),
    }
}

fn sample_at(series: &MatrixSeries, at: i64) -> Option<VectorSample> {
    let float = series
        .floats
        .iter()
        .find(|(ts, _)| *ts == at)
        .map(|(_, value)| Point::Float(*value));
    let histogram = || series.histograms.iter().find(|(ts, _)| *ts == at);
    let value =
        float.or_else(|| histogram().map(|(_, value)| Point::Histogram(Arc::clone(value))))?;
    Some(VectorSample {
        labels: series.labels.clone(),
        ts: at,
        value,
    })
}

fn query(text: &str, params: Params, engine: &Engine<'_>) -> Result<Answer, String> {
    let params = Params {
        max_samples: 10_000,
        features: engine.features,
        ..params
    };
    let expr = parse(text).map_err(|error| error.to_string())?;
    let plan = Plan::new(expr, params)
        .map_err(|error| error.to_string())?
        .with_text(text);
    let sets = plan
        .selections()
        .iter()
        .map(|selection| engine.store.select(selection))
        .collect();
    evaluate(&plan, sets).map_err(|error| error.to_string())
}
