//! Values of single queries.

use super::*;

/// One series `m` with a value each minute from 60 s on.
fn minutes(values: &[f64]) -> Vec<Series> {
    let samples: Vec<(i64, f64)> = (1..)
        .map(|minute| minute * 60)
        .zip(values.iter().copied())
        .collect();
    vec![series(&[("__name__", "m")], &samples)]
}

#[test]
fn windows_exclude_their_start_and_rates_extrapolate_to_their_ends() {
    let stored = minutes(&[1.0, 2.0, 3.0]);
    assert_eq!(values("rate(m[2m])", 180, &stored), [1.0 / 60.0]);
    assert_eq!(values("delta(m[2m])", 180, &stored), [2.0]);
    let stored = minutes(&[1.0; 10]);
    assert_eq!(values("count_over_time(m[5m])", 600, &stored), [5.0]);
}

#[test]
fn a_reset_is_bridged_and_the_increase_is_carried_to_the_window_s_ends() {
    let stored = minutes(&[10.0, 20.0, 5.0, 15.0]);
    assert_eq!(
        values("increase(m[4m])", 240, &stored),
        [25.0 * (240.0 / 180.0)]
    );
    assert_eq!(values("resets(m[4m])", 240, &stored), [1.0]);
}

#[test]
fn one_sample_has_no_rate_but_no_changes_either() {
    let stored = minutes(&[7.0]);
    for query in [
        "rate(m[5m])",
        "increase(m[5m])",
        "deriv(m[5m])",
        "irate(m[5m])",
    ] {
        assert_eq!(values(query, 60, &stored), [0.0; 0], "{query}");
    }
    assert_eq!(values("changes(m[5m])", 60, &stored), [0.0]);
    assert_eq!(values("resets(m[5m])", 60, &stored), [0.0]);
}

#[test]
fn a_rate_is_the_increase_per_second() {
    let stored = minutes(&[1.0, 4.0, 9.0, 11.0, 30.0]);
    let rate = values("rate(m[5m])", 300, &stored);
    let increase = values("increase(m[5m]) / 300", 300, &stored);
    assert!((rate[0] - increase[0]).abs() < 1e-15);
}

#[test]
fn a_rate_sees_nothing_before_its_window_and_ends_when_that_has_passed() {
    let stored = minutes(&[1.0, 100.0, 101.0]);
    assert_eq!(values("increase(m[2m])", 180, &stored), [2.0]);
    assert_eq!(values("rate(m[2m])", 240, &stored), [0.0; 0]);
    assert_eq!(values("rate(m[2m])", 600, &stored), [0.0; 0]);
}

#[test]
fn ten_tenths_are_one_and_means_do_not_overflow() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let stored: Vec<Series> = names
        .iter()
        .map(|name| series(&[("__name__", "m"), ("n", name)], &[(60, 0.1)]))
        .collect();
    assert_eq!(values("sum(m)", 60, &stored), [1.0]);
    let huge = [("a", 1.7e308), ("b", 1.7e308)]
        .map(|(name, value)| series(&[("__name__", "m"), ("n", name)], &[(60, value)]));
    assert_eq!(values("avg(m)", 60, &huge), [1.7e308]);
}

#[test]
fn a_stale_marker_ends_a_series_and_is_no_sample_of_a_range() {
    let stored = minutes(&[1.0, STALE, f64::NAN]);
    assert_eq!(values("m", 60, &stored), [1.0]);
    assert_eq!(values("m", 120, &stored), [0.0; 0]);
    assert_eq!(values("count(m)", 120, &stored), [0.0; 0]);
    assert_eq!(values("count(m)", 180, &stored), [1.0]);
    assert_eq!(values("count_over_time(m[5m])", 180, &stored), [2.0]);
    assert_eq!(values("last_over_time(m[5m])", 120, &stored), [1.0]);
}

#[test]
fn nan_after_nan_is_no_change() {
    let stored = minutes(&[f64::NAN, f64::NAN, 1.0, 1.0, f64::NAN]);
    assert_eq!(values("changes(m[5m])", 300, &stored), [2.0]);
}

#[test]
fn slopes_are_per_second_and_offsets_shift_windows() {
    let stored = minutes(&[0.0, 60.0, 120.0, 180.0]);
    assert_eq!(values("deriv(m[4m])", 240, &stored), [1.0]);
    assert_eq!(values("predict_linear(m[4m], 60)", 240, &stored), [240.0]);
    assert_eq!(
        values("rate(m[2m] offset 1m)", 240, &stored),
        values("rate(m[2m])", 180, &stored)
    );
    assert_eq!(values("m offset -1m", 60, &stored), [60.0]);
    assert_eq!(values("m @ 120", 9999, &stored), [60.0]);
}

