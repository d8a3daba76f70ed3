//! The value of a query → Prometheus' JSON, in pieces that are written while the client reads.

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use promql::labels::Labels;
use promql::value::{MatrixSeries, Point, Value, VectorSample};

use crate::execute::{Executed, Timings};
use crate::http::json::{self, Out};
use crate::http::reply::{JSON, SUCCESS, TRUNCATED, notes};

/// Size at which a piece is handed over, bytes. One series is never split.
const PIECE: usize = 64 << 10;

/// Most warnings, and most infos, that an answer spells out.
const MAX_NOTES: usize = 10;

/// Cuts the value at `limit` series, adds what is to be said about it and starts the answer.
pub(crate) fn respond(executed: Executed, limit: Option<usize>, stats: bool) -> Response {
    let mut warnings = shortened(executed.answer.warnings, "warning");
    let infos = shortened(executed.answer.infos, "info");
    let mut value = executed.answer.value;
    if truncate(&mut value, limit) {
        warnings.push(TRUNCATED.to_owned());
    }
    let mut tail = Out::new();
    if stats {
        tail.extend_from_slice(b",\"stats\":");
        statistics(
            &mut tail,
            &executed.timings,
            executed.answer.total_samples,
            executed.answer.peak_samples,
        );
    }
    tail.push(b'}');
    notes(&mut tail, &warnings, &infos);
    let mut pieces = Pieces::new(value, tail);
    let first = pieces.next().unwrap_or_default();
    let body = if pieces.done() {
        Body::from(first)
    } else {
        streamed(first, pieces)
    };
    ([(header::CONTENT_TYPE, JSON)], body).into_response()
}

fn streamed(first: Bytes, rest: Pieces) -> Body {
    let all = std::iter::once(first)
        .chain(rest)
        .map(Ok::<_, std::convert::Infallible>);
    Body::from_stream(futures::stream::iter(all))
}

/// Prometheus' own way to shorten: ten texts, then how many more there are.
fn shortened(mut texts: Vec<String>, kind: &str) -> Vec<String> {
    if let Some(more) = texts.len().checked_sub(MAX_NOTES).filter(|more| *more > 0) {
        texts.truncate(MAX_NOTES);
        texts.push(format!("{more} more {kind} annotations omitted"));
    }
    texts
}

/// Cuts a vector or a matrix; answers whether something was cut off.
fn truncate(value: &mut Value, limit: Option<usize>) -> bool {
    let Some(limit) = limit else { return false };
    match value {
        Value::Vector(samples) if samples.len() > limit => samples.truncate(limit),
        Value::Matrix(series) if series.len() > limit => series.truncate(limit),
        _ => return false,
    }
    true
}

fn statistics(out: &mut Out, timings: &Timings, total: u64, peak: u64) {
    let seconds = |out: &mut Out, name: &str, time: std::time::Duration| {
        json::string(out, name);
        out.push(b':');
        json::number(out, time.as_secs_f64());
    };
    out.extend_from_slice(b"{\"timings\":{");
    for (name, time) in [
        ("evalTotalTime", timings.fetch + timings.evaluate),
        ("resultSortTime", std::time::Duration::ZERO),
        ("queryPreparationTime", timings.fetch),
        ("innerEvalTime", timings.evaluate),
        ("execQueueTime", timings.queue),
    ] {
        seconds(out, name, time);
        out.push(b',');
    }
    seconds(
        out,
        "execTotalTime",
        timings.queue + timings.fetch + timings.evaluate,
    );
    let samples =
        format!("}},\"samples\":{{\"totalQueryableSamples\":{total},\"peakSamples\":{peak}}}}}");
    out.extend_from_slice(samples.as_bytes());
}

/// What is still to be written.
enum Items {
    Whole(Value),
    Vector(std::vec::IntoIter<VectorSample>),
    Matrix(std::vec::IntoIter<MatrixSeries>),
}

/// The pieces of one answer.
struct Pieces {
    /// `None` once the last piece is out.
    items: Option<Items>,
    head: Out,
    tail: Out,
    first: bool,
}

