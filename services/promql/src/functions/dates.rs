//! Calendar functions: a name becomes the field it reads from a time in seconds.

use crate::civil::{Civil, days_in_month};
use crate::number::truncate;

use super::math::FloatFn;

/// What the function of this name reads from a time.
pub(crate) fn function(name: &str) -> Option<FloatFn> {
    Some(match name {
        "year" => |time| field(time, |civil| civil.year),
        "month" => |time| field(time, |civil| civil.month),
        "day_of_month" => |time| field(time, |civil| civil.day),
        "day_of_week" => |time| field(time, |civil| civil.weekday),
        "day_of_year" => |time| field(time, |civil| civil.day_of_year),
        "days_in_month" => |time| field(time, |civil| days_in_month(civil.year, civil.month)),
        "hour" => |time| field(time, |civil| civil.hour),
        "minute" => |time| field(time, |civil| civil.minute),
        _ => return None,
    })
}

fn field(time: f64, read: impl Fn(Civil) -> i64) -> f64 {
    read(Civil::of(truncate(time))) as f64
}