#[test]
fn an_empty_label_is_an_absent_label() {
    let stored = [series(&[("__name__", "m"), ("a", "1")], &[(60, 1.0)])];
    assert_eq!(values(r#"m{b=""}"#, 60, &stored), [1.0]);
    assert_eq!(values(r#"m{b=~".*",a!=""}"#, 60, &stored), [1.0]);
    assert_eq!(values(r#"m{a=""}"#, 60, &stored), [0.0; 0]);
}

#[test]
fn what_is_infinite_or_no_number_stays_so() {
    let stored = minutes(&[f64::INFINITY]);
    assert_eq!(values("-m", 60, &stored), [f64::NEG_INFINITY]);
    assert!(values("m - m", 60, &stored)[0].is_nan());
    assert!(values("m * 0 / 0", 60, &stored)[0].is_nan());
}

#[test]
fn the_time_is_that_of_the_evaluation() {
    let stored = minutes(&[1.0]);
    assert_eq!(values("vector(time())", 1234, &[]), [1234.0]);
    assert_eq!(values("timestamp(m)", 100, &stored), [60.0]);
    assert_eq!(values("min by (x) (time() - m)", 100, &stored), [99.0]);
    assert_eq!(values("vector(1) * on() m", 100, &stored), [1.0]);
    assert_eq!(values("hour(vector(3600 * 13))", 0, &[]), [13.0]);
}

#[test]
fn a_bare_range_gives_stored_samples_with_their_times() {
    let stored = minutes(&[1.0, 2.0, 3.0]);
    let answer = evaluate("m[2m]", Params::instant(185_000), &stored).unwrap();
    let Value::Matrix(found) = answer.value else {
        panic!("no matrix");
    };
    assert_eq!(found[0].floats, [(120_000, 2.0), (180_000, 3.0)]);
}

#[test]
fn sorted_vectors_keep_their_order_and_ties_theirs() {
    let stored: Vec<Series> = [("a", 2.0), ("b", f64::NAN), ("c", 1.0), ("d", 2.0)]
        .iter()
        .map(|(name, value)| series(&[("n", name)], &[(60, *value)]))
        .collect();
    let order = |query| -> String {
        vector(query, 60, &stored)
            .iter()
            .map(|sample| sample.labels.get("n").to_owned())
            .collect()
    };
    assert_eq!(order(r#"sort({n!=""})"#), "cadb");
    assert_eq!(order(r#"sort_desc({n!=""})"#), "adcb");
    assert_eq!(order(r#"sort({n!=""} > 1)"#), "ad");
    // What took the place of a worse value stands first among equals, as in Prometheus' heap.
    assert_eq!(order(r#"topk(2, {n!=""})"#), "da");
    assert_eq!(order(r#"bottomk(3, {n!=""})"#), "cda");
}

#[test]
fn comparisons_filter_or_answer_with_zero_and_one() {
    let stored = minutes(&[2.0]);
    assert_eq!(values("sum(m) > bool 0", 60, &stored), [1.0]);
    assert_eq!(values("m > bool NaN", 60, &stored), [0.0]);
    assert_eq!(values("1 < m", 60, &stored), [2.0]);
    assert_eq!(values("3 < m", 60, &stored), [0.0; 0]);
}

#[test]
fn labels_travel_through_group_left_and_their_order_in_by_does_not_matter() {
    let stored = [
        series(
            &[("__name__", "many"), ("a", "1"), ("b", "x")],
            &[(60, 6.0)],
        ),
        series(
            &[("__name__", "many"), ("a", "1"), ("b", "y")],
            &[(60, 8.0)],
        ),
        series(&[("__name__", "one"), ("a", "1"), ("c", "z")], &[(60, 2.0)]),
    ];
    let found = at("many / on(a) group_left(c) one", 60, &stored);
    let labels = |b| format!(r#"{{a="1", b="{b}", c="z"}}"#);
    assert_eq!(found, [(labels("x"), 3.0), (labels("y"), 4.0)]);
    assert_eq!(
        at("sum by (b, a) (many)", 60, &stored),
        at("sum by (a, b) (many)", 60, &stored)
    );
}

#[test]
fn dividing_by_no_traffic_is_nan_not_an_error() {
    let stored = [
        series(
            &[("__name__", "errors_total")],
            &[(0, 5.0), (60, 5.0), (120, 5.0)],
        ),
        series(
            &[("__name__", "all_total")],
            &[(0, 9.0), (60, 9.0), (120, 9.0)],
        ),
    ];
    let query = "sum(rate(errors_total[5m])) / sum(rate(all_total[5m]))";
    assert!(values(query, 120, &stored)[0].is_nan());
}

#[test]
fn absence_knows_the_labels_that_were_asked_for() {
    let query = r#"absent_over_time(m{a="1",b=~"x"}[5m])"#;
    assert_eq!(at(query, 60, &[]), [(r#"{a="1"}"#.to_owned(), 1.0)]);
    let stored = [series(
        &[("__name__", "m"), ("a", "1"), ("b", "x")],
        &[(60, 0.0)],
    )];
    assert_eq!(at(query, 60, &stored), []);
}

#[test]
fn classic_quantiles_interpolate_and_say_what_is_wrong() {
    let bucket =
        |le: &str, count: f64| series(&[("__name__", "h_bucket"), ("le", le)], &[(60, count)]);
    let stored = [
        bucket("+Inf", 20.0),
        bucket("1", 10.0),
        bucket("2", 20.0),
        bucket("x", 1.0),
    ];
    let answer = evaluate(
        "histogram_quantile(1.5, h_bucket)",
        Params::instant(60_000),
        &stored,
    )
    .unwrap();
    assert_eq!(
        answer.warnings,
        [
            "PromQL warning: quantile value should be between 0 and 1, got 1.5 (1:20)",
            "PromQL warning: bucket label \"le\" is missing or has a malformed value of \"x\" for metric name \
             \"h_bucket\" (1:25)",
        ]
    );
    assert_eq!(
        values("histogram_quantile(0.75, h_bucket)", 60, &stored),
        [1.5]
    );
    assert_eq!(
        values("histogram_quantile(1.5, h_bucket)", 60, &stored),
        [f64::INFINITY]
    );
    let nothing = [bucket("+Inf", 0.0), bucket("1", 0.0)];
    assert!(values("histogram_quantile(0.9, h_bucket)", 60, &nothing)[0].is_nan());
}

#[test]
fn a_rate_of_something_not_named_like_a_counter_is_remarked_on() {
    let stored = [series(&[("__name__", "g")], &[(0, 1.0), (60, 2.0)])];
    let answer = evaluate("sum(rate(g[5m]))", Params::instant(60_000), &stored).unwrap();
    assert_eq!(
        answer.infos,
        [
            "PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket: \
          \"g\" (1:10)"
        ]
    );
}

#[test]
fn types_in_labels_decide_about_counters_where_they_are_stored() {
    let stored = [series(
        &[("__name__", "g"), ("__type__", "gauge")],
        &[(0, 1.0), (60, 2.0)],
    )];
    let features = Features {
        type_and_unit_labels: true,
        ..Features::default()
    };
    let params = Params {
        features,
        ..Params::instant(60_000)
    };
    let answer = evaluate("rate(g[5m])", params, &stored).unwrap();
    assert_eq!(
        answer.infos,
        [
            "PromQL info: metric might not be a counter, __type__ label is not set to \"counter\" or \
          \"histogram\", got \"gauge\": \"g\" (1:6)"
        ]
    );
}

#[test]
fn start_times_make_a_reset_of_what_never_fell() {
    let mut stored = [series(&[("__name__", "c_total")], &[(60, 5.0), (120, 8.0)])];
    stored[0].floats.starts = vec![0, 90_000];
    let features = Features {
        start_timestamps: true,
        ..Features::default()
    };
    let params = Params {
        features,
        ..Params::instant(120_000)
    };
    let plan = Plan::new(parse("resets(c_total[2m])").unwrap(), params).unwrap();
    let set = SeriesSet {
        series: stored.to_vec(),
    };
    let Value::Vector(found) = super::super::evaluate(&plan, vec![set]).unwrap().value else {
        panic!("no vector");
    };
    assert_eq!(number(&found[0].value), 1.0);
}

#[test]
fn what_a_subquery_reads_is_counted_once_as_prometheus_does() {
    let stored = [series(&[("__name__", "m")], &[(60, 1.0), (120, 2.0)])];
    let read = |query: &str| {
        let plan = Plan::new(parse(query).unwrap(), Params::instant(120_000)).unwrap();
        let sets = plan
            .selections()
            .iter()
            .map(|selection| fetch(selection, &stored))
            .collect();
        super::super::evaluate(&plan, sets).unwrap().total_samples
    };
    // Three values at 60, 90 and 120 s for the function; for a bare subquery what was read for them.
    assert_eq!(read("sum_over_time(m[61s:30s])"), 3);
    assert_eq!(read("m[61s:30s]"), 3);
    assert_eq!(read("sum_over_time(m[2m])"), 2);
}
