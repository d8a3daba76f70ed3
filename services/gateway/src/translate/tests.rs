//! What translation promises of names, labels and identity, rule by rule.

mod build;
mod histograms;
mod known;
mod payloads;
mod properties;
mod resources;
mod values;

use auth::translation::{NamingStrategy, Profile, Translation};
use bumpalo::Bump;
use opentelemetry_proto::tonic::common::v1::AnyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::Metric;

use self::build::{
    all_written, attributes, counter, gauge, histogram, labels_of, point, request, run, run_as,
};
use super::Reason;
use super::labels::label_name;

fn generic() -> Translation {
    Translation::of(Profile::Generic)
}

#[test]
fn label_names_follow_the_defaults_of_a_prometheus_server() {
    for (key, expected) in [
        ("http.method", Some("http_method")),
        ("label:with:colons", Some("label_with_colons")),
        (
            "label!with&special$chars)",
            Some("label_with_special_chars_"),
        ),
        (
            "label_with_foreign_characters_字符",
            Some("label_with_foreign_characters___"),
        ),
        (".foo", Some("key_foo")),
        ("_label", Some("key_label")),
        ("__label", Some("__label")),
        ("123label", Some("key_123label")),
        ("a__b", Some("a__b")),
        (
            "label.name__with&&special##chars",
            Some("label_name__with__special__chars"),
        ),
        (
            "__reserved__label__name__",
            Some("__reserved__label__name__"),
        ),
        ("trailing___", Some("trailing___")),
        ("_", Some("key_")),
        ("", None),
        ("__", None),
        ("ようこそ", None),
    ] {
        assert_eq!(label_name(key, true, &Bump::new()), expected, "{key}");
    }
}

#[test]
fn strategies_without_escaping_keep_label_names_as_they_are() {
    for strategy in [
        NamingStrategy::NoTranslation,
        NamingStrategy::NoUtf8EscapingWithSuffixes,
    ] {
        let translation = Translation {
            strategy,
            ..generic()
        };
        assert_eq!(
            labels_of(
                &translation,
                &[("k8s.cluster.name", "c")],
                &[("http.method", "GET"), ("ä", "1")]
            ),
            r#"m{http.method="GET", k8s.cluster.name="c", ä="1"}"#
        );
    }
}

#[test]
fn rule_36_suffixes_can_be_switched_off_per_key() {
    let name = |strategy| {
        let translation = Translation {
            strategy,
            ..generic()
        };
        run_as(
            &translation,
            request(vec![counter("a.b", vec![point(&[], 1.0)])]),
        )
        .samples[0]
            .metric
            .clone()
    };
    assert_eq!(
        name(NamingStrategy::UnderscoreEscapingWithSuffixes),
        "a_b_total"
    );
    assert_eq!(
        name(NamingStrategy::UnderscoreEscapingWithoutSuffixes),
        "a_b"
    );
    assert_eq!(
        name(NamingStrategy::NoUtf8EscapingWithSuffixes),
        "a.b_total"
    );
    assert_eq!(name(NamingStrategy::NoTranslation), "a.b");
}

#[test]
fn rule_37_a_gauge_of_unit_1_gets_ratio_unless_the_key_says_no() {
    let build_info = || {
        let metric = gauge("build_info", vec![point(&[], 1.0)]);
        request(vec![Metric {
            unit: "1".to_owned(),
            ..metric
        }])
    };
    assert_eq!(run(build_info()).samples[0].metric, "build_info_ratio");
    let cerebrium = Translation::of(Profile::Cerebrium);
    assert!(!cerebrium.add_ratio);
    assert_eq!(
        run_as(&cerebrium, build_info()).samples[0].metric,
        "build_info"
    );
}

#[test]
fn rule_38_the_unit_of_one_metric_does_not_leak_into_the_next() {
    let first = Metric {
        unit: "By".to_owned(),
        ..gauge("a", vec![point(&[], 1.0)])
    };
    let batch = run(request(vec![first, gauge("b", vec![point(&[], 1.0)])]));
    assert_eq!(all_written(&batch), ["a_bytes{}", "b{}"]);
}

#[test]
fn rule_41_an_attribute_called_name_neither_renames_nor_duplicates() {
    let labels = labels_of(
        &generic(),
        &[],
        &[("__name__", "x"), ("-_name__", "y"), ("a", "1")],
    );
    assert_eq!(labels, r#"m{a="1"}"#);
}

#[test]
fn rule_42_colliding_attributes_are_joined_in_the_order_of_their_keys() {
    let labels = |pairs: &[(&str, &str)]| labels_of(&generic(), &[], pairs);
    assert_eq!(labels(&[("a_b", "2"), ("a.b", "1")]), r#"m{a_b="1;2"}"#);
    assert_eq!(
        labels(&[("a_b", "3"), ("a.b", "2"), ("a-b", "1")]),
        r#"m{a_b="1;2;3"}"#
    );
    assert_eq!(labels(&[("a.b", "qa"), ("a_b", "qa")]), r#"m{a_b="qa;qa"}"#);
    assert_eq!(labels(&[("a", "2"), ("a", "1")]), r#"m{a="1;2"}"#);
    assert_eq!(labels(&[("a.b", ""), ("a_b", "2")]), r#"m{a_b="2"}"#);
    assert_eq!(labels(&[("a.b", "1"), ("a_b", "")]), r#"m{a_b="1;"}"#);
}

#[test]
fn rule_35c_an_attribute_without_a_value_is_no_label() {
    let mut unset = attributes(&[("a", "1"), ("b", ""), ("c", "x"), ("d", "y")]);
    unset[2].value = Some(AnyValue { value: None });
    unset[3].value = None;
    let mut metric_point = point(&[], 1.0);
    metric_point.attributes = unset;
    let batch = run(request(vec![gauge("m", vec![metric_point])]));
    assert_eq!(all_written(&batch), [r#"m{a="1"}"#]);
}

#[test]
fn attribute_values_of_other_types_become_text() {
    let mut metric_point = point(&[], 1.0);
    metric_point.attributes = attributes(&[("b", ""), ("i", ""), ("d", "")]);
    for (attribute, value) in metric_point.attributes.iter_mut().zip([
        Value::BoolValue(true),
        Value::IntValue(-3),
        Value::DoubleValue(1e21),
    ]) {
        attribute.value = Some(AnyValue { value: Some(value) });
    }
    let batch = run(request(vec![gauge("m", vec![metric_point])]));
    assert_eq!(all_written(&batch), [r#"m{b="true", d="1e+21", i="-3"}"#]);
}

#[test]
fn a_users_le_label_survives_on_a_stored_histogram() {
    let mut metric_point = build::buckets(&[1.0], &[1, 2]);
    metric_point.attributes = attributes(&[("le", "mine"), ("quantile", "q")]);
    let batch = run(request(vec![histogram("h", vec![metric_point])]));
    assert_eq!(all_written(&batch), [r#"h{le="mine", quantile="q"}"#]);
}

#[test]
fn names_of_which_nothing_is_left_cost_their_points_only() {
    let batch = run(request(vec![
        gauge("日本語", vec![point(&[], 1.0), point(&[("a", "1")], 1.0)]),
        gauge(
            "ok",
            vec![
                point(&[("ようこそ", "1")], 1.0),
                point(&[("", "1")], 1.0),
                point(&[], 4.0),
            ],
        ),
    ]));
    assert_eq!(all_written(&batch), ["ok{}"]);
    assert_eq!(batch.tally.rejected_for(Reason::InvalidMetricName), 2);
    assert_eq!(batch.tally.rejected_for(Reason::InvalidLabelName), 2);
}
