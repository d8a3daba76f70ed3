//! Queries over numbers, through the whole service.

use serde_json::json;

use crate::rows::{NOON, Rows};
use crate::service::Service;

/// A counter of two apps at 60 s, with one sample sent twice and one sent with two values.
fn counters(rows: &mut Rows) {
    let at = |start: f64, each: f64| {
        (0..=10)
            .map(|n| (n * 60, start + each * n as f64))
            .collect::<Vec<_>>()
    };
    rows.number(("a", "requests_total", 1), &[("app", "x")], &at(0.0, 60.0))
        .number(("a", "requests_total", 2), &[("app", "y")], &at(100.0, 6.0))
        .number(("a", "other_total", 1), &[("app", "x")], &at(0.0, 1.0))
        .number(
            ("b", "requests_total", 1),
            &[("app", "of-b")],
            &at(0.0, 1.0),
        );
}

#[tokio::test]
async fn numbers_are_read_by_name_by_label_and_by_pattern() {
    let service = Service::start(counters).await;
    assert_eq!(
        service.vector("requests_total", 600).await,
        ["requests_total{app=x} 600", "requests_total{app=y} 160"]
    );
    assert_eq!(
        service.vector(r#"requests_total{app="y"}"#, 600).await,
        ["requests_total{app=y} 160"]
    );
    assert_eq!(
        service.vector(r#"requests_total{app!~"y|z"}"#, 600).await,
        ["requests_total{app=x} 600"]
    );
    assert_eq!(
        service.vector(r#"{app="x"}"#, 600).await,
        ["other_total{app=x} 10", "requests_total{app=x} 600"]
    );
    assert_eq!(
        service
            .vector(r#"sum({__name__=~"re.*_total"})"#, 600)
            .await,
        ["{} 760"]
    );
    assert_eq!(
        service
            .vector("requests_total{nothing=\"\"}", 600)
            .await
            .len(),
        2
    );
    assert_eq!(service.vector("absent_metric", 600).await, [""; 0]);
    // The left end of the look-back is open, the right end closed.
    assert_eq!(service.vector("requests_total", 899).await.len(), 2);
    assert_eq!(service.vector("requests_total", 900).await, [""; 0]);
}

#[tokio::test]
async fn a_range_query_equals_the_instant_query_at_each_step() {
    let service = Service::start(counters).await;
    let query = "sum by (app) (rate(requests_total[5m]))";
    let times = [
        ("start", NOON / 1000 + 300),
        ("end", NOON / 1000 + 600),
        ("step", 60),
    ]
    .map(|(name, value)| (name, value.to_string()));
    let mut form: Vec<(&str, &str)> = times
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    form.push(("query", query));
    let data = service.data("query_range", &form).await;
    assert_eq!(data["resultType"], "matrix");
    let series = data["result"].as_array().unwrap();
    assert_eq!(series[0]["metric"], json!({"app": "x"}));
    assert_eq!(series[0]["values"].as_array().unwrap().len(), 6);
    for step in 0..6 {
        let seconds = 300 + step * 60;
        let expected: Vec<String> = series
            .iter()
            .map(|one| {
                let at = usize::try_from(step).unwrap();
                assert_eq!(one["values"][at][0], NOON / 1000 + seconds);
                format!(
                    "{{app={}}} {}",
                    one["metric"]["app"].as_str().unwrap(),
                    one["values"][at][1].as_str().unwrap()
                )
            })
            .collect();
        assert_eq!(service.vector(query, seconds).await, expected);
    }
}

#[tokio::test]
async fn a_tenant_sees_its_own_rows_alone() {
    let service = Service::start(counters).await;
    let time = (NOON / 1000 + 600).to_string();
    let form = [("query", "requests_total"), ("time", time.as_str())];
    let data = service.data_of_b("query", &form).await;
    assert_eq!(data["result"].as_array().unwrap().len(), 1);
    assert_eq!(data["result"][0]["metric"]["app"], "of-b");
    assert_eq!(
        service.data_of_b("label/app/values", &[]).await,
        json!(["of-b"])
    );
    assert_eq!(
        service.data_of_b("label/__name__/values", &[]).await,
        json!(["requests_total"])
    );
}

#[tokio::test]
async fn what_was_sent_twice_counts_once_and_the_greatest_of_two_values_wins() {
    let stale = f64::from_bits(0x7ff0_0000_0000_0002);
    let service = Service::start(|rows| {
        rows.number(("a", "m", 1), &[], &[(0, 1.0), (60, 5.0), (120, f64::NAN)]);
    })
    .await;
    service
        .add(|rows| {
            rows.number(
                ("a", "m", 1),
                &[],
                &[(0, 1.0), (60, 7.0), (30, 2.0), (120, 3.0), (180, stale)],
            );
        })
        .await;
    assert_eq!(
        service.vector("count_over_time(m[10m])", 150).await,
        ["{} 4"]
    );
    assert_eq!(service.vector("m", 60).await, ["m{} 7"]);
    assert_eq!(service.vector("m", 120).await, ["m{} 3"]);
    assert_eq!(service.vector("m", 180).await, [""; 0]);
    let time = (NOON / 1000 + 60).to_string();
    let data = service
        .data("query", &[("query", "m[2m]"), ("time", &time)])
        .await;
    let expected = json!([
        [NOON / 1000, "1"],
        [NOON / 1000 + 30, "2"],
        [NOON / 1000 + 60, "7"]
    ]);
    assert_eq!(data["result"][0]["values"], expected);
}

#[tokio::test]
async fn series_whose_labels_are_equal_are_one() {
    let service = Service::start(|rows| {
        rows.number(("a", "m", 1), &[("app", "x")], &[(0, 1.0)]);
        rows.number(("a", "m", 2), &[("app", "x"), ("empty", "")], &[(60, 2.0)]);
    })
    .await;
    assert_eq!(
        service.vector("count_over_time(m[5m])", 100).await,
        ["{app=x} 2"]
    );
}
