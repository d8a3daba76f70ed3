//! OTLP over HTTP: requests to pushes, outcomes to answers.

use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::response::Response;
use futures::FutureExt;
use http::{HeaderName, HeaderValue, Method};
use tower_http::compression::CompressionLayer;

use self::exchange::{Exchange, Facts, REQUEST_ID};
use self::reply::Partial;
use self::route::{Route, route};
use self::wire::WireBody;
use crate::app::App;
use crate::failure::Failure;
use crate::push;

pub(crate) mod route;
pub(crate) mod exchange;
pub(crate) mod form;
pub(crate) mod wire;
mod cors;
mod status;
mod reply;

pub(crate) use self::cors::Cors;

/// Everything that the gateway's port answers. One handler, because every answer, of an unknown path
/// too, has the form that OTLP wants.
pub(crate) fn router(app: App) -> Router {
    Router::new()
        .fallback(serve)
        .with_state(app)
        .layer(CompressionLayer::new())
}

/// Answers one request, whatever happens on the way.
async fn serve(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let mut exchange = Exchange::open(&request, app.gauges.clone());
    let (mut response, failure) = if request.method() == Method::OPTIONS {
        (app.cors.preflight(), None)
    } else {
        let work = AssertUnwindSafe(answer(&app, peer.ip(), request, &mut exchange.facts));
        match work.catch_unwind().await {
            Ok(Ok(partial)) => (reply::success(exchange.encoding, partial), None),
            Ok(Err(failure)) => refuse(&exchange, failure),
            // The panic itself is in the log by way of the panic hook.
            Err(_) => refuse(&exchange, Failure::defect().because("a handler panicked")),
        }
    };
    let headers = response.headers_mut();
    app.cors.mark(exchange.origin.as_ref(), headers);
    if let Ok(id) = HeaderValue::from_str(&exchange.request_id) {
        headers.insert(HeaderName::from_static(REQUEST_ID), id);
    }
    exchange.close(response.status().as_u16(), failure.as_ref());
    response
}

fn refuse(exchange: &Exchange, failure: Failure) -> (Response, Option<Failure>) {
    (
        reply::failure(exchange.encoding, &failure, &exchange.request_id),
        Some(failure),
    )
}

/// Path, then method, then the push itself.
async fn answer(
    app: &App,
    peer: IpAddr,
    request: Request,
    facts: &mut Facts,
) -> Result<Partial, Failure> {
    let (parts, body) = request.into_parts();
    let body = WireBody::new(&parts, body, app.max_wire_bytes, app.tasks.clone());
    if let Route::Nowhere(remedy) = route(parts.uri.path()) {
        return Err(Failure::path(remedy));
    }
    if parts.method != Method::POST {
        return Err(Failure::method());
    }
    push::push(app, &parts.headers, body, peer, facts).await
}

#[cfg(test)]
mod tests;
