//! What Grafana and other clients ask a Prometheus about itself: true where there is something to say,
//! empty in the right shape where a service that only answers queries has nothing.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::app::App;
use crate::http::form::Form;
use crate::http::params;
use crate::http::reader::Reader;
use crate::http::reply::{Failure, JSON};
use crate::http::time::duration_text;

fn data(data: &Value) -> Response {
    let text = json!({ "status": "success", "data": data }).to_string();
    ([(header::CONTENT_TYPE, JSON)], text).into_response()
}

/// There are no rules: recording and alerting are other services' work. What is asked for is checked all the
/// same.
pub(super) async fn rules(_: Reader, form: Form) -> Result<Response, Failure> {
    form.check()?;
    params::narrow_selectors(&form).map_err(Failure::bad_data)?;
    let kind = form.get("type").to_lowercase();
    if !["", "alert", "record"].contains(&&*kind) {
        let why = format_args!("not supported value {kind:?}");
        return Err(Failure::parameter("type", why));
    }
    let exclude = form.get("exclude_alerts").to_lowercase();
    if !["", "1", "t", "true", "0", "f", "false"].contains(&&*exclude) {
        let why = format_args!(
            "error converting exclude_alerts: strconv.ParseBool: parsing {exclude:?}: invalid syntax"
        );
        return Err(Failure::parameter("exclude_alerts", why));
    }
    rule_pages(form.get("group_limit"), form.get("group_next_token"))?;
    Ok(data(&json!({ "groups": [] })))
}

/// Checks the parameters that page through rule groups.
fn rule_pages(limit: &str, token: &str) -> Result<(), Failure> {
    let refused = |name: &str, why: String| Err(Failure::parameter(name, why));
    if limit.is_empty() && !token.is_empty() {
        let why = "group_limit needs to be present in order to paginate over the groups";
        return refused("group_next_token", why.to_owned());
    }
    if !limit.is_empty() {
        let number = params::number("ParseInt", limit).and_then(|number| {
            i32::try_from(number)
                .map_err(|_| format!("strconv.ParseInt: parsing {limit:?}: value out of range"))
        });
        match number {
            Err(why) => {
                let why = format!("group_limit needs to be a valid number: {why}");
                return refused("group_limit", why);
            }
            Ok(..=0) => {
                let why = "group_limit needs to be greater than 0";
                return refused("group_limit", why.to_owned());
            }
            Ok(_) => {}
        }
    }
    if token.is_empty() {
        return Ok(());
    }
    let why = format!("invalid group_next_token '{token}'. were rule groups changed?");
    refused("group_next_token", why)
}

pub(super) async fn alerts(_: Reader) -> Response {
    data(&json!({ "alerts": [] }))
}

pub(super) async fn alertmanagers(_: Reader) -> Response {
    data(&json!({ "activeAlertmanagers": [], "droppedAlertmanagers": [] }))
}

/// Nothing is scraped; metrics are pushed.
pub(super) async fn targets(_: Reader, form: Form) -> Response {
    let state = form.get("state").to_lowercase();
    let counts = if ["", "any", "dropped"].contains(&&*state) {
        json!({})
    } else {
        Value::Null
    };
    data(&json!({ "activeTargets": [], "droppedTargets": [], "droppedTargetCounts": counts }))
}

pub(super) async fn targets_metadata(_: Reader, form: Form) -> Result<Response, Failure> {
    let limit = form.get("limit");
    if !limit.is_empty() && params::number("Atoi", limit).is_err() {
        return Err(Failure::bad_data("limit must be a number"));
    }
    let of_target = form.get("match_target");
    if !of_target.is_empty() {
        promql::parse::parse_metric_selector(of_target)
            .map_err(|why| Failure::parameter("match_target", why))?;
    }
    Ok(data(&json!([])))
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
        "query.lookback-delta": duration_text(config.lookback),
        "query.max-concurrency": config.concurrency.total.to_string(),
        "query.max-samples": config.max_samples.to_string(),
        "query.timeout": duration_text(config.timeout),
    }))
}

/// No configuration is shown to tenants.
pub(super) async fn config(_: Reader) -> Response {
    data(&json!({ "yaml": "" }))
}

/// Nothing is replayed.
pub(super) async fn wal_replay(_: Reader) -> Response {
    data(&json!({ "min": 0, "max": 0, "current": 0 }))
}

/// The shape of head statistics; there is no head block.
pub(super) async fn tsdb(_: Reader, form: Form) -> Result<Response, Failure> {
    let limit = form.get("limit");
    if !limit.is_empty() && !params::number("Atoi", limit).is_ok_and(|limit| limit > 0) {
        return Err(Failure::bad_data("limit must be a positive number"));
    }
    Ok(data(&json!({
        "headStats": { "numSeries": 0, "numLabelPairs": 0, "chunkCount": 0, "minTime": 0, "maxTime": 0 },
        "seriesCountByMetricName": [],
        "labelValueCountByLabelName": [],
        "memoryInBytesByLabelName": [],
        "seriesCountByLabelValuePair": [],
    })))
}
