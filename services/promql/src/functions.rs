//! The table of PromQL's functions: a name becomes the types it takes and gives.
//!
//! Names, types and the experimental marks are those of Prometheus 3.14 (`promql/parser/functions.go`).

pub(crate) mod windows;
pub(crate) mod rate;
mod irate;
pub(crate) mod extended;
pub(crate) mod over_time;
mod trend;
mod changes;
pub(crate) mod absent;
pub(crate) mod math;
pub(crate) mod dates;
pub(crate) mod relabel;
pub(crate) mod info;
pub(crate) mod sorting;
pub(crate) mod quantile;
mod classic;
pub(crate) mod order;
pub(crate) mod pdq;
pub(crate) mod notes;

use crate::ast::ValueType::{self, Matrix, Scalar, String, Vector};

/// What the parser checks about a call; what a function computes is in [`crate::eval`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name as written in a query.
    pub name: &'static str,
    /// The types of the arguments in order; the last one repeats where `variadic` allows more.
    pub arg_types: &'static [ValueType],
    /// 0: exactly the listed arguments. n > 0: the last listed one may be absent or stand up to n times.
    /// -1: it may be absent or stand any number of times.
    pub variadic: i8,
    /// The type of the answer.
    pub return_type: ValueType,
    /// Whether Prometheus keeps it behind `--enable-feature=promql-experimental-functions`.
    pub experimental: bool,
}

/// The function of this name (case matters).
#[must_use]
pub fn function(name: &str) -> Option<&'static Function> {
    let at = FUNCTIONS
        .binary_search_by(|function| function.name.cmp(name))
        .ok()?;
    FUNCTIONS.get(at)
}

/// A stable function without optional arguments.
const fn stable(
    name: &'static str,
    arg_types: &'static [ValueType],
    return_type: ValueType,
) -> Function {
    Function {
        name,
        arg_types,
        variadic: 0,
        return_type,
        experimental: false,
    }
}

/// A stable function whose last argument may be absent or repeated.
const fn optional(name: &'static str, arg_types: &'static [ValueType], variadic: i8) -> Function {
    Function {
        name,
        arg_types,
        variadic,
        return_type: Vector,
        experimental: false,
    }
}

/// An experimental function.
const fn trial(
    name: &'static str,
    arg_types: &'static [ValueType],
    variadic: i8,
    return_type: ValueType,
) -> Function {
    Function {
        name,
        arg_types,
        variadic,
        return_type,
        experimental: true,
    }
}

