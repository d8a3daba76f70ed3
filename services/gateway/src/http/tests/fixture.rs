//! A gateway on a free port with two tenants, and pushes for it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use auth::directory::KeyDirectory;
use auth::directory::fixed::{FixedDirectory, NewKey};
use auth::key::{KeyClass, PlainKey};
use auth::record::KeyRecord;
use auth::scope::Scope;
use auth::tenant::{Limits, Tenant, TenantId};
use auth::translation::Profile;
use jiff::Timestamp;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    Gauge, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics,
};
use prost::Message;
use reqwest::RequestBuilder;
use runtime::admin::Readiness;
use runtime::metrics::Metrics;
use runtime::serve::Running;
use tokio_util::sync::CancellationToken;

use super::storage::Storage;
use crate::{Config, Parts, run};

pub(super) const PROTOBUF: &str = "application/x-protobuf";
pub(super) const JSON: &str = "application/json";

/// A gateway under test.
pub(super) struct Gateway {
    pub(super) running: Running,
    pub(super) stop: CancellationToken,
    pub(super) readiness: Readiness,
    metrics: Metrics,
    keys: HashMap<&'static str, PlainKey>,
    client: reqwest::Client,
    /// Holds the spool where the test has not chosen another folder.
    _folder: tempfile::TempDir,
}

/// Settings on a free port.
pub(super) fn settings() -> Config {
    let mut config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        ..Config::default()
    };
    config.spool.seal_after = std::time::Duration::from_millis(1);
    config
}

impl Gateway {
    /// With a storage that takes everything.
    pub(super) async fn start() -> Self {
        Self::with(settings(), Storage::start().await.address).await
    }

    /// With these settings and the storage at `address`.
    pub(super) async fn with(config: Config, address: SocketAddr) -> Self {
        let (directory, keys) = directory();
        Self::of(config, address, Arc::new(directory), keys).await
    }

    /// With a directory of the test's own.
    pub(super) async fn asking(directory: Arc<dyn KeyDirectory>) -> Self {
        let keys = HashMap::from([("ingest", PlainKey::generate(KeyClass::Ingest).unwrap())]);
        Self::of(settings(), Storage::absent().await, directory, keys).await
    }

    async fn of(
        config: Config,
        address: SocketAddr,
        directory: Arc<dyn KeyDirectory>,
        keys: HashMap<&'static str, PlainKey>,
    ) -> Self {
        let (metrics, readiness) = (Metrics::new(), Readiness::new());
        let folder = tempfile::tempdir().unwrap();
        let mut config = config;
        if config.spool.dir.as_os_str().is_empty() {
            config.spool.dir = folder.path().to_owned();
        }
        let parts = Parts {
            directory,
            store: clickhouse::Client::default().with_url(format!("http://{address}")),
            metrics: metrics.clone(),
            readiness: readiness.clone(),
        };
        let stop = CancellationToken::new();
        let running = run(config, parts, stop.clone()).await.unwrap();
        Self {
            running,
            stop,
            readiness,
            metrics,
            keys,
            client: reqwest::Client::new(),
            _folder: folder,
        }
    }

    /// The whole text of one of the keys of [`directory`].
    pub(super) fn key(&self, name: &str) -> &str {
        self.keys[name].expose_once()
    }

    /// A request without credentials.
    pub(super) fn bare(&self, path: &str) -> RequestBuilder {
        self.client
            .post(format!("http://{}{path}", self.running.address))
    }

    /// A request with another method.
    pub(super) fn request(&self, method: http::Method, path: &str) -> RequestBuilder {
        self.client
            .request(method, format!("http://{}{path}", self.running.address))
    }

    /// A push by tenant `acme`.
    pub(super) fn push(&self) -> RequestBuilder {
        self.bare("/v1/metrics").bearer_auth(self.key("ingest"))
    }

    /// Waits until the metrics have this line, giving way to the gateway's tasks.
    pub(super) async fn counted(&self, line: &str) {
        until(|| self.counters().lines().any(|shown| shown == line)).await;
    }

    /// The exposition text of the gateway's metrics.
    pub(super) fn counters(&self) -> String {
        self.metrics.render().unwrap()
    }
}

