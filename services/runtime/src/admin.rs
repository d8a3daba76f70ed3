//! The admin port: `/metrics`, `/livez`, `/readyz` for one process, whatever roles it runs.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::{Deserialize, Serialize};

use crate::metrics::Metrics;

/// Where the admin port listens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Address of `/metrics`, `/livez` and `/readyz`.
    pub listen: SocketAddr,
}

/// What has to be true before the process is ready; each role adds its own lines.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Mutex<Parts>>);

type Parts = Vec<(&'static str, Standing)>;

#[derive(Clone, Debug)]
enum Standing {
    Ready,
    Waiting(String),
}

impl Readiness {
    /// Nothing to wait for yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that `part` is not ready, and why.
    pub fn waiting(&self, part: &'static str, why: impl Into<String>) {
        self.set(part, Standing::Waiting(why.into()));
    }

    /// Says that `part` is ready.
    pub fn ready(&self, part: &'static str) {
        self.set(part, Standing::Ready);
    }

    fn set(&self, part: &'static str, state: Standing) {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match parts.iter_mut().find(|(name, _)| *name == part) {
            Some((_, current)) => *current = state,
            None => parts.push((part, state)),
        }
    }

    /// The parts that are not ready, one line each; empty means ready.
    #[must_use]
    pub fn late(&self) -> Vec<String> {
        let parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parts
            .iter()
            .filter_map(|(name, state)| match state {
                Standing::Ready => None,
                Standing::Waiting(why) => Some(format!("{name}: {why}")),
            })
            .collect()
    }
}

/// The routes of the admin port.
pub fn router(metrics: Metrics, readiness: Readiness) -> Router {
    Router::new()
        .route("/metrics", get(show_metrics))
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(show_readiness))
        .with_state(Admin { metrics, readiness })
}

#[derive(Clone, Debug)]
struct Admin {
    metrics: Metrics,
    readiness: Readiness,
}

async fn show_metrics(State(admin): State<Admin>) -> Response {
    match admin.metrics.render() {
        Ok(text) => (
            [(
                header::CONTENT_TYPE,
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
            )],
            text,
        )
            .into_response(),
        Err(failure) => {
            tracing::error!("cannot render metrics: {failure}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

async fn show_readiness(State(admin): State<Admin>) -> Response {
    let late = admin.readiness.late();
    if late.is_empty() {
        return "ready\n".into_response();
    }
    (
        StatusCode::SERVICE_UNAVAILABLE,
        format!("{}\n", late.join("\n")),
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_ready_when_no_part_waits() {
        let readiness = Readiness::new();
        readiness.waiting("gateway", "ClickHouse does not answer");
        readiness.ready("query");
        assert_eq!(readiness.late(), ["gateway: ClickHouse does not answer"]);
        readiness.ready("gateway");
        assert!(readiness.late().is_empty());
    }
}
