//! A section of a corpus file, pushed to a tenant of its own and asked over HTTP → a verdict for each of its
//! evaluations.
//!
//! The corpus begins at the epoch, where the gateway takes no sample: everything is moved by a fixed time,
//! which is a multiple of every step in use.

use std::collections::{BTreeMap, BTreeSet};

use promql::ast::MatchOp;
use promql::labels::Labels;
use promql::parse::parse;
use promql::select::{Params, Plan};
use promql::value::{MatrixSeries, Point, Value, VectorSample};
use regex::Regex;
use serde_json::Value as Json;
use tests::ask::{Ask, seconds};
use tests::keys::Keys;
use tests::oracle::Track;
use tests::push::{Answer, Ingest};
use tests::stack::Stack;

use crate::compare;
use crate::expect::check_notes;
use crate::oracle_compare::push;
use crate::script::{Command, Eval, Loaded, duration};
use crate::sequence::Sample;

/// What is added to every time of the corpus: a multiple of a day, and of 7, 11 and 13 seconds; a Thursday
/// as the epoch is, in 2019. Milliseconds.
const BASE: i64 = 86_400_000 * 7 * 11 * 13 * 18;
/// A minute in milliseconds.
const MINUTE: i64 = 60_000;

/// What became of evaluations.
#[derive(Default)]
pub(crate) struct Verdicts {
    pub(crate) passed: usize,
    /// Line and what went wrong.
    pub(crate) failed: BTreeMap<usize, String>,
    /// How many need native histograms.
    pub(crate) left_out: usize,
}

/// The stretches between two `clear`.
pub(crate) fn sections(commands: Vec<Command>) -> Vec<Vec<Command>> {
    let mut sections = vec![Vec::new()];
    for command in commands {
        match command {
            Command::Clear => sections.push(Vec::new()),
            other => sections.last_mut().unwrap().push(other),
        }
    }
    sections.retain(|section| !section.is_empty());
    sections
}

/// A tenant that holds what one section loads.
pub(crate) struct Tenant {
    ingest: Ingest,
    ask: Ask,
    /// Names under which histograms were loaded, which are not pushed.
    native: BTreeSet<String>,
}

impl Tenant {
    /// The tenant of `keys`, empty.
    pub(crate) fn new(stack: &Stack, keys: &Keys) -> Self {
        Self {
            ingest: stack.ingest_with(&keys.ingest),
            ask: stack.ask_with(&keys.tenant, &keys.query),
            native: BTreeSet::new(),
        }
    }

    /// Runs the commands of a section.
    pub(crate) async fn run(mut self, section: Vec<Command>, verdicts: &mut Verdicts) {
        for command in section {
            match command {
                Command::Clear => unreachable!("sections are cut there"),
                Command::Load { with_nhcb, series } => self.load(&series, with_nhcb).await,
                Command::Eval(eval) if self.is_native(&eval) => verdicts.left_out += 1,
                Command::Eval(eval) => match self.eval(&eval).await {
                    Ok(()) => verdicts.passed += 1,
                    Err(what) => {
                        let what = format!("{}: {what}", eval.expr);
                        verdicts.failed.insert(eval.line, what);
                    }
                },
            }
        }
    }

    async fn load(&mut self, loaded: &[Loaded], with_nhcb: bool) {
        let mut tracks: Vec<Track> = Vec::new();
        for one in loaded {
            let name = one.labels.name().to_owned();
            if with_nhcb {
                let base = ["_bucket", "_count", "_sum"]
                    .iter()
                    .find_map(|suffix| name.strip_suffix(suffix));
                self.native.extend(base.map(str::to_owned));
            }
            let mut samples = Vec::new();
            for sample in &one.samples {
                assert_eq!(sample.start, 0, "the stable files have no start times");
                match sample.sample {
                    Sample::Float(value) => samples.push((BASE + sample.ts, value)),
                    Sample::Histogram(..) => {
                        self.native.insert(name.clone());
                    }
                }
            }
            let labels = one
                .labels
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect();
            tracks.push(Track { labels, samples });
        }
        push(&self.ingest, &tracks).await;
    }

    /// Whether an evaluation expects a histogram or may select one.
    fn is_native(&self, eval: &Eval) -> bool {
        let expected = &eval.expect.series;
        if expected
            .iter()
            .flat_map(|(_, values)| values)
            .any(|value| matches!(value, Some(Sample::Histogram(..))))
        {
            return true;
        }
        let Some(plan) = plan(&eval.expr) else {
            return false;
        };
        plan.selections().iter().any(|selection| {
            let name = selection
                .matchers
                .iter()
                .find(|matcher| matcher.name == "__name__" && matcher.op == MatchOp::Equal);
            match name {
                Some(name) => self.native.contains(&name.value),
                None => !self.native.is_empty(),
            }
        })
    }

    /// Asks as written; an instant also as the middle of a range.
    async fn eval(&self, eval: &Eval) -> Result<(), String> {
        // What reads no series needs no moving: it may read the clock.
        let base = match plan(&eval.expr) {
            Some(plan) if plan.selections().is_empty() => 0,
            _ => BASE,
        };
        let expr = moved(&eval.expr, base);
        if !eval.instant {
            let answer = self
                .range(&expr, base + eval.start, base + eval.end, eval.step)
                .await;
            return judge(eval, &answer, base).map(drop);
        }
        let at = base + eval.end;
        let parameters = [("query", expr.as_str()), ("time", &seconds(at))];
        let answer = self.ask.post("/api/v1/query", &parameters).await;
        let Some(value) = judge(eval, &answer, base)? else {
            return Ok(());
        };
        let depends_on_range = ["start()", "end()", "range()", "step()"]
            .iter()
            .any(|call| expr.contains(call));
        if eval.step != 0 || eval.expect.text.is_some() || depends_on_range || eval.expect.ordered {
            return Ok(());
        }
        let answer = self.range(&expr, at - MINUTE, at + MINUTE, MINUTE).await;
        middle(eval, &value, &answer, base).map_err(|error| format!("in range mode: {error}"))
    }

