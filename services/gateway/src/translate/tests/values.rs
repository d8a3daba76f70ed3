//! What translation promises of values, times, histograms and refusals, rule by rule.

use auth::tenant::Limits;
use auth::translation::{Profile, Translation};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    ExponentialHistogram, Histogram, NumberDataPoint, Sum, Summary, number_data_point,
};
use schemas::rows::MetadataRow;

use super::build::{
    NOW_MS, NOW_NANOS, Translated, all_written, buckets, counter, gauge, histogram, metric, point,
    request, run, run_as, run_within, sum,
};
use crate::translate::rows::STALE_BITS;
use crate::translate::{Reason, Warning};

/// The only row of a push of one histogram point.
/// Pushes one histogram point beside a good one and returns why it was refused.
pub(super) fn only_reason(batch: &Translated) -> Reason {
    let reasons: Vec<_> = batch.tally.reasons().collect();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    reasons[0].0
}

fn value(point: NumberDataPoint) -> f64 {
    run(request(vec![gauge("m", vec![point])])).samples[0].value
}

fn at(nanos: u64) -> NumberDataPoint {
    NumberDataPoint {
        time_unix_nano: nanos,
        ..point(&[], 1.0)
    }
}

#[test]
fn rule_1_and_64_an_empty_metric_does_not_fail_the_batch() {
    let batch = run(request(vec![
        gauge("empty", vec![]),
        gauge("good", vec![point(&[], 1.0)]),
    ]));
    assert_eq!(all_written(&batch), ["good{}"]);
    assert_eq!(batch.tally.partial_success(), None);
}

