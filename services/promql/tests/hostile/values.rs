//! Parameters, durations and times beyond all bounds in, plain answers or refusals out.

use promql::eval::evaluate;
use promql::parse::parse;
use promql::select::{Params, Plan};
use promql::value::Value;

use crate::ask::{answer, instant};

#[test]
fn parameters_beyond_all_bounds_have_plain_answers() {
    for (query, expected) in [
        ("topk(1e18, x)", "3"),
        ("topk(1e19, x)", "Scalar value 1e+19 overflows int64"),
        ("topk(Inf, x)", "Scalar value +Inf overflows int64"),
        ("topk(NaN, x)", "Parameter value is NaN"),
        ("topk(-1e300, x)", ""),
        ("bottomk(1e18, x)", "3"),
        ("limitk(1e18, x)", "3"),
        ("limitk(NaN, x)", "Parameter value is NaN"),
        ("limit_ratio(NaN, x)", "Ratio value is NaN"),
        ("limit_ratio(Inf, x)", "3"),
        ("limit_ratio(-1e300, x)", "3"),
        ("quantile(NaN, x)", "NaN"),
        ("quantile(Inf, x)", "inf"),
        ("quantile_over_time(NaN, x[5m])", "NaN"),
        ("quantile_over_time(Inf, x[5m])", "inf"),
        ("quantile_over_time(-Inf, x[5m])", "-inf"),
        ("histogram_quantile(NaN, x)", "NaN"),
        ("histogram_quantile(Inf, x)", "inf"),
        ("histogram_fraction(NaN, Inf, x)", "NaN"),
        ("predict_linear(x[5m], Inf)", "inf"),
        ("predict_linear(x[5m], NaN)", "NaN"),
        (
            "double_exponential_smoothing(x[5m], 2, 0.5)",
            "invalid smoothing factor. Expected: 0 < sf < 1, got: 2.000000",
        ),
        (
            "double_exponential_smoothing(x[5m], 0.5, Inf)",
            "invalid trend factor. Expected: 0 < tf < 1, got: +Inf",
        ),
        ("double_exponential_smoothing(x[5m], NaN, 0.5)", "NaN"),
        ("round(x, 0)", "NaN"),
        ("round(x, NaN)", "NaN"),
        ("round(x, Inf)", "NaN"),
        ("clamp(x, NaN, 1)", "NaN"),
        ("clamp(x, Inf, -Inf)", ""),
        ("x ^ 1e300", "inf"),
        ("x % 0", "NaN"),
        ("x % Inf", "3"),
    ] {
        assert_eq!(instant(query), expected, "{query}");
    }
    // Moments that no calendar knows give some number.
    for function in [
        "year",
        "month",
        "day_of_month",
        "day_of_week",
        "day_of_year",
        "days_in_month",
        "hour",
        "minute",
    ] {
        for moment in ["1e300", "-1e300", "Inf", "NaN", "1e18", "-1e18"] {
            let answer = instant(&format!("{function}(vector({moment}))"));
            assert!(answer.parse::<f64>().unwrap().is_finite(), "{answer}");
        }
    }
}

#[test]
fn durations_and_times_beyond_all_bounds_are_refused() {
    for (query, refusal) in [
        ("x[300y]", "1:3: parse error: duration out of range"),
        ("x[99999999999y]", "1:3: parse error: duration out of range"),
        (
            "x[9223372036854775808ms]",
            "1:3: parse error: duration out of range",
        ),
        ("x offset 300y", "1:10: parse error: duration out of range"),
        ("x offset -300y", "1:11: parse error: duration out of range"),
        ("x[1y * 1e300]", "1:8: parse error: duration out of range"),
        ("x[2 ^ 1e9]", "2:9: duration is NaN or infinite"),
        ("x[2 ^ 60]", "2:8: duration is out of range"),
        ("x[1 / 0]", "1:5: parse error: division by zero"),
        (
            "x offset (1e300)",
            "1:11: parse error: duration out of range",
        ),
        (
            "99999999999999999999y",
            r#"1:1: parse error: not a valid duration string: "99999999999999999999y""#,
        ),
        (
            "x @ Inf",
            "1:1: parse error: timestamp out of bounds for @ modifier: +Inf",
        ),
        (
            "x @ NaN",
            "1:1: parse error: timestamp out of bounds for @ modifier: NaN",
        ),
        (
            "1e400",
            r#"1:1: parse error: error parsing number: strconv.ParseFloat: parsing "1e400": value out of range"#,
        ),
    ] {
        assert_eq!(instant(query), refusal, "{query}");
    }
    assert!(instant("x @ 1e300").starts_with("1:1: parse error: timestamp out of bounds"));
}

#[test]
fn times_at_the_ends_of_the_clock_do_not_overflow() {
    let (first, last) = ("-9223372036854775", "9223372036854775");
    for query in [
        format!("x @ {last}"),
        format!("x smoothed @ {last} offset -292y"),
        format!("rate(x[292y] @ {last} offset -292y)"),
        format!("rate(x[292y] @ {first} offset 292y)"),
        format!("rate(x[1m] anchored @ {first} offset 292y)"),
        format!("rate(x[1m] smoothed @ {last} offset -292y)"),
        format!("sum_over_time(x[292y:1y] @ {first} offset 292y)"),
        format!("sum_over_time(x[1m:1m] @ {last} offset -292y)"),
    ] {
        assert_eq!(instant(&query), "", "{query}");
    }
    let window = format!("x[1m] anchored @ {first} offset 292y");
    assert_eq!(instant(&window), "0 series");
    for at in [i64::MIN, i64::MAX] {
        for query in [
            "rate(y[5m])",
            "y smoothed",
            "rate(y[5m] anchored)",
            "rate(y[5m] smoothed)",
            "sum_over_time(y[5m:1m])",
            "y offset 5m",
            "y offset -5m",
        ] {
            let expr = parse(query).unwrap();
            let plan = Plan::new(expr, Params::instant(at)).unwrap();
            let answer = evaluate(&plan, Vec::new()).unwrap();
            assert!(matches!(answer.value, Value::Vector(samples) if samples.is_empty()));
        }
    }
    let both_ends = Params::range(i64::MIN, i64::MAX, i64::MAX);
    assert_eq!(answer("range()", both_ends), "1 series");
}
