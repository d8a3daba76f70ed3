//! Queries that have no value, and the words that say so.

use super::*;

fn two(left: f64, right: f64) -> [Series; 2] {
    [
        series(&[("__name__", "a"), ("x", "1")], &[(60, left), (120, left)]),
        series(
            &[("__name__", "b"), ("x", "1")],
            &[(60, right), (120, right)],
        ),
    ]
}

#[test]
fn series_that_differ_in_name_alone_cannot_lose_it() {
    let stored = two(1.0, 2.0);
    let text = "vector cannot contain metrics with the same labelset";
    for query in [
        r#"abs({x="1"})"#,
        r#"-{x="1"}"#,
        r#"{x="1"} + 1"#,
        r#"rate({__name__=~".+"}[5m])"#,
        r#"label_replace({x="1"}, "__name__", "same", "", "")"#,
    ] {
        assert_eq!(
            error(query, Params::instant(120_000), &stored),
            text,
            "{query}"
        );
        assert_eq!(
            error(query, Params::range(60_000, 120_000, 60_000), &stored),
            text,
            "{query}"
        );
    }
}

#[test]
fn duplicates_of_a_rate_count_over_the_whole_range() {
    let stored = [
        series(&[("__name__", "a")], &[(0, 1.0), (60, 2.0)]),
        series(&[("__name__", "b")], &[(3600, 1.0), (3660, 2.0)]),
    ];
    let query = r#"rate({__name__=~"a|b"}[5m])"#;
    let text = "vector cannot contain metrics with the same labelset";
    assert_eq!(
        error(query, Params::range(0, 3_660_000, 60_000), &stored),
        text
    );
    assert_eq!(values(query, 60, &stored).len(), 1);
}

#[test]
fn many_to_many_matching_names_the_group_and_both_series() {
    let stored = [
        series(&[("__name__", "a"), ("x", "1")], &[(60, 1.0)]),
        series(&[("__name__", "b"), ("x", "1"), ("y", "1")], &[(60, 1.0)]),
        series(&[("__name__", "b"), ("x", "1"), ("y", "2")], &[(60, 1.0)]),
    ];
    assert_eq!(
        error("a + on(x) b", Params::instant(60_000), &stored),
        r#"found duplicate series for the match group {x="1"} on the right hand-side of the operation: [{__name__="b", x="1", y="1"}, {__name__="b", x="1", y="2"}];many-to-many matching not allowed: matching labels must be unique on one side"#
    );
    assert_eq!(
        error("b + on(x) a", Params::instant(60_000), &stored),
        "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)"
    );
    assert_eq!(
        error(
            "b + on(x) group_left(y) a",
            Params::instant(60_000),
            &stored
        ),
        "multiple matches for labels: grouping labels must ensure unique matches"
    );
}