impl Pieces {
    fn new(value: Value, tail: Out) -> Self {
        let (kind, items) = match value {
            Value::Vector(samples) => ("vector", Items::Vector(samples.into_iter())),
            Value::Matrix(series) => ("matrix", Items::Matrix(series.into_iter())),
            scalar @ Value::Scalar { .. } => ("scalar", Items::Whole(scalar)),
            text @ Value::String { .. } => ("string", Items::Whole(text)),
        };
        let mut head = SUCCESS.to_vec();
        head.extend_from_slice(b"{\"resultType\":");
        json::string(&mut head, kind);
        head.extend_from_slice(b",\"result\":");
        Self {
            items: Some(items),
            head,
            tail,
            first: true,
        }
    }

    /// Whether everything is out.
    fn done(&self) -> bool {
        self.items.is_none()
    }

    /// Writes the next series, if there is one.
    fn write_one(items: &mut Items, out: &mut Out, first: bool) -> bool {
        let separator: &[u8] = if first { b"" } else { b"," };
        match items {
            Items::Whole(_) => false,
            Items::Vector(samples) => samples.next().is_some_and(|sample| {
                out.extend_from_slice(separator);
                vector_sample(out, &sample);
                true
            }),
            Items::Matrix(series) => series.next().is_some_and(|series| {
                out.extend_from_slice(separator);
                matrix_series(out, &series);
                true
            }),
        }
    }
}

impl Iterator for Pieces {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let items = self.items.as_mut()?;
        let mut out = std::mem::take(&mut self.head);
        if let Items::Whole(value) = items {
            whole(&mut out, value);
            out.append(&mut self.tail);
            self.items = None;
            return Some(out.into());
        }
        if self.first {
            out.push(b'[');
        }
        while out.len() < PIECE {
            if !Self::write_one(items, &mut out, self.first) {
                out.push(b']');
                out.append(&mut self.tail);
                self.items = None;
                break;
            }
            self.first = false;
        }
        Some(out.into())
    }
}

/// A scalar or a string: `[time, "text"]`.
fn whole(out: &mut Out, value: &Value) {
    match value {
        Value::Scalar { ts, value } => {
            out.push(b'[');
            json::scalar_time(out, *ts);
            out.extend_from_slice(b",\"");
            json::plain(out, *value);
            out.extend_from_slice(b"\"]");
        }
        Value::String { ts, value } => {
            out.push(b'[');
            json::scalar_time(out, *ts);
            out.push(b',');
            json::string(out, value);
            out.push(b']');
        }
        Value::Vector(_) | Value::Matrix(_) => {}
    }
}

fn metric(out: &mut Out, labels: &Labels) {
    out.extend_from_slice(b"{\"metric\":");
    json::labels(out, labels);
}

fn vector_sample(out: &mut Out, sample: &VectorSample) {
    metric(out, &sample.labels);
    match &sample.value {
        Point::Float(value) => {
            out.extend_from_slice(b",\"value\":");
            float_point(out, sample.ts, *value);
        }
        Point::Histogram(histogram) => {
            out.extend_from_slice(b",\"histogram\":");
            histogram_point(out, sample.ts, histogram);
        }
    }
    out.push(b'}');
}

fn matrix_series(out: &mut Out, series: &MatrixSeries) {
    metric(out, &series.labels);
    if !series.floats.is_empty() {
        out.extend_from_slice(b",\"values\":[");
        for (position, (ts, value)) in series.floats.iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            float_point(out, *ts, *value);
        }
        out.push(b']');
    }
    if !series.histograms.is_empty() {
        out.extend_from_slice(b",\"histograms\":[");
        for (position, (ts, histogram)) in series.histograms.iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            histogram_point(out, *ts, histogram);
        }
        out.push(b']');
    }
    out.push(b'}');
}

fn float_point(out: &mut Out, ts: i64, value: f64) {
    out.push(b'[');
    json::timestamp(out, ts);
    out.push(b',');
    json::value(out, value);
    out.push(b']');
}

fn histogram_point(out: &mut Out, ts: i64, histogram: &promql::histogram::Histogram) {
    out.push(b'[');
    json::timestamp(out, ts);
    out.push(b',');
    json::histogram(out, histogram);
    out.push(b']');
}

#[cfg(test)]
mod tests;
