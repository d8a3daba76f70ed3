//! Stored histograms, seen as Prometheus would have stored them.

use serde_json::{Value, json};

use crate::rows::{NOON, Rows};
use crate::service::Service;

const H: (&str, &str, u64) = ("a", "run_ms", 1);
const E: (&str, &str, u64) = ("a", "wait", 2);

fn histograms(rows: &mut Rows) {
    rows.explicit(H, &[("app", "x")], &[0.5, 5.0]);
    for (minute, n) in (0..).zip(0..=5_u64) {
        rows.point(H, minute * 60, |row| {
            (row.count, row.sum) = (6 * n, Some(9.5 * n as f64));
            row.pos = vec![n, 3 * n, 2 * n];
        });
    }
    rows.exponential(E, &[("app", "x")]).point(E, 0, |row| {
        (row.count, row.sum, row.scale) = (10, Some(15.0), 0);
        (row.zero_count, row.pos, row.neg) = (1, vec![2, 0, 3], vec![4]);
    });
    // A gauge that is called like a part of the histogram.
    rows.number(("a", "run_ms_count", 9), &[("app", "gauge")], &[(0, 77.0)]);
}

#[tokio::test]
async fn an_explicit_histogram_has_its_classic_parts() {
    let service = Service::start(histograms).await;
    assert_eq!(
        service.vector("run_ms_bucket", 60).await,
        [
            "run_ms_bucket{app=x,le=+Inf} 6",
            "run_ms_bucket{app=x,le=0.5} 1",
            "run_ms_bucket{app=x,le=5} 4"
        ]
    );
    assert_eq!(
        service.vector(r#"run_ms_bucket{le="5"}"#, 60).await,
        ["run_ms_bucket{app=x,le=5} 4"]
    );
    assert_eq!(
        service
            .vector(r#"run_ms_bucket{le=~"5|\\+Inf"}"#, 60)
            .await
            .len(),
        2
    );
    assert_eq!(
        service.vector("run_ms_sum / run_ms_count", 60).await,
        ["{app=x} 1.5833333333333333"]
    );
    assert_eq!(
        service.vector("run_ms_count", 60).await,
        ["run_ms_count{app=gauge} 77", "run_ms_count{app=x} 6"]
    );
    // Of 6 observations a minute 1 is up to 0.5 and 4 are up to 5: the third is two thirds of the way up.
    assert_eq!(
        service
            .vector(
                "round(histogram_quantile(0.5, sum by (le) (rate(run_ms_bucket[5m]))), 0.5)",
                300
            )
            .await,
        ["{} 3.5"]
    );
}

#[tokio::test]
async fn native_views_are_found_by_their_exact_name() {
    let service = Service::start(histograms).await;
    let time = (NOON / 1000 + 60).to_string();
    let data = service
        .data("query", &[("query", "run_ms"), ("time", &time)])
        .await;
    let expected = json!({
        "count": "6", "sum": "9.5",
        "buckets": [[3, "-Inf", "0.5", "1"], [0, "0.5", "5", "3"], [0, "5", "+Inf", "2"]],
    });
    assert_eq!(data["result"][0]["histogram"][1], expected);
    assert_eq!(
        service.vector("histogram_count(wait)", 60).await,
        ["{app=x} 10"]
    );
    assert_eq!(
        service.vector("wait_bucket", 60).await,
        [
            "wait_bucket{app=x,le=+Inf} 10",
            "wait_bucket{app=x,le=-1} 4",
            "wait_bucket{app=x,le=0} 5",
            "wait_bucket{app=x,le=2} 7",
            "wait_bucket{app=x,le=4} 7",
            "wait_bucket{app=x,le=8} 10"
        ]
    );
    assert_eq!(service.vector("wait_sum", 60).await, ["wait_sum{app=x} 15"]);
}

#[tokio::test]
async fn other_selectors_and_label_lists_see_the_default_view() {
    let service = Service::start(histograms).await;
    let names = json!(["run_ms_bucket", "run_ms_count", "run_ms_sum", "wait"]);
    assert_eq!(service.data("label/__name__/values", &[]).await, names);
    assert_eq!(
        service.data("label/le/values", &[]).await,
        json!(["+Inf", "0.5", "5"])
    );
    assert_eq!(
        service
            .data("label/le/values", &[("match[]", "wait")])
            .await,
        json!([])
    );
    assert_eq!(
        service.data("labels", &[]).await,
        json!(["__name__", "app", "le"])
    );
    assert_eq!(
        service.data("labels", &[("match[]", "run_ms_sum")]).await,
        json!(["__name__", "app"])
    );
    let series = service.data("series", &[("match[]", r#"{app="x"}"#)]).await;
    let shown: Vec<String> = series
        .as_array()
        .unwrap()
        .iter()
        .map(Value::to_string)
        .collect();
    assert_eq!(
        shown,
        [
            r#"{"__name__":"run_ms_bucket","app":"x","le":"+Inf"}"#,
            r#"{"__name__":"run_ms_bucket","app":"x","le":"0.5"}"#,
            r#"{"__name__":"run_ms_bucket","app":"x","le":"5"}"#,
            r#"{"__name__":"run_ms_count","app":"x"}"#,
            r#"{"__name__":"run_ms_sum","app":"x"}"#,
            r#"{"__name__":"wait","app":"x"}"#,
        ]
    );
    assert_eq!(
        service
            .vector(r#"count({__name__=~"run_ms.*",app="x"})"#, 60)
            .await,
        ["{} 5"]
    );
}

#[tokio::test]
async fn bounds_that_change_go_on_in_the_same_series() {
    let new = ("a", "run_ms", 3);
    let service = Service::start(|rows| {
        histograms(rows);
        rows.explicit(new, &[("app", "x")], &[5.0])
            .point(new, 360, |row| {
                (row.count, row.sum, row.pos) = (40, None, vec![30, 10]);
            });
    })
    .await;
    assert_eq!(
        service.vector(r#"run_ms_count{app="x"}"#, 360).await,
        ["run_ms_count{app=x} 40"]
    );
    assert_eq!(
        service
            .vector(r#"count_over_time(run_ms_bucket{le="5"}[10m])"#, 360)
            .await,
        ["{app=x,le=5} 7"]
    );
    assert_eq!(
        service
            .vector(r#"count_over_time(run_ms_sum[10m])"#, 360)
            .await,
        ["{app=x} 6"]
    );
}

/// Scenario: a histogram that never says its sum, beside one of the same name that does, and a family of
/// which no series does.
/// Guarantees: lists show the `…_sum` series that queries find, and no others.
#[tokio::test]
async fn a_sum_is_listed_only_where_there_is_one() {
    let silent = ("a", "run_ms", 3);
    let mute = ("a", "mute", 4);
    let service = Service::start(|rows| {
        histograms(rows);
        for whose in [silent, mute] {
            rows.explicit(whose, &[("app", "y")], &[5.0])
                .point(whose, 0, |row| (row.count, row.pos) = (3, vec![1, 2]));
        }
        // Some points with a sum are enough.
        rows.point(silent, 3600, |row| row.count = 4);
        rows.point(H, 3600, |row| row.count = 4);
    })
    .await;
    let sums = [("match[]", r#"{__name__=~".+_sum"}"#)];
    let listed = json!([{"__name__": "run_ms_sum", "app": "x"}]);
    let listed_by_label = [("match[]", r#"{__name__=~".+_sum",app=~".+"}"#)];
    assert_eq!(service.data("series", &sums).await, listed);
    assert_eq!(service.data("series", &listed_by_label).await, listed);
    assert_eq!(
        service.data("series", &[("match[]", "mute_sum")]).await,
        json!([])
    );
    assert_eq!(
        service.data("label/__name__/values", &sums).await,
        json!(["run_ms_sum"])
    );
    assert_eq!(
        service.data("label/__name__/values", &[]).await,
        json!([
            "mute_bucket",
            "mute_count",
            "run_ms_bucket",
            "run_ms_count",
            "run_ms_sum",
            "wait"
        ])
    );
    assert_eq!(
        service.data("labels", &[("match[]", "mute_sum")]).await,
        json!([])
    );
    // What queries say.
    assert_eq!(service.vector("count(run_ms_sum)", 60).await, ["{} 1"]);
    assert_eq!(service.vector("mute_sum", 60).await, [""; 0]);
    // Every bound that a query gives is listed.
    let bounds = [("match[]", r#"{__name__="mute_bucket",app="y"}"#)];
    assert_eq!(
        service.data("label/le/values", &bounds).await,
        json!(["+Inf", "5"])
    );
    assert_eq!(
        service
            .data("label/le/values", &[("match[]", "mute_bucket")])
            .await,
        json!(["+Inf", "5"])
    );
    assert_eq!(
        service.vector("mute_bucket", 60).await,
        ["mute_bucket{app=y,le=+Inf} 3", "mute_bucket{app=y,le=5} 1"]
    );
}

/// Scenario: a tenant whose setting lists both views.
/// Guarantees: lists and selectors without an exact name show the native view and the classic one.
#[tokio::test]
async fn a_tenant_may_see_both_views() {
    let h = ("b", "h", 1);
    let service = Service::start(|rows| {
        rows.explicit(h, &[("app", "x")], &[5.0])
            .point(h, 0, |row| {
                (row.count, row.sum, row.pos) = (3, Some(9.0), vec![1, 2])
            });
    })
    .await;
    let names = json!(["h", "h_bucket", "h_count", "h_sum"]);
    assert_eq!(service.data_of_b("label/__name__/values", &[]).await, names);
    let series = [("match[]", r#"{app="x",le=""}"#)];
    assert_eq!(
        service.data_of_b("series", &series).await,
        json!([
            {"__name__": "h", "app": "x"},
            {"__name__": "h_count", "app": "x"},
            {"__name__": "h_sum", "app": "x"},
        ])
    );
    let time = (NOON / 1000).to_string();
    let count = [("query", r#"count({app="x"})"#), ("time", &time)];
    let data = service.data_of_b("query", &count).await;
    assert_eq!(data["result"][0]["value"][1], "5");
}
