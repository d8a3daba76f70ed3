//! The most used functions over ranges of plain floats, without the detours that other samples need.

use crate::ast::Smoothing;
use crate::eval::Evaluator;
use crate::eval::grid::{Column, Steps, Words};
use crate::eval::raw::{Raw, Slice};
use crate::eval::selector::window;
use crate::functions::over_time::{max_of, mean_of, min_of, sum_of};
use crate::functions::rate::{DELTA, INCREASE, Limits, RATE, change_of_floats};
use crate::number::{count, span_seconds};

use super::{CHECK_EVERY, Source};

/// One series at all steps, or `None` where this is not the way to compute it. The inner `None` is a
/// series without a value at any step.
pub(super) fn slide(
    name: &str,
    raw: &Raw<'_>,
    source: &Source<'_>,
    steps: Steps,
    ev: &Evaluator<'_>,
) -> Option<Option<Column>> {
    if !raw.is_plain() || source.smoothing != Smoothing::None {
        return None;
    }
    let seconds = span_seconds(source.range);
    let falls = raw.falls();
    Some(match name {
        "rate" => each(raw, source, steps, ev, |slice, (start, end)| {
            change_of_floats(
                slice,
                Limits {
                    start,
                    end,
                    seconds,
                },
                RATE,
                falls,
            )
        }),
        "increase" => each(raw, source, steps, ev, |slice, (start, end)| {
            change_of_floats(
                slice,
                Limits {
                    start,
                    end,
                    seconds,
                },
                INCREASE,
                falls,
            )
        }),
        "delta" => each(raw, source, steps, ev, |slice, (start, end)| {
            change_of_floats(
                slice,
                Limits {
                    start,
                    end,
                    seconds,
                },
                DELTA,
                falls,
            )
        }),
        "sum_over_time" => each(raw, source, steps, ev, |slice, _| {
            Some(sum_of(slice.values))
        }),
        "avg_over_time" => each(raw, source, steps, ev, |slice, _| {
            Some(mean_of(slice.values))
        }),
        "max_over_time" => each(raw, source, steps, ev, |slice, _| {
            Some(max_of(slice.values))
        }),
        "min_over_time" => each(raw, source, steps, ev, |slice, _| {
            Some(min_of(slice.values))
        }),
        "count_over_time" => each(raw, source, steps, ev, |slice, _| Some(count(slice.len()))),
        "last_over_time" => each(raw, source, steps, ev, |slice, _| {
            slice.values.last().copied()
        }),
        _ => return None,
    })
}

/// Applies `function` to every window that has samples, until nobody waits for it any more.
#[inline]
fn each(
    raw: &Raw<'_>,
    source: &Source<'_>,
    steps: Steps,
    ev: &Evaluator<'_>,
    function: impl Fn(Slice<'_, f64>, (i64, i64)) -> Option<f64>,
) -> Option<Column> {
    let (ts, values) = (&*raw.floats.ts, &*raw.floats.values);
    let mut vals = vec![0.0; steps.count];
    let mut words = Words::new(steps.count);
    let (first, _) = window(source.shift, source.range, steps.start);
    let mut low = ts.partition_point(|ts| *ts <= first);
    let mut high = low;
    let (mut samples, mut next_check) = (0, CHECK_EVERY);
    for (step, cell) in vals.iter_mut().enumerate() {
        let (start, end) = window(source.shift, source.range, steps.at(step));
        while high < ts.len() && ts[high] <= end {
            high += 1;
        }
        while low < high && ts[low] <= start {
            low += 1;
        }
        let slice = Slice {
            ts: &ts[low..high],
            values: &values[low..high],
            starts: &[],
        };
        samples += high - low;
        if samples >= next_check {
            if ev.check().is_err() {
                break;
            }
            next_check = samples + CHECK_EVERY;
        }
        let value = if low < high {
            function(slice, (start, end))
        } else {
            None
        };
        *cell = value.unwrap_or(0.0);
        words.push(value.is_some());
    }
    ev.read(samples);
    let floats = words.finish();
    let labels = raw.labels.clone();
    floats.any().then(|| Column {
        labels,
        drop_name: raw.drop_name,
        vals,
        floats,
        hists: Vec::new(),
    })
}