/// Tenants `acme` and `closed` (suspended), and one key for each way to fail.
fn directory() -> (FixedDirectory, HashMap<&'static str, PlainKey>) {
    let now = Timestamp::now();
    let mut directory = FixedDirectory::new().unwrap();
    for (id, slug) in [("ten_acme", "acme"), ("ten_closed", "closed")] {
        let tenant = Tenant {
            id: TenantId::new(id),
            slug: slug.to_owned(),
            plan: "standard".to_owned(),
            suspended: slug == "closed",
            limits: Limits {
                max_request_bytes: 4 << 20,
                ..Limits::standard()
            },
        };
        directory.add_tenant(tenant).unwrap();
    }
    let mut keys = HashMap::new();
    for (name, tenant, class, scope) in [
        ("ingest", "ten_acme", KeyClass::Ingest, Scope::Ingest),
        ("logs", "ten_acme", KeyClass::Ingest, Scope::LogsWrite),
        ("query", "ten_acme", KeyClass::Query, Scope::Query),
        ("revoked", "ten_acme", KeyClass::Ingest, Scope::Ingest),
        ("elsewhere", "ten_acme", KeyClass::Ingest, Scope::Ingest),
        ("closed", "ten_closed", KeyClass::Ingest, Scope::Ingest),
    ] {
        let new = NewKey {
            tenant: TenantId::new(tenant),
            name: name.to_owned(),
            class,
            scopes: vec![scope],
            profile: Profile::Generic,
        };
        keys.insert(name, directory.issue(new, now).unwrap());
    }
    let mut change = |name: &str, change: &dyn Fn(&mut KeyRecord)| {
        directory.change_key(keys[name].kid(), change).unwrap();
    };
    change("revoked", &|record| {
        record.status = auth::record::KeyStatus::Revoked
    });
    change("elsewhere", &|record| {
        record.allowed_cidrs = vec!["192.0.2.0/24".parse().unwrap()]
    });
    keys.insert("stranger", PlainKey::generate(KeyClass::Ingest).unwrap());
    (directory, keys)
}

/// A gauge with a good point for each of `good` and a point without time for each of `bad`.
pub(super) fn gauge(good: usize, bad: usize) -> ExportMetricsServiceRequest {
    let now = u64::try_from(Timestamp::now().as_nanosecond()).unwrap();
    let point = |step: usize, time: u64| NumberDataPoint {
        time_unix_nano: time,
        value: Some(Value::AsDouble(f64::from(u32::try_from(step).unwrap()))),
        ..NumberDataPoint::default()
    };
    let good =
        (0..good).map(|step| point(step, now - 1_000_000_000 * u64::try_from(step).unwrap()));
    let data_points = good.chain((0..bad).map(|step| point(step, 0))).collect();
    let metric = Metric {
        name: "queue.depth".to_owned(),
        description: "waiting requests".to_owned(),
        data: Some(Data::Gauge(Gauge { data_points })),
        ..Metric::default()
    };
    let scope = ScopeMetrics {
        metrics: vec![metric],
        ..ScopeMetrics::default()
    };
    let resource = ResourceMetrics {
        scope_metrics: vec![scope],
        ..ResourceMetrics::default()
    };
    ExportMetricsServiceRequest {
        resource_metrics: vec![resource],
    }
}

/// The same in protobuf.
pub(super) fn protobuf(good: usize, bad: usize) -> Vec<u8> {
    gauge(good, bad).encode_to_vec()
}

/// The same in JSON.
pub(super) fn json(good: usize, bad: usize) -> Vec<u8> {
    let now = Timestamp::now().as_nanosecond();
    let good = (0..i128::try_from(good).unwrap())
        .map(|step| serde_json::json!({"timeUnixNano": (now - step * 1_000_000_000).to_string(), "asDouble": 1.5}));
    let bad = (0..bad).map(|_| serde_json::json!({"asDouble": 1.5}));
    let points: Vec<serde_json::Value> = good.chain(bad).collect();
    serde_json::json!({"resourceMetrics": [{"scopeMetrics": [{"metrics": [
        {"name": "queue.depth", "gauge": {"dataPoints": points}}
    ]}]}]})
    .to_string()
    .into_bytes()
}

/// One gzip member.
pub(super) fn gzip(plain: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// Waits until `holds`, giving way to the gateway's tasks.
pub(super) async fn until(holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), waiting)
        .await
        .expect("it holds at last");
}
