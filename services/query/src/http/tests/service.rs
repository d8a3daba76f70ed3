//! The router on a store that is away, and a client with the demo tenant's keys.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::request::Builder;
use axum::http::{HeaderMap, Request, StatusCode};
use tower::ServiceExt;

use crate::app::App;
use crate::budget::Gate;
use crate::config::Config;
use crate::fetch::Fetcher;
use crate::fetch::testing::directory;
use crate::metrics::QueryMetrics;

pub(super) struct Service {
    pub(super) router: Router,
    pub(super) query_key: String,
    pub(super) ingest_key: String,
    pub(super) metrics: runtime::metrics::Metrics,
}

pub(super) fn service() -> Service {
    let (directory, query_key, ingest_key) = directory("demo");
    let config = Config::default();
    let metrics = runtime::metrics::Metrics::new();
    let registered = QueryMetrics::register(&metrics);
    // Port 9 of this machine: nobody answers there.
    let client = clickhouse::Client::default().with_url("http://127.0.0.1:9");
    let app = App {
        directory: Arc::new(directory),
        headers: Arc::default(),
        gate: Arc::new(Gate::new(config.concurrency.clone())),
        fetcher: Arc::new(Fetcher::new(client, &config, registered.clone())),
        config: Arc::new(config),
        metrics: registered,
        started: jiff::Timestamp::UNIX_EPOCH,
    };
    Service {
        router: crate::http::router(app),
        query_key,
        ingest_key,
        metrics,
    }
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Bytes of the body as sent.
    pub(super) length: usize,
    pub(super) body: String,
}

impl Service {
    pub(super) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        Answer {
            status: parts.status,
            headers: parts.headers,
            length: body.len(),
            body: String::from_utf8_lossy(&body).into_owned(),
        }
    }

    pub(super) fn request(&self, method: &str, path: &str) -> Builder {
        let bearer = format!("Bearer {}", self.query_key);
        Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", bearer)
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.send(self.request("GET", path).body(Body::empty()).unwrap())
            .await
    }

    pub(super) async fn post(&self, path: &str, form: &str) -> Answer {
        let request = self
            .request("POST", path)
            .header("content-type", "application/x-www-form-urlencoded");
        self.send(request.body(Body::from(form.to_owned())).unwrap())
            .await
    }
}
