//! What holds for any request.

use auth::translation::{NamingStrategy, Translation};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use proptest::prelude::*;

use super::build::{NOW_NANOS, all_written, attributes, gauge, of, point, run, run_as};
use crate::decode::{arbitrary, generated};

fn strategy() -> impl Strategy<Value = NamingStrategy> {
    prop_oneof![
        Just(NamingStrategy::UnderscoreEscapingWithSuffixes),
        Just(NamingStrategy::UnderscoreEscapingWithoutSuffixes),
        Just(NamingStrategy::NoUtf8EscapingWithSuffixes),
        Just(NamingStrategy::NoTranslation),
    ]
}

/// Moves most points to now, so that they get past the time window.
fn made_current(mut request: ExportMetricsServiceRequest) -> ExportMetricsServiceRequest {
    let near = |time: &mut u64| {
        if !time.is_multiple_of(5) {
            *time = NOW_NANOS - *time % 4_000_000;
        }
    };
    let metrics = request
        .resource_metrics
        .iter_mut()
        .flat_map(|resource| &mut resource.scope_metrics)
        .flat_map(|scope| &mut scope.metrics);
    for metric in metrics {
        match &mut metric.data {
            Some(Data::Gauge(gauge)) => {
                gauge
                    .data_points
                    .iter_mut()
                    .for_each(|point| near(&mut point.time_unix_nano));
            }
            Some(Data::Sum(sum)) => {
                sum.data_points
                    .iter_mut()
                    .for_each(|point| near(&mut point.time_unix_nano));
            }
            Some(Data::Histogram(data)) => {
                data.aggregation_temporality = 2;
                data.data_points
                    .iter_mut()
                    .for_each(|point| near(&mut point.time_unix_nano));
            }
            _ => {}
        }
    }
    request
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab._]{1,3}",
        "[a-z]{1,3}",
        Just("job".to_owned()),
        Just("é".to_owned())
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_point_is_accepted_or_rejected_once(
        request in arbitrary::request(),
        strategy in strategy(),
        scope_labels: bool,
        star: bool,
    ) {
        let mut translation = Translation { strategy, scope_labels, ..Translation::default() };
        if star {
            translation.promote.push("*".to_owned());
        }
        let request = made_current(request);
        let points = generated::points_in(&request);
        let batch = run_as(&translation, request);
        prop_assert_eq!(batch.tally.received(), points);
        prop_assert_eq!(batch.tally.accepted() + batch.tally.rejected(), points);
        let mine = batch.samples.iter().filter(|row| row.metric != "target_info").count();
        prop_assert!(u64::try_from(mine + batch.histograms.len()).unwrap() <= batch.tally.accepted());
        for series in &batch.series {
            prop_assert!(series.labels.is_sorted_by(|a, b| a.0 < b.0));
            prop_assert!(series.labels.iter().all(|(key, value)| !key.is_empty() && !value.is_empty()));
            prop_assert!(series.first_seen <= series.last_seen);
        }
        let known = |id: u64| batch.series.iter().any(|series| series.id == id);
        prop_assert!(batch.samples.iter().all(|row| known(row.id)));
        prop_assert!(batch.histograms.iter().all(|row| known(row.id)));
        if let Some((rejected, message)) = batch.tally.partial_success() {
            prop_assert_eq!(u64::try_from(rejected).unwrap(), batch.tally.rejected());
            prop_assert!(message.len() <= 2048);
        }
    }

    #[test]
    fn the_order_of_attributes_never_changes_a_series(
        pairs in proptest::collection::vec((key(), "[xy]{0,2}"), 0..8),
        seed: u64,
    ) {
        let pairs: Vec<_> = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let mut other: Vec<KeyValue> = attributes(&pairs);
        let length = other.len();
        for at in 1..length {
            let with = usize::try_from(seed.rotate_left(7 * u32::try_from(at).unwrap()) % 64).unwrap();
            other.swap(at, with % (at + 1));
        }
        let mut shuffled = point(&[], 1.0);
        shuffled.attributes = other;
        let given = [("service.name", "s")];
        let first = run(of(&given, vec![gauge("m", vec![point(&pairs, 1.0)])]));
        let second = run(of(&given, vec![gauge("m", vec![shuffled])]));
        prop_assert_eq!(all_written(&first), all_written(&second));
        prop_assert_eq!(
            first.samples.iter().map(|row| row.id).collect::<Vec<_>>(),
            second.samples.iter().map(|row| row.id).collect::<Vec<_>>()
        );
    }
}
