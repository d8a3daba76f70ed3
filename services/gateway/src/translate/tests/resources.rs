//! What translation promises of resources and scopes, rule by rule.

use auth::tenant::Limits;
use auth::translation::Translation;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::Metric;

use super::build::{
    NOW_MS, all_written, attributes, gauge, labels_of, of, point, request, resource, run, run_as,
    run_within, scope,
};
use super::generic;
use crate::translate::Reason;

#[test]
fn rule_44_job_and_instance_come_from_the_resource_and_replace_those_of_the_point() {
    let service = [
        ("service.name", "api"),
        ("service.namespace", "shop"),
        ("service.instance.id", "i-1"),
    ];
    let own = [("job", "own"), ("instance", "own"), ("a", "1")];
    assert_eq!(
        labels_of(&generic(), &service, &own),
        r#"m{a="1", instance="i-1", job="shop/api"}"#
    );
    assert_eq!(
        labels_of(&generic(), &service[..1], &own),
        r#"m{a="1", instance="own", job="api"}"#
    );
    assert_eq!(
        labels_of(&generic(), &service[1..2], &own),
        r#"m{a="1", instance="own", job="own"}"#
    );
}

#[test]
fn rule_44_two_resources_stay_two_series() {
    let one = |instance| {
        let metrics = vec![gauge("m", vec![point(&[("a", "1")], 1.0)])];
        resource(
            &[("service.instance.id", instance)],
            vec![scope("s", metrics)],
        )
    };
    let batch = run(ExportMetricsServiceRequest {
        resource_metrics: vec![one("x"), one("y")],
    });
    assert_eq!(
        all_written(&batch),
        [r#"m{a="1", instance="x"}"#, r#"m{a="1", instance="y"}"#]
    );
    assert_eq!(batch.samples.len(), 2);
}

#[test]
fn the_instance_of_a_point_wins_where_the_key_says_so() {
    let translation = Translation {
        keep_point_instance: true,
        ..generic()
    };
    let given = [("service.instance.id", "forwarder"), ("service.name", "f")];
    assert_eq!(
        labels_of(&translation, &given, &[("instance", "gpu-1"), ("job", "x")]),
        r#"m{instance="gpu-1", job="f"}"#
    );
    assert_eq!(
        labels_of(&translation, &given, &[]),
        r#"m{instance="forwarder", job="f"}"#
    );
}

#[test]
fn rule_46_the_default_list_promotes_what_providers_put_on_the_resource() {
    let given = [
        ("BT_MODEL_ID", "m1"),
        ("cog.process.role", "worker"),
        ("region", "eu"),
        ("host.name", "h"),
    ];
    assert_eq!(
        labels_of(&generic(), &given, &[("region", "own")]),
        r#"m{BT_MODEL_ID="m1", cog_process_role="worker", region="own"}"#
    );
}

#[test]
fn rule_46_a_star_promotes_all_but_volatile_attributes() {
    let translation = Translation {
        promote: vec!["*".to_owned(), "host.ip".to_owned()],
        ..generic()
    };
    let given = [
        ("host.name", "h"),
        ("host.ip", "10.0.0.1"),
        ("host.mac", "x"),
        ("os.type", "linux"),
        ("process.pid", "7"),
        ("telemetry.sdk.name", "x"),
        ("日本", "not a label"),
    ];
    assert_eq!(
        labels_of(&translation, &given, &[]),
        r#"m{host_ip="10.0.0.1", host_name="h"}"#
    );
}

fn two_scopes(
    first: f64,
    second: f64,
    metric: fn(&str, f64) -> Metric,
) -> ExportMetricsServiceRequest {
    let scopes = vec![
        scope(
            "left",
            vec![metric("same", first), metric("only.left", 1.0)],
        ),
        scope("right", vec![metric("same", second)]),
    ];
    ExportMetricsServiceRequest {
        resource_metrics: vec![resource(&[], scopes)],
    }
}

#[test]
fn scopes_are_labels_only_of_the_metrics_in_which_they_would_collide() {
    let batch = run(two_scopes(1.0, 2.0, |name, value| {
        gauge(name, vec![point(&[], value)])
    }));
    assert_eq!(
        all_written(&batch),
        [
            r#"same{otel_scope_name="left"}"#,
            "only_left{}",
            r#"same{otel_scope_name="right"}"#
        ]
    );
    assert_eq!(
        batch
            .samples
            .iter()
            .map(|row| row.value)
            .collect::<Vec<_>>(),
        [1.0, 1.0, 2.0]
    );
    assert_eq!((batch.tally.received(), batch.tally.accepted()), (3, 3));
}

#[test]
fn scopes_with_other_labels_or_times_do_not_collide() {
    let batch = run(two_scopes(1.0, 2.0, |name, value| {
        gauge(name, vec![point(&[("v", &value.to_string())], value)])
    }));
    assert!(
        all_written(&batch)
            .iter()
            .all(|series| !series.contains("otel_scope_name"))
    );
}

#[test]
fn scopes_are_labels_of_everything_when_the_key_asks() {
    let translation = Translation {
        scope_labels: true,
        ..generic()
    };
    let mut request = request(vec![gauge(
        "m",
        vec![point(&[("otel_scope_version", "own")], 1.0)],
    )]);
    let scope = &mut request.resource_metrics[0].scope_metrics[0];
    scope.schema_url = "https://schema".to_owned();
    let inner = scope.scope.as_mut().unwrap();
    inner.version = "1.2".to_owned();
    inner.attributes = attributes(&[("a.b", "c"), ("name", "hidden"), ("empty", "")]);
    assert_eq!(
        all_written(&run_as(&translation, request)),
        [concat!(
            r#"m{otel_scope_a_b="c", otel_scope_name="s", otel_scope_schema_url="https://schema", "#,
            r#"otel_scope_version="1.2"}"#
        )]
    );
}

#[test]
fn rule_43_target_info_carries_the_whole_resource_once_and_at_its_points_times() {
    let given = [
        ("service.name", "api"),
        ("host.name", "h"),
        ("telemetry.sdk.name", "x"),
    ];
    let at = |seconds: u64| {
        let mut late = point(&[("s", &seconds.to_string())], 1.0);
        late.time_unix_nano -= seconds * 1_000_000_000;
        late
    };
    let metrics = vec![gauge("m", vec![at(0), at(400)]), gauge("empty", vec![])];
    let one = resource(&given, vec![scope("s", metrics)]);
    let batch = run(ExportMetricsServiceRequest {
        resource_metrics: vec![one.clone(), one],
    });
    let info: Vec<_> = batch
        .samples
        .iter()
        .filter(|row| row.metric == "target_info")
        .collect();
    let before: Vec<_> = info
        .iter()
        .map(|row| (NOW_MS - row.ts, row.value))
        .collect();
    assert_eq!(
        before,
        [(400_000, 1.0), (250_000, 1.0), (100_000, 1.0), (0, 1.0)]
    );
    assert!(
        all_written(&batch).contains(
            &r#"target_info{host_name="h", job="api", telemetry_sdk_name="x"}"#.to_owned()
        )
    );
    assert_eq!((batch.tally.received(), batch.tally.accepted()), (4, 4));
}

#[test]
fn rule_43_no_target_info_without_points_without_job_or_with_nothing_to_tell() {
    let point = || vec![gauge("m", vec![point(&[], 1.0)])];
    let service = [("service.name", "api"), ("a", "1")];
    for request in [
        of(&service, vec![gauge("m", vec![])]),
        of(&service[1..], point()),
        of(&service[..1], point()),
    ] {
        assert!(
            all_written(&run(request))
                .iter()
                .all(|series| !series.starts_with("target_info"))
        );
    }
}

#[test]
fn target_info_of_a_push_over_days_stays_small() {
    let mut old = point(&[("a", "old")], 1.0);
    old.time_unix_nano -= 6 * 86_400 * 1_000_000_000;
    let metrics = vec![gauge("m", vec![old, point(&[], 1.0)])];
    let batch = run(of(&[("service.name", "api"), ("a", "1")], metrics));
    assert_eq!(
        batch
            .samples
            .iter()
            .filter(|row| row.metric == "target_info")
            .count(),
        25
    );
}

#[test]
fn labels_of_a_resource_times_its_points_stay_within_the_room_of_a_push() {
    let long = "x".repeat(2000);
    let given = [("region", &*long), ("app_id", &*long), ("app_name", &*long)];
    let names: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
    let points = names
        .iter()
        .map(|name| point(&[("n", name)], 1.0))
        .collect();
    let limits = Limits {
        max_request_bytes: 60_000,
        ..Limits::standard()
    };
    let batch = run_within(limits, of(&given, vec![gauge("m", points)]));
    let refused = batch.tally.rejected_for(Reason::RowsTooLarge);
    assert_eq!(batch.tally.accepted() + refused, 1000);
    // 16 bytes for each byte that may be sent, and 6 kB of labels a series, twice: to compare them, and its row.
    assert!(
        (60..90).contains(&batch.tally.accepted()),
        "{:?}",
        batch.tally
    );
    assert_eq!(
        u64::try_from(batch.samples.len()).unwrap(),
        batch.tally.accepted()
    );
}