    async fn range(&self, expr: &str, start: i64, end: i64, step: i64) -> Answer {
        let parameters = [
            ("query", expr),
            ("start", &seconds(start)),
            ("end", &seconds(end)),
            ("step", &seconds(step)),
        ];
        self.ask.post("/api/v1/query_range", &parameters).await
    }
}

fn plan(expr: &str) -> Option<Plan> {
    Plan::new(parse(expr).ok()?, Params::instant(0)).ok()
}

/// The expression with every `@` time moved.
fn moved(expr: &str, base: i64) -> String {
    let at = Regex::new(r"@\s*(-?[0-9][0-9a-z.]*)").unwrap();
    at.replace_all(expr, |found: &regex::Captures<'_>| {
        let time = found[1]
            .parse()
            .unwrap_or_else(|_| duration(&found[1]) as f64 / 1000.0);
        format!("@ {}", base as f64 / 1000.0 + time)
    })
    .into_owned()
}

/// Checks failure, annotations and value; gives the value where one was due.
fn judge(eval: &Eval, answer: &Answer, base: i64) -> Result<Option<Value>, String> {
    let expect = &eval.expect;
    let body = answer.value();
    if body["status"] != "success" {
        let error = body["error"].as_str().unwrap_or_default();
        let error = error
            .strip_prefix("invalid parameter \"query\": ")
            .unwrap_or(error);
        return match &expect.fail {
            Some(expected) if expected.holds(error) => Ok(None),
            _ => Err(format!("error: {error}")),
        };
    }
    if expect.fail.is_some() {
        return Err("an error was expected".to_owned());
    }
    check_notes(
        "warn",
        &expect.warns,
        expect.no_warn,
        &notes(&body["warnings"]),
    )?;
    check_notes(
        "info",
        &expect.infos,
        expect.no_info,
        &notes(&body["infos"]),
    )?;
    let value = value(&body["data"], base);
    compare::value(eval, &value)?;
    Ok(Some(value))
}

/// Holds the middle step of a range query against what is expected of the instant query.
fn middle(eval: &Eval, instant: &Value, answer: &Answer, base: i64) -> Result<(), String> {
    let body = answer.value();
    if body["status"] != "success" {
        return Err(format!("error: {}", body["error"]));
    }
    let Value::Matrix(series) = value(&body["data"], base) else {
        return Err("not a matrix".to_owned());
    };
    compare::sorted(&series)?;
    let samples: Vec<VectorSample> = series
        .iter()
        .filter_map(|series| {
            let (ts, value) = series.floats.iter().find(|(ts, _)| *ts == eval.end)?;
            Some(VectorSample {
                labels: series.labels.clone(),
                ts: *ts,
                value: Point::Float(*value),
            })
        })
        .collect();
    match (instant, samples.first()) {
        (
            Value::Scalar { ts, .. },
            Some(VectorSample {
                value: Point::Float(value),
                ..
            }),
        ) => {
            let (ts, value) = (*ts, *value);
            compare::value(eval, &Value::Scalar { ts, value })
        }
        _ => compare::vector(&eval.expect, &samples),
    }
}

fn notes(list: &Json) -> Vec<String> {
    list.as_array()
        .into_iter()
        .flatten()
        .map(|note| note.as_str().unwrap().to_owned())
        .collect()
}

/// The `data` of an answer, moved back.
fn value(data: &Json, base: i64) -> Value {
    let result = &data["result"];
    match data["resultType"].as_str().unwrap() {
        "scalar" => {
            let (ts, value) = sample(result, base);
            Value::Scalar { ts, value }
        }
        "string" => Value::String {
            ts: time(&result[0], base),
            value: result[1].as_str().unwrap().to_owned(),
        },
        "vector" => {
            let samples = result.as_array().unwrap().iter().map(|entry| {
                let (ts, value) = sample(&entry["value"], base);
                VectorSample {
                    labels: labels(&entry["metric"]),
                    ts,
                    value: Point::Float(value),
                }
            });
            Value::Vector(samples.collect())
        }
        _ => {
            let series = result.as_array().unwrap().iter().map(|entry| MatrixSeries {
                labels: labels(&entry["metric"]),
                floats: entry["values"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|value| sample(value, base))
                    .collect(),
                histograms: Vec::new(),
            });
            Value::Matrix(series.collect())
        }
    }
}

fn labels(metric: &Json) -> Labels {
    let pairs = metric.as_object().unwrap().iter();
    Labels::from_pairs(
        pairs.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())),
    )
}

fn sample(value: &Json, base: i64) -> (i64, f64) {
    let text = value[1].as_str().unwrap();
    (time(&value[0], base), text.parse().unwrap())
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "seconds with three decimals, in milliseconds, fit 53 bits"
)]
fn time(value: &Json, base: i64) -> i64 {
    (value.as_f64().unwrap() * 1000.0).round() as i64 - base
}
