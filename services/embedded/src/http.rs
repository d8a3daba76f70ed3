//! HTTP requests as ClickHouse takes them → answers as ClickHouse gives them.

mod call;
mod multipart;
mod intake;
mod output;
mod reply;

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use http::{Method, StatusCode};

use crate::exception::Exception;
use crate::pool::Pool;
use call::Call;
use reply::Envelope;

/// What the handlers share.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) pool: Arc<Pool>,
    /// What the engine is.
    pub(crate) about: Arc<About>,
    /// Largest body, and largest answer that is collected before it is sent, in bytes.
    pub(crate) max_body: u64,
}

/// Facts about the engine that stand in answers.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// `SELECT version()`.
    pub(crate) version: String,
    /// `SELECT timezone()`.
    pub(crate) timezone: String,
}

/// The routes.
pub(crate) fn router(app: App) -> Router {
    Router::new()
        .route("/", any(statement))
        .route("/ping", get(ok))
        .fallback(nowhere)
        .with_state(app)
}

async fn ok() -> &'static str {
    "Ok.\n"
}

async fn nowhere(request: Request) -> Response {
    let text = format!(
        "There is nothing at {}. Statements go to /, as the body or as ?query=; /ping tells whether the server is up.\n",
        request.uri().path()
    );
    (StatusCode::NOT_FOUND, text).into_response()
}

async fn statement(State(app): State<App>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let envelope = Envelope::new(Arc::clone(&app.about), Instant::now());
    let call = match Call::read(&parts) {
        Ok(call) => call,
        Err(refused) => return envelope.failed(&refused),
    };
    let empty = axum::body::HttpBody::is_end_stream(&body);
    if matches!(parts.method, Method::GET | Method::HEAD) && call.query.is_empty() && empty {
        return ok().await.into_response();
    }
    let envelope = envelope.with_query_id(&call.query_id);
    match serve(&app, envelope.clone(), call, body).await {
        Ok(response) => response,
        Err(failed) => {
            if failed.status().is_server_error() {
                tracing::warn!(
                    query_id = envelope.query_id(),
                    "statement failed: {}",
                    failed.text
                );
            }
            envelope.failed(&failed)
        }
    }
}

async fn serve(
    app: &App,
    envelope: Envelope,
    call: Call,
    body: axum::body::Body,
) -> Result<Response, Exception> {
    let place = app.pool.place()?;
    let wait_for_end = call.wait_for_end;
    let task = intake::task(call, body, app.max_body).await?;
    let manner = reply::Manner::of(&task, wait_for_end, app.max_body);
    let answer = app.pool.run(place, task).await?;
    reply::reply(envelope, manner, answer).await
}