#[test]
fn of_several_groups_with_duplicates_the_one_whose_second_series_stands_first_is_named() {
    let one =
        |place: &str, x: &str| series(&[("__name__", "o"), ("a", place), ("x", x)], &[(60, 1.0)]);
    let many = |x: &str| series(&[("__name__", "m"), ("x", x)], &[(60, 1.0)]);
    let stored = [
        many("1"),
        many("2"),
        one("1", "2"),
        one("2", "2"),
        one("3", "1"),
        one("4", "1"),
    ];
    let text = error("m + on(x) o", Params::instant(60_000), &stored);
    assert!(text.contains(r#"match group {x="2"}"#), "{text}");
}

#[test]
fn of_faults_at_several_steps_the_first_step_has_its_say() {
    let one = |name: &str, y: &str, from: i64| {
        let labels = [("__name__", name), ("x", "1"), ("y", y)];
        series(&labels, &[(from, 1.0)])
    };
    // At one minute two series meet one; at two minutes there are duplicates on the right as well.
    let stored = [
        one("l", "1", 60),
        one("l", "2", 60),
        one("r", "1", 60),
        one("r", "2", 120),
    ];
    let range = |start| Params::range(start, 180_000, 60_000);
    assert_eq!(
        error("l + on(x) r", range(60_000), &stored),
        "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)"
    );
    let text = error("l + on(x) r", range(120_000), &stored);
    assert!(text.starts_with("found duplicate series"), "{text}");
}

#[test]
fn too_many_samples_are_refused_not_gathered() {
    let stored: Vec<Series> = ["1", "2", "3"]
        .map(|name| series(&[("__name__", "m"), ("n", name)], &[(60, 1.0), (120, 2.0)]))
        .to_vec();
    let text = "query processing would load too many samples into memory in query execution";
    let params = Params {
        max_samples: 2,
        ..Params::instant(60_000)
    };
    assert_eq!(error("m", params, &stored), text);
    assert_eq!(
        error(
            "sum(rate(m[5m]))",
            Params {
                start: 120_000,
                end: 120_000,
                ..params
            },
            &stored
        ),
        text
    );
    assert!(
        evaluate(
            "sum(m)",
            Params {
                max_samples: 10,
                ..params
            },
            &stored
        )
        .is_ok()
    );
    let long = Params {
        max_samples: 1000,
        ..Params::range(0, 1 << 50, 1)
    };
    assert_eq!(error("vector(1)", long, &[]), text);
}

#[test]
fn a_cancelled_evaluation_stops() {
    let stored = two(1.0, 2.0);
    let plan = Plan::new(parse("a").unwrap(), Params::instant(60_000)).unwrap();
    let sets = plan
        .selections()
        .iter()
        .map(|selection| fetch(selection, &stored))
        .collect();
    let stopped = super::super::evaluate_with(&plan, sets, &|| true).unwrap_err();
    assert_eq!(stopped, EvalError::Cancelled);
}

#[test]
fn parameters_out_of_range_are_named() {
    let stored = two(1.0, 2.0);
    let at = Params::instant(120_000);
    assert_eq!(error("topk(NaN, a)", at, &stored), "Parameter value is NaN");
    assert_eq!(
        error("topk(1e300, a)", at, &stored),
        "Scalar value 1e+300 overflows int64"
    );
    assert_eq!(
        error("limit_ratio(NaN, a)", at, &stored),
        "Ratio value is NaN"
    );
    assert_eq!(
        error("double_exponential_smoothing(a[5m], 1, 0.5)", at, &stored),
        "invalid smoothing factor. Expected: 0 < sf < 1, got: 1.000000"
    );
    assert_eq!(
        error(r#"label_replace(a, "", "", "x", "")"#, at, &stored),
        "invalid destination label name in label_replace(): "
    );
    assert_eq!(
        error(r#"label_replace(a, "y", "", "x", "(")"#, at, &stored),
        "invalid regular expression in label_replace(): ("
    );
}

#[test]
fn only_scalars_and_vectors_have_ranges() {
    let range = Params::range(0, 60_000, 60_000);
    assert_eq!(
        error("a[5m]", range, &[]),
        "invalid expression type \"range vector\" for range query, must be Scalar or instant Vector"
    );
    assert_eq!(
        error("\"text\"", range, &[]),
        "invalid expression type \"string\" for range query, must be Scalar or instant Vector"
    );
}

/// `names` added up as a balanced tree, which nests least.
fn sum_of(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        _ => {
            let (left, right) = names.split_at(names.len() / 2);
            format!("({} + {})", sum_of(left), sum_of(right))
        }
    }
}

#[test]
fn thousands_of_selectors_are_counted_and_refused_beyond_a_bound() {
    let names: Vec<String> = (0..5000).map(|number| format!("m{number}")).collect();
    let made = |names: &[String], max_selections| {
        let params = Params {
            max_selections,
            ..Params::instant(0)
        };
        Plan::new(parse(&sum_of(names)).unwrap(), params)
    };
    assert_eq!(made(&names, 5000).unwrap().selections().len(), 5000);
    let refused = made(&names, 4999).unwrap_err();
    let (found, limit) = (5000, 4999);
    assert_eq!(refused, EvalError::TooManySelectors { found, limit });
    // Equal ones are one, however many.
    let same = vec!["m".to_owned(); 5000];
    assert_eq!(made(&same, 1).unwrap().selections().len(), 1);
    // Windows that do not meet are read one by one; `info` reads what is not written.
    let apart: Vec<String> = (0..3).map(|day| format!("m offset {}d", day + 1)).collect();
    assert_eq!(made(&apart, 3).unwrap().selections().len(), 3);
    let found = 3;
    let refused = EvalError::TooManySelectors { found, limit: 2 };
    assert_eq!(made(&apart, 2).unwrap_err(), refused);
    let found = 2;
    let refused = EvalError::TooManySelectors { found, limit: 1 };
    assert_eq!(made(&["info(m)".to_owned()], 1).unwrap_err(), refused);
}
