//! The table of functions over ranges: a name becomes what computes one window's value.

use crate::eval::range::WindowFn;

use super::{changes, irate, over_time, rate, trend};

/// What computes the function of this name from a window.
pub(crate) fn function(name: &str) -> Option<WindowFn> {
    Some(match name {
        "rate" => rate::rate,
        "increase" => rate::increase,
        "delta" => rate::delta,
        "irate" => irate::irate,
        "idelta" => irate::idelta,
        "deriv" => trend::deriv,
        "predict_linear" => trend::predict_linear,
        "double_exponential_smoothing" => trend::double_exponential_smoothing,
        "changes" => changes::changes,
        "resets" => changes::resets,
        "avg_over_time" => over_time::avg,
        "sum_over_time" => over_time::sum,
        "count_over_time" => over_time::count,
        "min_over_time" => over_time::min,
        "max_over_time" => over_time::max,
        "ts_of_min_over_time" => over_time::ts_of_min,
        "ts_of_max_over_time" => over_time::ts_of_max,
        "ts_of_first_over_time" => over_time::ts_of_first,
        "ts_of_last_over_time" => over_time::ts_of_last,
        "first_over_time" => over_time::first,
        "last_over_time" => over_time::last,
        "stddev_over_time" => over_time::stddev,
        "stdvar_over_time" => over_time::stdvar,
        "quantile_over_time" => over_time::quantile,
        "mad_over_time" => over_time::mad,
        "present_over_time" | "absent_over_time" => over_time::present,
        _ => return None,
    })
}
