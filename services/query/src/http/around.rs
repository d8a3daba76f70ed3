//! Around every request: CORS headers, the counters and the one log line of an API call.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::http::reader::Seen;
use crate::http::reply::Failed;

/// What a query cost; left in the answer by the handlers that know.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) samples: u64,
    pub(crate) series: usize,
}

/// Answers pre-flight requests, and counts and logs the others.
pub(crate) async fn around(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let origin = request.headers().contains_key(header::ORIGIN);
    let path = request
        .extensions()
        .get::<MatchedPath>()
        .map(|path| path.as_str().to_owned());
    let endpoint = path.as_deref().and_then(endpoint);
    let path = request.uri().path();
    let of_api = path.starts_with("/api/v1/") || path.starts_with("/prometheus/api/v1/");
    if request.method() == Method::OPTIONS && of_api {
        let mut response = StatusCode::NO_CONTENT.into_response();
        allow(&app, response.headers_mut());
        return response;
    }
    let seen = Seen::default();
    request.extensions_mut().insert(seen.clone());
    let started = Instant::now();
    let mut response = next.run(request).await;
    if let Some(endpoint) = endpoint {
        account(&app, endpoint, &seen, &response, started);
    }
    if origin {
        allow(&app, response.headers_mut());
    } else if of_api {
        vary(response.headers_mut());
    }
    response
}

/// The endpoint in metrics and in the log, out of the closed list of routes.
fn endpoint(path: &str) -> Option<&'static str> {
    const ENDPOINTS: [&str; 23] = [
        "query",
        "query_range",
        "query_exemplars",
        "format_query",
        "parse_query",
        "read",
        "series",
        "labels",
        "label/{name}/values",
        "metadata",
        "rules",
        "alerts",
        "alertmanagers",
        "targets",
        "targets/metadata",
        "scrape_pools",
        "notifications",
        "status/buildinfo",
        "status/runtimeinfo",
        "status/flags",
        "status/config",
        "status/tsdb",
        "status/walreplay",
    ];
    let (_, rest) = path.split_once("/api/v1/")?;
    ENDPOINTS.into_iter().find(|endpoint| *endpoint == rest)
}

fn account(app: &App, endpoint: &'static str, seen: &Seen, response: &Response, started: Instant) {
    let took = started.elapsed();
    let outcome = match response.extensions().get::<Failed>() {
        Some(Failed(kind)) => kind.word(),
        None if response.status().is_success() => "success",
        None => "refused",
    };
    app.metrics.answered(endpoint, outcome, took);
    let cost = response
        .extensions()
        .get::<Cost>()
        .copied()
        .unwrap_or_default();
    let (tenant, kid) = seen.who();
    tracing::info!(
        tenant,
        kid,
        endpoint,
        outcome,
        status = response.status().as_u16(),
        duration_ms = took.as_secs_f64() * 1000.0,
        samples = cost.samples,
        series = cost.series,
        "query answered"
    );
}

/// Lets pages of any origin read the answer; credentials come in headers that they must name.
fn allow(app: &App, headers: &mut HeaderMap) {
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_ORIGIN,
        HeaderValue::from_static("*"),
    );
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, OPTIONS"),
    );
    let own: Vec<&str> = app.headers.all().collect();
    let names = format!(
        "Accept, Authorization, Content-Type, Origin, {}",
        own.join(", ")
    );
    if let Ok(names) = HeaderValue::from_str(&names) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names);
    }
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("Date"),
    );
    vary(headers);
}

/// An answer with these headers is not for caches to give to pages of other origins.
fn vary(headers: &mut HeaderMap) {
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}
