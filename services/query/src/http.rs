//! The router of the Prometheus HTTP API: every path, and the layers around them, in one place.

pub(crate) mod reader;
pub(crate) mod form;
pub(crate) mod time;
pub(crate) mod params;
mod queries;
mod listing;
mod tree;
mod federate;
mod remote_read;
mod status;
mod answer;
pub(crate) mod json;
pub(crate) mod reply;
mod around;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;

use crate::app::App;

/// All routes of the query service.
pub(crate) fn router(app: App) -> Router {
    let api = api();
    let compression = CompressionLayer::new().quality(CompressionLevel::Fastest);
    Router::new()
        .nest("/api/v1", api.clone())
        .nest("/prometheus/api/v1", api)
        .route("/federate", get(federate::federate))
        .route("/prometheus/federate", get(federate::federate))
        .route("/-/healthy", get(|| async { "Sluice query is healthy.\n" }))
        .route("/-/ready", get(|| async { "Sluice query is ready.\n" }))
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(app.clone(), around::around))
        .layer(compression)
        .with_state(app)
}

/// The API below its prefix.
fn api() -> Router<App> {
    Router::new()
        .route("/query", both(queries::instant))
        .route("/query_range", both(queries::range))
        .route("/query_exemplars", both(queries::exemplars))
        .route("/format_query", both(queries::format))
        .route("/parse_query", both(queries::tree))
        .route("/read", axum::routing::post(remote_read::read))
        .route("/series", both(listing::series))
        .route("/labels", both(listing::names))
        .route("/label/{name}/values", get(listing::values))
        .route("/metadata", both(listing::metadata))
        .route("/rules", both(status::rules))
        .route("/alerts", both(status::alerts))
        .route("/alertmanagers", both(status::alertmanagers))
        .route("/targets", both(status::targets))
        .route("/targets/metadata", both(status::targets_metadata))
        .route("/scrape_pools", both(status::scrape_pools))
        .route("/notifications", both(status::notifications))
        .route("/status/buildinfo", both(status::build_info))
        .route("/status/runtimeinfo", both(status::runtime_info))
        .route("/status/flags", both(status::flags))
        .route("/status/config", both(status::config))
        .route("/status/tsdb", both(status::tsdb))
        .route("/status/walreplay", both(status::wal_replay))
}

/// A handler for GET and for a form sent by POST.
fn both<H, T>(handler: H) -> MethodRouter<App>
where
    H: axum::handler::Handler<T, App>,
    T: 'static,
{
    get(handler.clone()).post(handler)
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    (
        status,
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
        text,
    )
        .into_response()
}

async fn not_found() -> Response {
    plain(StatusCode::NOT_FOUND, "404 page not found\n")
}

async fn wrong_method() -> Response {
    plain(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed\n")
}

#[cfg(test)]
mod tests;
