//! An engine → a running query service with two tenants, and a client of each.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use auth::directory::fixed::{FixedDirectory, NewKey};
use auth::extract::HeaderNames;
use auth::key::KeyClass;
use auth::scope::Scope;
use auth::tenant::{Limits, Tenant, TenantId};
use auth::translation::Profile;
use query::{Config, Parts, Store};
use runtime::admin::Readiness;
use runtime::metrics::Metrics;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::rows::Rows;

/// A running service; `a` and `b` are its tenants.
pub(crate) struct Service {
    engine: Engine,
    stop: CancellationToken,
    base: String,
    key_a: String,
    key_b: String,
    http: reqwest::Client,
}

impl Service {
    /// Starts engine and service on the rows that `fill` writes.
    pub(crate) async fn start(fill: impl FnOnce(&mut Rows)) -> Self {
        Self::with(|_| {}, fill).await
    }

    /// Starts with changes to the configuration.
    pub(crate) async fn with(
        change: impl FnOnce(&mut Config),
        fill: impl FnOnce(&mut Rows),
    ) -> Self {
        let engine = Engine::start().await;
        let client = schemas::connect::client(&engine.config);
        let mut rows = Rows::default();
        fill(&mut rows);
        rows.insert(&client).await;
        let mut config = Config {
            listen: ([127, 0, 0, 1], 0).into(),
            ..Config::default()
        };
        config.catalogue.ttl = std::time::Duration::from_millis(1);
        change(&mut config);
        let (directory, [key_a, key_b]) = directory();
        let parts = Parts {
            directory: Arc::new(directory),
            headers: HeaderNames::default(),
            store: Store(client),
            metrics: Metrics::new(),
            readiness: Readiness::new(),
        };
        let stop = CancellationToken::new();
        let running = query::run(config, parts, stop.clone()).await.unwrap();
        let base = format!("http://{}/api/v1", running.address);
        Self {
            engine,
            stop,
            base,
            key_a,
            key_b,
            http: reqwest::Client::new(),
        }
    }

    /// Inserts more rows.
    pub(crate) async fn add(&self, fill: impl FnOnce(&mut Rows)) {
        let mut rows = Rows::default();
        fill(&mut rows);
        rows.insert(&schemas::connect::client(&self.engine.config))
            .await;
    }

    /// ClickHouse behind the service.
    pub(crate) fn clickhouse(&self) -> clickhouse::Client {
        schemas::connect::client(&self.engine.config)
    }

    /// The whole answer to tenant a's question, and its status.
    pub(crate) async fn answer(&self, path: &str, form: &[(&str, &str)]) -> (u16, Value) {
        self.ask(&self.key_a, path, form).await
    }

    /// The data of a successful answer to tenant a.
    pub(crate) async fn data(&self, path: &str, form: &[(&str, &str)]) -> Value {
        let (status, mut answer) = self.answer(path, form).await;
        assert_eq!(status, 200, "{path} {form:?}: {answer}");
        answer["data"].take()
    }

    /// The data of a successful answer to tenant b.
    pub(crate) async fn data_of_b(&self, path: &str, form: &[(&str, &str)]) -> Value {
        let (status, mut answer) = self.ask(&self.key_b, path, form).await;
        assert_eq!(status, 200, "{path} {form:?}: {answer}");
        answer["data"].take()
    }

    /// The samples of tenant a's instant query at `seconds` from noon: `labels value`, in order.
    pub(crate) async fn vector(&self, query: &str, seconds: i64) -> Vec<String> {
        let time = (crate::rows::NOON / 1000 + seconds).to_string();
        let data = self
            .data("query", &[("query", query), ("time", &time)])
            .await;
        let samples = data["result"].as_array().unwrap().iter();
        samples
            .map(|sample| {
                format!(
                    "{} {}",
                    labels(&sample["metric"]),
                    sample["value"][1].as_str().unwrap_or("?")
                )
            })
            .collect()
    }

    async fn ask(&self, key: &str, path: &str, form: &[(&str, &str)]) -> (u16, Value) {
        let url = format!("{}/{path}", self.base);
        let request = if path.starts_with("label/") || path == "metadata" {
            self.http.get(&url).query(form)
        } else {
            self.http.post(&url).form(form)
        };
        let response = request.bearer_auth(key).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Labels as `name{a=b,c=d}`.
fn labels(metric: &Value) -> String {
    let pairs = metric.as_object().unwrap();
    let name = pairs
        .get("__name__")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let others: Vec<String> = pairs
        .iter()
        .filter(|(key, _)| *key != "__name__")
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap()))
        .collect();
    format!("{name}{{{}}}", others.join(","))
}

/// Tenants a and b with a query key each; b lists histograms in both views.
fn directory() -> (FixedDirectory, [String; 2]) {
    let mut directory = FixedDirectory::new().unwrap();
    let keys = ["a", "b"].map(|tenant| {
        let id = TenantId::new(tenant);
        let known = Tenant {
            id: id.clone(),
            slug: format!("tenant-{tenant}"),
            plan: "standard".to_owned(),
            suspended: false,
            limits: Limits {
                list_both_histogram_views: tenant == "b",
                ..Limits::standard()
            },
        };
        directory.add_tenant(known).unwrap();
        let key = NewKey {
            tenant: id,
            name: "reader".to_owned(),
            class: KeyClass::Query,
            scopes: vec![Scope::Query],
            profile: Profile::Generic,
        };
        directory
            .issue(key, jiff::Timestamp::UNIX_EPOCH)
            .unwrap()
            .expose_once()
            .to_owned()
    });
    (directory, keys)
}