#[test]
fn rule_6_rejected_points_are_counted_and_explained() {
    let delta = sum("delta", 1, vec![point(&[], 1.0), point(&[("a", "1")], 2.0)]);
    let good = ["a", "b", "c"]
        .map(|label| point(&[("l", label)], 1.0))
        .to_vec();
    let batch = run(request(vec![counter("good", good), delta]));
    let (rejected, message) = batch.tally.partial_success().unwrap();
    assert_eq!((rejected, batch.tally.accepted()), (2, 3));
    for part in [
        "2 points",
        "delta_temporality",
        "`delta`",
        "TEMPORALITY_PREFERENCE=cumulative",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn integers_become_doubles() {
    let mut metric_point = point(&[], 0.0);
    metric_point.value = Some(number_data_point::Value::AsInt(-7));
    assert_eq!(value(metric_point.clone()), -7.0);
    metric_point.value = Some(number_data_point::Value::AsInt((1 << 53) + 1));
    assert_eq!(value(metric_point), 9_007_199_254_740_992.0);
}

#[test]
fn a_point_without_a_value_is_rejected() {
    let batch = run(request(vec![gauge(
        "m",
        vec![NumberDataPoint {
            value: None,
            ..point(&[], 0.0)
        }],
    )]));
    assert_eq!(only_reason(&batch), Reason::NoValue);
}

#[test]
fn rule_56_nan_is_an_ordinary_value() {
    let stored = value(point(&[], f64::NAN));
    assert!(stored.is_nan() && stored.to_bits() != STALE_BITS);
    assert_eq!(value(point(&[], f64::NEG_INFINITY)), f64::NEG_INFINITY);
}

#[test]
fn rule_55_no_recorded_value_ends_number_series_with_the_stale_marker() {
    let stale = NumberDataPoint {
        value: None,
        flags: 1,
        ..point(&[], 0.0)
    };
    assert_eq!(value(stale).to_bits(), 0x7ff0_0000_0000_0002);
}

#[test]
fn rule_57_a_point_at_time_0_is_rejected() {
    let batch = run(request(vec![gauge("m", vec![at(0), point(&[], 1.0)])]));
    assert_eq!(only_reason(&batch), Reason::TimestampZero);
    assert_eq!(batch.samples.len(), 1);
}

#[test]
fn rule_2_points_outside_the_window_are_rejected_and_its_edges_are_in() {
    let week = 7 * 86_400_000_000_000;
    let ten_minutes = 600_000_000_000;
    let times = [NOW_NANOS - week, NOW_NANOS + ten_minutes];
    let batch = run(request(vec![gauge("m", times.map(at).to_vec())]));
    assert_eq!((batch.tally.accepted(), batch.series.len()), (2, 2));
    let times = [times[0] - 1_000_000, times[1] + 1_000_000, 1, u64::MAX];
    let batch = run(request(vec![gauge("m", times.map(at).to_vec())]));
    assert_eq!(batch.tally.rejected_for(Reason::TooOld), 2);
    assert_eq!(batch.tally.rejected_for(Reason::TooFarInFuture), 2);
}

#[test]
fn times_are_cut_to_milliseconds() {
    let batch = run(request(vec![gauge("m", vec![at(NOW_NANOS + 1_999_999)])]));
    let row = &batch.samples[0];
    assert_eq!(
        (row.ts, row.b, row.ret_days),
        (NOW_MS + 1, 1_793_534_400, 30)
    );
    assert_eq!((row.tenant.as_str(), row.id), ("ten_a", batch.series[0].id));
}

#[test]
fn rule_59_start_times_are_kept_for_sums_when_they_make_sense() {
    let start = |start| {
        let started = NumberDataPoint {
            start_time_unix_nano: start,
            ..point(&[], 1.0)
        };
        let metrics = vec![
            gauge("g", vec![started.clone()]),
            counter("c", vec![started]),
        ];
        run(request(metrics))
            .samples
            .iter()
            .map(|row| row.start_ts)
            .collect::<Vec<_>>()
    };
    assert_eq!(start(NOW_NANOS - 5_000_000), [0, NOW_MS - 5]);
    assert_eq!(start(NOW_NANOS), [0, NOW_MS]);
    assert_eq!(start(NOW_NANOS + 1_000_000), [0, 0]);
    assert_eq!(start(0), [0, 0]);
}

#[test]
fn rule_51_and_52_only_cumulative_sums_and_histograms_are_stored() {
    for (temporality, reason) in [
        (0, Reason::UnspecifiedTemporality),
        (1, Reason::DeltaTemporality),
        (7, Reason::UnspecifiedTemporality),
    ] {
        let number = sum("s", temporality, vec![point(&[], 1.0)]);
        let data_points = vec![buckets(&[1.0], &[1, 1]); 2];
        let data = Histogram {
            data_points,
            aggregation_temporality: temporality,
        };
        let batch = run(request(vec![
            number,
            metric("h", "", Data::Histogram(data)),
        ]));
        assert_eq!((only_reason(&batch), batch.tally.rejected()), (reason, 3));
        assert!(batch.samples.is_empty() && batch.histograms.is_empty() && batch.series.is_empty());
    }
}

#[test]
fn rule_54_exponential_histograms_and_summaries_are_rejected_visibly() {
    let exponential = ExponentialHistogram {
        data_points: vec![Default::default()],
        aggregation_temporality: 2,
    };
    let summary = Summary {
        data_points: vec![Default::default(); 2],
    };
    let batch = run(request(vec![
        metric("e", "", Data::ExponentialHistogram(exponential)),
        metric("s", "", Data::Summary(summary)),
    ]));
    assert_eq!(
        (only_reason(&batch), batch.tally.rejected()),
        (Reason::UnsupportedType, 3)
    );
}

#[test]
fn rule_58_the_same_point_twice_is_one_row() {
    let metrics = vec![
        gauge("m", vec![point(&[], 3.0); 2]),
        histogram("h", vec![buckets(&[1.0], &[1, 2]); 2]),
    ];
    let batch = run(request(metrics));
    assert_eq!(
        (
            batch.samples.len(),
            batch.histograms.len(),
            batch.series.len()
        ),
        (1, 1, 2)
    );
    assert_eq!(batch.tally.accepted(), 4);
}

#[test]
fn of_different_values_at_the_same_time_the_greatest_is_kept_and_nan_loses() {
    let stale = f64::from_bits(STALE_BITS);
    for values in [
        [1.0, 3.0, 2.0],
        [3.0, f64::NAN, -1.0],
        [stale, 3.0, f64::NAN],
    ] {
        for rotation in 0..3 {
            let mut points = values.map(|value| point(&[], value));
            points.rotate_left(rotation);
            let batch = run(request(vec![gauge("m", points.to_vec())]));
            assert_eq!(batch.samples.len(), 1);
            assert_eq!(batch.samples[0].value, 3.0, "{values:?}");
        }
    }
    let (more, less) = (buckets(&[1.0], &[2, 2]), buckets(&[1.0], &[0, 3]));
    for points in [vec![more.clone(), less.clone()], vec![less, more]] {
        let batch = run(request(vec![histogram("h", points)]));
        assert_eq!(
            (batch.histograms.len(), &batch.histograms[0].pos[..]),
            (1, &[2, 2][..])
        );
    }
}

#[test]
fn rule_58_points_in_any_order_are_kept_each_with_its_time() {
    let times = [
        NOW_NANOS,
        NOW_NANOS - 60_000_000_000,
        NOW_NANOS - 30_000_000_000,
        NOW_NANOS,
    ];
    let batch = run(request(vec![gauge("m", times.map(at).to_vec())]));
    assert_eq!(batch.samples.len(), 3);
    assert_eq!(batch.series.len(), 1);
    assert_eq!(
        (batch.series[0].first_seen, batch.series[0].last_seen),
        (1_793_534_340, 1_793_534_400)
    );
}

#[test]
fn a_series_has_one_row_per_day() {
    let batch = run(request(vec![gauge(
        "m",
        vec![at(NOW_NANOS), at(NOW_NANOS - 86_400_000_000_000)],
    )]));
    let days: Vec<_> = batch
        .series
        .iter()
        .map(|series| (series.day, series.id))
        .collect();
    assert_eq!(
        days,
        [(20_758, batch.series[0].id), (20_757, batch.series[0].id)]
    );
}

#[test]
fn limits_cost_the_points_beyond_them() {
    let limits = Limits {
        max_labels_per_series: 2,
        max_label_name_length: 5,
        max_items_per_request: 5,
        ..Limits::standard()
    };
    let batch = run_within(
        limits,
        request(vec![
            gauge("m", vec![point(&[("a", "1"), ("b", "1"), ("c", "1")], 1.0)]),
            gauge(
                "m",
                vec![
                    point(&[("abcdef", "1")], 1.0),
                    point(&[("abcde", "1")], 1.0),
                ],
            ),
            gauge("toolong", vec![point(&[], 1.0), point(&[], 1.0)]),
            gauge("m", vec![point(&[], 1.0); 4]),
        ]),
    );
    let reasons: Vec<_> = batch.tally.reasons().collect();
    assert_eq!(
        reasons,
        [
            (Reason::MetricNameTooLong, 2),
            (Reason::LabelNameTooLong, 1),
            (Reason::TooManyLabels, 1),
            (Reason::TooManyItems, 4)
        ]
    );
    assert_eq!(batch.tally.accepted(), 1);
}

#[test]
fn long_label_values_are_cut_at_a_character_and_the_sender_is_told() {
    let limits = Limits {
        max_label_value_length: 8,
        ..Limits::standard()
    };
    let labels = [("a", "12345678"), ("b", "123456789"), ("c", "ééééé")];
    let batch = run_within(limits, request(vec![gauge("m", vec![point(&labels, 1.0)])]));
    assert_eq!(
        all_written(&batch),
        [r#"m{a="12345678", b="12345...", c="éé..."}"#]
    );
    assert_eq!(
        (
            batch.tally.accepted(),
            batch.tally.warned_of(Warning::LabelValueCut)
        ),
        (1, 1)
    );
}

#[test]
fn metadata_has_one_row_per_family_and_the_last_type_wins() {
    let upward = Sum {
        data_points: vec![point(&[], 1.0)],
        aggregation_temporality: 2,
        is_monotonic: false,
    };
    let mut first = histogram("lat", vec![buckets(&[1.0], &[1, 1])]);
    first.unit = "ms".to_owned();
    first.description = "How long".to_owned();
    let batch = run(request(vec![
        first,
        counter("c", vec![point(&[], 1.0)]),
        metric("c_total", "", Data::Sum(upward)),
        gauge("unstored", vec![at(0)]),
    ]));
    let row = |family: &str, kind: &str, unit: &str, help: &str| MetadataRow {
        tenant: "ten_a".to_owned(),
        family: family.to_owned(),
        kind: kind.to_owned(),
        unit: unit.to_owned(),
        help: help.to_owned(),
        updated: 1_793_534_400,
    };
    assert_eq!(
        batch.metadata,
        [
            row("lat_milliseconds", "histogram", "milliseconds", "How long"),
            row("c_total", "gauge", "", "")
        ]
    );
}

#[test]
fn dcgm_blanks_are_left_out_of_crusoes_metrics_only() {
    let blank = || {
        request(vec![gauge(
            "DCGM_X",
            vec![point(&[], 9.223_372_036_854_776e18)],
        )])
    };
    let batch = run_as(&Translation::of(Profile::Crusoe), blank());
    assert_eq!(
        (
            batch.samples.len(),
            batch.series.len(),
            batch.tally.accepted()
        ),
        (0, 0, 1)
    );
    assert_eq!(batch.tally.warned_of(Warning::SentinelDropped), 1);
    assert_eq!(run(blank()).samples.len(), 1);
}
