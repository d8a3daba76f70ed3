//! What Grafana and other clients ask a Prometheus about itself: true where there is something to say,
//! empty in the right shape where a service that only answers queries has nothing.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::app::App;
use crate::http::reader::Reader;
use crate::http::reply::JSON;

fn data(data: &Value) -> Response {
    let text = json!({ "status": "success", "data": data }).to_string();
    ([(header::CONTENT_TYPE, JSON)], text).into_response()
}

/// There are no rules: recording and alerting are other services' work.
pub(super) async fn rules(_: Reader) -> Response {
    data(&json!({ "groups": [] }))
}

pub(super) async fn alerts(_: Reader) -> Response {
    data(&json!({ "alerts": [] }))
}

pub(super) async fn alertmanagers(_: Reader) -> Response {
    data(&json!({ "activeAlertmanagers": [], "droppedAlertmanagers": [] }))
}

/// Nothing is scraped; metrics are pushed.
pub(super) async fn targets(_: Reader) -> Response {
    data(&json!({ "activeTargets": [], "droppedTargets": [], "droppedTargetCounts": {} }))
}

pub(super) async fn targets_metadata(_: Reader) -> Response {
    data(&json!([]))
}

pub(super) async fn scrape_pools(_: Reader) -> Response {
    data(&json!({ "scrapePools": [] }))
}

pub(super) async fn notifications(_: Reader) -> Response {
    data(&json!([]))
}

/// The version of the Prometheus whose language and API this is. No `features`: Grafana would take the
/// service for Mimir and ask it for a ruler.
pub(super) async fn build_info(_: Reader) -> Response {
    data(&json!({
        "version": "3.5.0",
        "revision": concat!("sluice-", env!("CARGO_PKG_VERSION")),
        "branch": "",
        "buildUser": "",
        "buildDate": "",
        "goVersion": "",
    }))
}

pub(super) async fn runtime_info(State(app): State<App>, _: Reader) -> Response {
    data(&json!({
        "startTime": app.started.to_string(),
        "CWD": "",
        "hostname": "",
        "serverTime": jiff::Timestamp::now().to_string(),
        "reloadConfigSuccess": true,
        "lastConfigTime": app.started.to_string(),
        "corruptionCount": 0,
        "goroutineCount": 0,
        "GOMAXPROCS": std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        "GOMEMLIMIT": 0,
        "GOGC": "",
        "GODEBUG": "",
        "storageRetention": "",
    }))
}

/// The settings that a client can make use of, under Prometheus' names.
pub(super) async fn flags(State(app): State<App>, _: Reader) -> Response {
    let config = &app.config;
    data(&json!({
        "query.lookback-delta": format!("{}ms", config.lookback.as_millis()),
        "query.max-concurrency": config.concurrency.total.to_string(),
        "query.max-samples": config.max_samples.to_string(),
        "query.timeout": format!("{}ms", config.timeout.as_millis()),
    }))
}

/// No configuration is shown to tenants.
pub(super) async fn config(_: Reader) -> Response {
    data(&json!({ "yaml": "" }))
}

/// The shape of head statistics; there is no head block.
pub(super) async fn tsdb(_: Reader) -> Response {
    data(&json!({
        "headStats": { "numSeries": 0, "numLabelPairs": 0, "chunkCount": 0, "minTime": 0, "maxTime": 0 },
        "seriesCountByMetricName": [],
        "labelValueCountByLabelName": [],
        "memoryInBytesByLabelName": [],
        "seriesCountByLabelValuePair": [],
    }))
}
