//! A listener in ClickHouse's place that takes inserts, refuses them, or lets them wait.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// The number 1 as the answer to `SELECT 1`: one column `1` of type `UInt8`, one row.
const ONE: &[u8] = b"\x01\x011\x05UInt8\x01";

/// What the stand-in does with an INSERT.
#[derive(Clone)]
pub(super) struct Storage {
    pub(super) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    /// Exception text to answer with, where there is one.
    refuse: Mutex<Option<&'static str>>,
    /// Permits to finish an INSERT; closed means that none is needed.
    gate: Semaphore,
    arrived: mpsc::UnboundedSender<String>,
    seen: tokio::sync::Mutex<mpsc::UnboundedReceiver<String>>,
}

impl Storage {
    /// Listens and takes everything.
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (arrived, seen) = mpsc::unbounded_channel();
        let gate = Semaphore::new(0);
        gate.close();
        let shared = Arc::new(Shared {
            refuse: Mutex::new(None),
            gate,
            arrived,
            seen: seen.into(),
        });
        serve(listener, Arc::clone(&shared));
        Self { address, shared }
    }

    /// Listens; each INSERT waits for [`Storage::let_one_finish`].
    pub(super) async fn held_back() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (arrived, seen) = mpsc::unbounded_channel();
        let gate = Semaphore::new(0);
        let shared = Arc::new(Shared {
            refuse: Mutex::new(None),
            gate,
            arrived,
            seen: seen.into(),
        });
        serve(listener, Arc::clone(&shared));
        Self { address, shared }
    }

    /// An address where nobody listens.
    pub(super) async fn absent() -> SocketAddr {
        TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap()
    }

    /// Answers INSERTs with this exception from now on, or takes them again.
    pub(super) fn refuse(&self, exception: Option<&'static str>) {
        *self.shared.refuse.lock().unwrap() = exception;
    }

    /// Opens the gate for `inserts` more.
    pub(super) fn let_finish(&self, inserts: usize) {
        self.shared.gate.add_permits(inserts);
    }

    /// The table of the next INSERT; waits for it.
    pub(super) async fn next(&self) -> String {
        self.shared.seen.lock().await.recv().await.unwrap()
    }

    /// The tables of as many further INSERTs, sorted; waits for them.
    pub(super) async fn next_few(&self, inserts: usize) -> Vec<String> {
        let mut tables = Vec::new();
        while tables.len() < inserts {
            tables.push(self.next().await);
        }
        tables.sort();
        tables
    }

    /// The tables of the INSERTs that arrived and were not asked for yet.
    pub(super) async fn so_far(&self) -> Vec<String> {
        let mut seen = self.shared.seen.lock().await;
        let mut tables = Vec::new();
        while let Ok(table) = seen.try_recv() {
            tables.push(table);
        }
        tables.sort();
        tables
    }
}

fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let router = Router::new().fallback(take).with_state(shared);
    let tasks = runtime::tasks::Tasks::new();
    let stop = CancellationToken::new();
    drop(tasks.spawn("storage", async move {
        let graceful = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned());
        graceful.await.unwrap();
    }));
}

async fn take(
    State(shared): State<Arc<Shared>>,
    RawQuery(query): RawQuery,
    body: Bytes,
) -> Response {
    let query = query.unwrap_or_default();
    let Some((_, statement)) = query
        .split_once("INSERT+INTO+")
        .or_else(|| query.split_once("INSERT%20INTO%20"))
    else {
        return ONE.into_response();
    };
    assert!(!body.is_empty(), "an INSERT without rows: {statement}");
    assert!(query.contains("async_insert=0"), "{query}");
    let deduplicated = query.contains("insert_deduplication_token=");
    assert!(
        deduplicated || query.contains("insert_deduplicate=0"),
        "{query}"
    );
    let table = statement.trim_start_matches("%60");
    let table: String = table
        .chars()
        .take_while(|character| character.is_ascii_lowercase())
        .collect();
    shared.arrived.send(table).unwrap();
    if let Ok(permit) = shared.gate.acquire().await {
        permit.forget();
    }
    let refused = *shared.refuse.lock().unwrap();
    match refused {
        Some(exception) => (StatusCode::INTERNAL_SERVER_ERROR, exception).into_response(),
        None => StatusCode::OK.into_response(),
    }
}