/// All functions, sorted by name.
pub static FUNCTIONS: &[Function] = &[
    stable("abs", &[Vector], Vector),
    stable("absent", &[Vector], Vector),
    stable("absent_over_time", &[Matrix], Vector),
    stable("acos", &[Vector], Vector),
    stable("acosh", &[Vector], Vector),
    stable("asin", &[Vector], Vector),
    stable("asinh", &[Vector], Vector),
    stable("atan", &[Vector], Vector),
    stable("atanh", &[Vector], Vector),
    stable("avg_over_time", &[Matrix], Vector),
    stable("ceil", &[Vector], Vector),
    stable("changes", &[Matrix], Vector),
    stable("clamp", &[Vector, Scalar, Scalar], Vector),
    stable("clamp_max", &[Vector, Scalar], Vector),
    stable("clamp_min", &[Vector, Scalar], Vector),
    stable("cos", &[Vector], Vector),
    stable("cosh", &[Vector], Vector),
    stable("count_over_time", &[Matrix], Vector),
    optional("day_of_month", &[Vector], 1),
    optional("day_of_week", &[Vector], 1),
    optional("day_of_year", &[Vector], 1),
    optional("days_in_month", &[Vector], 1),
    stable("deg", &[Vector], Vector),
    stable("delta", &[Matrix], Vector),
    stable("deriv", &[Matrix], Vector),
    trial(
        "double_exponential_smoothing",
        &[Matrix, Scalar, Scalar],
        0,
        Vector,
    ),
    trial("end", &[], 0, Scalar),
    stable("exp", &[Vector], Vector),
    stable("first_over_time", &[Matrix], Vector),
    stable("floor", &[Vector], Vector),
    stable("histogram_avg", &[Vector], Vector),
    stable("histogram_count", &[Vector], Vector),
    stable("histogram_fraction", &[Scalar, Scalar, Vector], Vector),
    stable("histogram_quantile", &[Scalar, Vector], Vector),
    trial(
        "histogram_quantiles",
        &[Vector, String, Scalar, Scalar],
        9,
        Vector,
    ),
    stable("histogram_stddev", &[Vector], Vector),
    stable("histogram_stdvar", &[Vector], Vector),
    stable("histogram_sum", &[Vector], Vector),
    optional("hour", &[Vector], 1),
    stable("idelta", &[Matrix], Vector),
    stable("increase", &[Matrix], Vector),
    trial("info", &[Vector, Vector], 1, Vector),
    stable("irate", &[Matrix], Vector),
    optional("label_join", &[Vector, String, String, String], -1),
    stable(
        "label_replace",
        &[Vector, String, String, String, String],
        Vector,
    ),
    stable("last_over_time", &[Matrix], Vector),
    stable("ln", &[Vector], Vector),
    stable("log10", &[Vector], Vector),
    stable("log2", &[Vector], Vector),
    trial("mad_over_time", &[Matrix], 0, Vector),
    trial("max_of", &[Scalar, Scalar], 0, Scalar),
    stable("max_over_time", &[Matrix], Vector),
    trial("min_of", &[Scalar, Scalar], 0, Scalar),
    stable("min_over_time", &[Matrix], Vector),
    optional("minute", &[Vector], 1),
    optional("month", &[Vector], 1),
    stable("pi", &[], Scalar),
    stable("predict_linear", &[Matrix, Scalar], Vector),
    stable("present_over_time", &[Matrix], Vector),
    stable("quantile_over_time", &[Scalar, Matrix], Vector),
    stable("rad", &[Vector], Vector),
    trial("range", &[], 0, Scalar),
    stable("rate", &[Matrix], Vector),
    stable("resets", &[Matrix], Vector),
    optional("round", &[Vector, Scalar], 1),
    stable("scalar", &[Vector], Scalar),
    stable("sgn", &[Vector], Vector),
    stable("sin", &[Vector], Vector),
    stable("sinh", &[Vector], Vector),
    stable("sort", &[Vector], Vector),
    trial("sort_by_label", &[Vector, String], -1, Vector),
    trial("sort_by_label_desc", &[Vector, String], -1, Vector),
    stable("sort_desc", &[Vector], Vector),
    stable("sqrt", &[Vector], Vector),
    trial("start", &[], 0, Scalar),
    trial("start_timestamp", &[Vector], 0, Vector),
    stable("stddev_over_time", &[Matrix], Vector),
    stable("stdvar_over_time", &[Matrix], Vector),
    trial("step", &[], 0, Scalar),
    stable("sum_over_time", &[Matrix], Vector),
    stable("tan", &[Vector], Vector),
    stable("tanh", &[Vector], Vector),
    stable("time", &[], Scalar),
    stable("timestamp", &[Vector], Vector),
    trial("ts_of_first_over_time", &[Matrix], 0, Vector),
    trial("ts_of_last_over_time", &[Matrix], 0, Vector),
    trial("ts_of_max_over_time", &[Matrix], 0, Vector),
    trial("ts_of_min_over_time", &[Matrix], 0, Vector),
    stable("vector", &[Scalar], Vector),
    optional("year", &[Vector], 1),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_every_name_is_found() {
        assert!(FUNCTIONS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for entry in FUNCTIONS {
            assert_eq!(function(entry.name), Some(entry));
        }
        assert_eq!(function("RATE"), None);
        assert_eq!(function("holt_winters"), None);
    }

    #[test]
    fn optional_arguments_are_told_apart_from_required_ones() {
        let variadic = |name| function(name).map(|function| function.variadic);
        assert_eq!(variadic("round"), Some(1));
        assert_eq!(variadic("label_join"), Some(-1));
        assert_eq!(variadic("rate"), Some(0));
    }
}
