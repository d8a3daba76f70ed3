//! Turns number points (of gauges and sums) into sample rows.

use bumpalo::Bump;
use schemas::rows::SeriesKind;

use super::Refusal;
use super::labels::Labels;
use super::push::{Place, Push, has_no_recorded_value};
use super::reject::{Reason, Warning};
use super::rows::{STALE_BITS, Shape, Slot, outranks};
use super::time::start_of;
use crate::batch::Sample;
use crate::decode::message::{Number, NumberDataPoint};

const SHAPE: Shape<'static> = Shape {
    kind: SeriesKind::Number,
    bounds: &[],
};

/// Adds the row of a gauge's point; returns how many label values were cut. Gauges have no start
/// time, whatever their senders write there.
pub(super) fn add_gauge(
    push: &mut Push<'_>,
    place: &Place<'_>,
    point: &NumberDataPoint<'_>,
    scratch: &Bump,
) -> Result<u64, Refusal> {
    add(push, place, point, 0, scratch)
}

/// Adds the row of a sum's point; returns how many label values were cut.
pub(super) fn add_sum(
    push: &mut Push<'_>,
    place: &Place<'_>,
    point: &NumberDataPoint<'_>,
    scratch: &Bump,
) -> Result<u64, Refusal> {
    add(push, place, point, point.start_time_unix_nano, scratch)
}

fn add(
    push: &mut Push<'_>,
    place: &Place<'_>,
    point: &NumberDataPoint<'_>,
    start_time_unix_nano: u64,
    scratch: &Bump,
) -> Result<u64, Refusal> {
    let ts = push.window.admit(point.time_unix_nano)?;
    let value = value_of(point)?;
    if push.translation().drop_dcgm_blanks && is_dcgm_blank(push.families.name(place.family), value)
    {
        push.warn(Warning::SentinelDropped, place.family, || {
            format!("value {value} is DCGM's blank")
        });
        return Ok(0);
    }
    let start_ts = start_of(start_time_unix_nano, ts);
    let mut labels = Labels::new();
    let cut = push.labels(&mut labels, place, point.attributes, scratch)?;
    let (id, slot) = push.slot(place, SHAPE, &labels, ts)?;
    match slot {
        Slot::Fresh => push.rows.samples.push(Sample {
            name: place.family.index,
            id,
            ts,
            value,
            start_ts,
        }),
        Slot::Taken(row) => {
            let held = &mut push.rows.samples[row];
            if outranks(value, held.value)
                .then(start_ts.cmp(&held.start_ts))
                .is_gt()
            {
                held.value = value;
                held.start_ts = start_ts;
            }
        }
    }
    Ok(cut)
}

/// Whether a value is what DCGM writes for "not known": the 64-bit integers from 2^63 - 16 on, which
/// are all 2^63 as doubles.
fn is_dcgm_blank(family: &str, value: f64) -> bool {
    const BLANK: f64 = 9_223_372_036_854_775_808.0;
    value == BLANK && family.starts_with("DCGM_")
}

/// The value as a double; whole numbers beyond 2^53 lose their last digits, as in Prometheus.
fn value_of(point: &NumberDataPoint<'_>) -> Result<f64, Refusal> {
    if has_no_recorded_value(point.flags) {
        return Ok(f64::from_bits(STALE_BITS));
    }
    match point.value {
        Some(Number::Double(value)) => Ok(value),
        Some(Number::Int(value)) => Ok(value as f64),
        None => Err(Refusal::new(
            Reason::NoValue,
            "neither asInt nor asDouble is set",
        )),
    }
}
