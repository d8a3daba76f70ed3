//! The notation of native histograms becomes histograms: `{{schema:0 sum:5 count:4 buckets:[1 2 1]}}`.

use std::sync::Arc;

use promql::histogram::{Buckets, Histogram, ResetHint};

use crate::sequence::{Sample, repeats};

/// Where an item that starts with a histogram ends.
pub(crate) fn end(text: &str) -> usize {
    let mut at = 0;
    loop {
        at += text[at..].find("}}").expect("a histogram ends") + 2;
        if !text[at..].starts_with("+{{") && !text[at..].starts_with("-{{") {
            return at
                + text[at..]
                    .find(char::is_whitespace)
                    .unwrap_or(text.len() - at);
        }
    }
}

/// One histogram, or as many as its `xN` says.
pub(crate) fn item(text: &str) -> Vec<Option<Sample>> {
    let behind = text.rfind("}}").unwrap() + 2;
    let times = if text[behind..].is_empty() {
        0
    } else {
        repeats(&text[behind..]).1
    };
    let body = &text[..behind];
    let first_end = body.find("}}").unwrap() + 2;
    let (first, mut hinted) = histogram(&body[..first_end]);
    let mut current = first;
    let mut step = None;
    if !body[first_end..].is_empty() {
        let (subtract, delta) = (body[first_end..].starts_with('-'), &body[first_end + 1..]);
        let (delta, delta_hinted) = histogram(delta);
        hinted = delta_hinted;
        step = Some((subtract, delta));
    }
    let mut items = Vec::new();
    for position in 0..=times {
        if position > 0 {
            match &step {
                Some((true, delta)) => drop(current.sub(delta).unwrap()),
                Some((false, delta)) => drop(current.add(delta).unwrap()),
                None => {}
            }
        }
        items.push(Some(Sample::Histogram(Arc::new(current.clone()), hinted)));
    }
    items
}

/// A histogram, and whether a reset hint was written.
fn histogram(text: &str) -> (Histogram, bool) {
    let mut rest = text.trim_start_matches('{').trim_end_matches('}').trim();
    let mut histogram = Histogram::default();
    let (mut offsets, mut counts) = ([0, 0], [Vec::new(), Vec::new()]);
    let mut hinted = false;
    while !rest.is_empty() {
        let (key, after) = rest.split_once(':').expect("key:value");
        let end = if after.starts_with('[') {
            after.find(']').unwrap() + 1
        } else {
            after.find(char::is_whitespace).unwrap_or(after.len())
        };
        let (value, tail) = after.split_at(end);
        rest = tail.trim_start();
        match key {
            "schema" => histogram.schema = value.parse().unwrap(),
            "sum" => histogram.sum = number(value),
            "count" => histogram.count = number(value),
            "z_bucket" => histogram.zero_count = number(value),
            "z_bucket_w" => histogram.zero_threshold = number(value),
            "custom_values" => histogram.custom_bounds = numbers(value).into(),
            "buckets" => counts[0] = numbers(value),
            "n_buckets" => counts[1] = numbers(value),
            "offset" => offsets[0] = value.parse().unwrap(),
            "n_offset" => offsets[1] = value.parse().unwrap(),
            "counter_reset_hint" => {
                hinted = true;
                histogram.reset_hint = hint(value);
            }
            other => panic!("unknown key {other:?} in {text:?}"),
        }
    }
    let [positive, negative] = counts;
    histogram.positive = Buckets::run(offsets[0], positive).unwrap();
    histogram.negative = Buckets::run(offsets[1], negative).unwrap();
    (histogram, hinted)
}

fn hint(text: &str) -> ResetHint {
    match text {
        "unknown" => ResetHint::Unknown,
        "reset" => ResetHint::Reset,
        "not_reset" => ResetHint::NotReset,
        "gauge" => ResetHint::Gauge,
        other => panic!("unknown hint {other:?}"),
    }
}

fn numbers(text: &str) -> Vec<f64> {
    text.trim_matches(['[', ']'])
        .split_whitespace()
        .map(number)
        .collect()
}

fn number(text: &str) -> f64 {
    text.parse()
        .unwrap_or_else(|_| panic!("not a number: {text:?}"))
}
