//! What translation leaves out because it is stored already.

use auth::translation::Translation;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::Metric;

use super::build::{
    NOW_NANOS, buckets, counter, gauge, histogram, point, request, run_knowing, tenant,
};
use crate::known::Known;
use crate::translate::{Reason, TranslatedBatch};

/// A day, in nanoseconds.
const DAY: u64 = 86_400_000_000_000;

fn push() -> ExportMetricsServiceRequest {
    request(vec![
        gauge(
            "g",
            vec![point(&[("a", "1")], 1.0), point(&[("a", "2")], 2.0)],
        ),
        histogram("h", vec![buckets(&[1.0], &[1, 2])]),
    ])
}

#[expect(clippy::needless_pass_by_value, reason = "tests say it shorter")]
fn translated(known: &Known, request: ExportMetricsServiceRequest) -> TranslatedBatch {
    run_knowing(known, &tenant(), &Translation::default(), &request)
}

/// Numbers of samples, histograms, series and metadata rows.
fn counts(TranslatedBatch { batch, .. }: &TranslatedBatch) -> [usize; 4] {
    [
        batch.samples.len(),
        batch.histograms.len(),
        batch.series.len(),
        batch.metadata.len(),
    ]
}

#[test]
fn series_and_metadata_are_written_until_they_are_stored() {
    let known = Known::new(1000);
    let first = translated(&known, push());
    assert_eq!((counts(&first), first.fresh.len()), ([2, 1, 3, 2], 5));
    // The first could not be stored.
    let second = translated(&known, push());
    assert_eq!(second, first);
    known.remember(second.fresh);
    let third = translated(&known, push());
    assert_eq!((counts(&third), third.fresh.len()), ([2, 1, 0, 0], 0));
    assert_eq!(third.batch.samples, first.batch.samples);
    known.clear();
    assert_eq!(translated(&known, push()), first);
}

#[test]
fn a_known_series_is_written_again_on_another_day_and_for_another_metric() {
    let known = Known::new(1000);
    known.remember(translated(&known, push()).fresh);
    let mut yesterday = point(&[("a", "1")], 1.0);
    yesterday.time_unix_nano = NOW_NANOS - DAY;
    let batch = translated(
        &known,
        request(vec![
            gauge("g", vec![yesterday, point(&[("a", "1")], 1.0)]),
            counter("other", vec![point(&[("a", "1")], 1.0)]),
        ]),
    );
    assert_eq!(counts(&batch), [3, 0, 2, 1]);
    let names = |name: u32| batch.batch.names[usize::try_from(name).unwrap()].as_str();
    let days: Vec<_> = batch
        .batch
        .series
        .iter()
        .map(|row| (names(row.name), row.day))
        .collect();
    assert_eq!(days, [("g", 20_757), ("other_total", 20_758)]);
}

#[test]
fn metadata_that_changes_is_written_again() {
    let known = Known::new(1000);
    let described = |help: &str| {
        let metric = gauge("g", vec![point(&[], 1.0)]);
        request(vec![Metric {
            description: help.to_owned(),
            ..metric
        }])
    };
    known.remember(translated(&known, described("one")).fresh);
    assert_eq!(counts(&translated(&known, described("one"))), [1, 0, 0, 0]);
    let other = translated(&known, described("other"));
    assert_eq!(counts(&other), [1, 0, 0, 1]);
    assert_eq!(other.batch.metadata[0].help, "other");
}

#[test]
fn points_of_a_known_series_are_still_one_row_a_time() {
    let known = Known::new(1000);
    known.remember(translated(&known, push()).fresh);
    let mut earlier = point(&[("a", "1")], 7.0);
    earlier.time_unix_nano -= 1_000_000_000;
    let points = vec![
        point(&[("a", "1")], 1.0),
        earlier.clone(),
        point(&[("a", "1")], 3.0),
        earlier,
    ];
    let batch = translated(&known, request(vec![gauge("g", points)]));
    let values: Vec<_> = batch.batch.samples.iter().map(|row| row.value).collect();
    assert_eq!((values, batch.tally.accepted()), (vec![3.0, 7.0], 4));
    assert_eq!(batch.tally.rejected_for(Reason::IdCollision), 0);
}

#[test]
fn names_are_said_once_and_rows_point_at_them() {
    let batch = translated(&Known::new(1), push()).batch;
    assert_eq!((&*batch.tenant, batch.ret_days), ("ten_a", 30));
    assert_eq!(batch.names, ["g", "h"]);
    let of_samples: Vec<_> = batch.samples.iter().map(|row| row.name).collect();
    assert_eq!((of_samples, batch.histograms[0].name), (vec![0, 0], 1));
}
