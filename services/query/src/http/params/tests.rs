//! What parameters mean and how faulty ones are refused.

use super::*;

fn form(pairs: &[(&'static str, &'static str)]) -> Form {
    pairs.iter().copied().collect()
}

fn refused<T: std::fmt::Debug>(result: Result<T, Failure>) -> String {
    result.unwrap_err().text.into_owned()
}

const RANGE: [(&str, &str); 4] = [
    ("query", "up"),
    ("start", "0"),
    ("end", "60"),
    ("step", "15"),
];

fn range_with(name: &'static str, value: &'static str) -> Result<Question, Failure> {
    let mut pairs = vec![(name, value)];
    pairs.extend(RANGE);
    range(&form(&pairs), &Config::default())
}

#[test]
fn an_instant_query_is_at_its_time_or_now() {
    let config = Config::default();
    let at = instant(&form(&[("query", "up"), ("time", "4.5")]), &config, 77).unwrap();
    assert_eq!(
        (at.times.start, at.times.end, at.times.step),
        (4500, 4500, 0)
    );
    assert_eq!(
        (at.text.as_str(), at.lookback, at.timeout),
        ("up", 300_000, Duration::from_secs(120))
    );
    assert_eq!((at.limit, at.stats), (None, false));
    assert_eq!(instant(&form(&[]), &config, 77).unwrap().times.start, 77);
}

#[test]
fn options_are_read_and_bounded() {
    let config = Config::default();
    let pairs = [
        ("timeout", "5s"),
        ("limit", "0"),
        ("lookback_delta", "30"),
        ("stats", "all"),
    ];
    let question = instant(&form(&pairs), &config, 0).unwrap();
    assert_eq!(question.timeout, Duration::from_secs(5));
    assert_eq!(
        (question.limit, question.lookback, question.stats),
        (None, 30_000, true)
    );
    assert_eq!(
        instant(&form(&[("timeout", "1h")]), &config, 0)
            .unwrap()
            .timeout,
        config.timeout
    );
    assert_eq!(
        instant(&form(&[("limit", "7")]), &config, 0).unwrap().limit,
        Some(7)
    );
}

#[test]
fn faulty_ranges_are_refused_in_prometheus_words() {
    for (name, value, expected) in [
        (
            "start",
            "foo",
            r#"invalid parameter "start": cannot parse "foo" to a valid timestamp"#,
        ),
        (
            "end",
            "bar",
            r#"invalid parameter "end": cannot parse "bar" to a valid timestamp"#,
        ),
        (
            "end",
            "-1",
            r#"invalid parameter "end": end timestamp must not be before start time"#,
        ),
        (
            "step",
            "x",
            r#"invalid parameter "step": cannot parse "x" to a valid duration"#,
        ),
        (
            "step",
            "0",
            "invalid parameter \"step\": zero or negative query resolution step widths are not accepted. \
             Try a positive integer",
        ),
        (
            "step",
            "0.005",
            "exceeded maximum resolution of 11,000 points per timeseries. \
             Try decreasing the query resolution (?step=XX)",
        ),
        (
            "timeout",
            "x",
            r#"invalid parameter "timeout": cannot parse "x" to a valid duration"#,
        ),
        (
            "lookback_delta",
            "x",
            r#"error parsing lookback delta duration: cannot parse "x" to a valid duration"#,
        ),
    ] {
        assert_eq!(refused(range_with(name, value)), expected);
    }
}

#[test]
fn faulty_limits_are_refused_in_go_s_words() {
    for (name, value, expected) in [
        (
            "limit",
            "x",
            r#"invalid parameter "limit": strconv.Atoi: parsing "x": invalid syntax"#,
        ),
        (
            "limit",
            "99999999999999999999",
            r#"invalid parameter "limit": strconv.Atoi: parsing "99999999999999999999": value out of range"#,
        ),
        (
            "limit",
            "-1",
            r#"invalid parameter "limit": limit must be non-negative"#,
        ),
    ] {
        assert_eq!(refused(range_with(name, value)), expected);
    }
}

#[test]
fn a_range_needs_its_start() {
    let missing = refused(range(&form(&[("query", "up")]), &Config::default()));
    assert_eq!(
        missing,
        r#"invalid parameter "start": cannot parse "" to a valid timestamp"#
    );
}

#[test]
fn eleven_thousand_and_one_points_pass() {
    let pairs = |end| form(&[("start", "0"), ("end", end), ("step", "1")]);
    let config = Config::default();
    assert_eq!(
        range(&pairs("11000"), &config).unwrap().times.end,
        11_000_000
    );
    assert!(refused(range(&pairs("11001"), &config)).starts_with("exceeded maximum resolution"));
}

#[test]
fn selectors_need_something_that_does_not_match_nothing() {
    let listed = listing(&form(&[
        ("match[]", "up"),
        ("match[]", r#"{__name__!=""}"#),
    ]))
    .unwrap();
    assert_eq!(listed.selectors.len(), 2);
    assert_eq!(
        (listed.start, listed.end, listed.limit),
        (MIN_TIME, MAX_TIME, None)
    );
    for (selector, text) in [
        (
            r#"{a=~".*"}"#,
            "match[] must contain at least one non-empty matcher",
        ),
        (
            "up{",
            "1:4: parse error: unexpected end of input inside braces",
        ),
    ] {
        // Prometheus names the parameter on one endpoint of three.
        let faulty = form(&[("match[]", selector)]);
        assert_eq!(refused(listing(&faulty)), text);
        assert_eq!(
            refused(series(&faulty)),
            format!("invalid parameter \"match[]\": {text}")
        );
    }
    // What is missing is said before what is wrong.
    assert_eq!(
        refused(series(&form(&[("limit", "-1")]))),
        "no match[] parameter provided"
    );
}

#[test]
fn times_that_may_be_left_out_are_refused_in_their_own_words() {
    let config = Config::default();
    let expected = |name: &str| {
        format!(
            r#"invalid parameter "{name}": invalid time value for '{name}': cannot parse "x" to a valid timestamp"#
        )
    };
    assert_eq!(
        refused(instant(&form(&[("time", "x")]), &config, 0)),
        expected("time")
    );
    for name in ["start", "end"] {
        let faulty = form(&[(name, "x"), ("match[]", "up")]);
        assert_eq!(refused(listing(&faulty)), expected(name));
        assert_eq!(refused(series(&faulty)), expected(name));
        assert_eq!(refused(exemplar_times(&faulty)), expected(name));
    }
}

#[test]
fn metadata_limits_are_numbers() {
    let asked = metadata(&form(&[
        ("limit", "0"),
        ("limit_per_metric", "2"),
        ("metric", "up"),
    ]))
    .unwrap();
    assert_eq!(
        (asked.metric.as_deref(), asked.limit, asked.per_metric),
        (Some("up"), None, Some(2))
    );
    assert_eq!(
        refused(metadata(&form(&[("limit", "x")]))),
        "limit must be a number"
    );
    assert_eq!(
        refused(metadata(&form(&[("limit_per_metric", "x")]))),
        "limit_per_metric must be a number"
    );
}

#[test]
fn escaped_label_names_are_unescaped() {
    for (segment, name) in [
        ("app", "app"),
        ("U__http_2e_x", "http.x"),
        ("U__a__b", "a_b"),
        ("U__svc_2e_ü", "svc.ü"),
        ("U__not_escaped", "U__not_escaped"),
        ("http.x", "http.x"),
        ("a%20%C3%BC", "a ü"),
    ] {
        assert_eq!(label_name(segment).unwrap(), name, "{segment}");
    }
    assert_eq!(refused(label_name("")), "invalid label name: \"\"");
    assert_eq!(
        refused(label_name("%C3%BC%ff%fe\"")),
        r#"invalid label name: "ü\xff\xfe\"""#
    );
}
