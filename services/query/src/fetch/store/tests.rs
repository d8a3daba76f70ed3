//! What happens to statements that nobody waits for any more, against a server that never answers.

use axum::Router;
use axum::extract::{Query as Parameters, State};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::fetch::testing::scope;

/// The query ids and texts of the statements that arrived.
type Arrived = (String, String);

async fn silent(
    State(arrived): State<UnboundedSender<Arrived>>,
    Parameters(parameters): Parameters<Vec<(String, String)>>,
    body: String,
) -> String {
    let id = parameters.into_iter().find(|(name, _)| name == "query_id");
    let kill = body.starts_with("KILL");
    arrived
        .send((id.map(|(_, id)| id).unwrap_or_default(), body))
        .unwrap();
    if kill {
        String::new()
    } else {
        std::future::pending().await
    }
}

/// A store on such a server, and what arrives there.
async fn store() -> (Store, UnboundedReceiver<Arrived>) {
    let (sender, arrived) = unbounded_channel();
    let router = Router::new().fallback(silent).with_state(sender);
    let address = ([127, 0, 0, 1], 0).into();
    let grace = std::time::Duration::ZERO;
    let running = runtime::serve::http("silent", address, router, CancellationToken::new(), grace)
        .await
        .unwrap();
    let client = Client::default().with_url(format!("http://{}", running.address));
    let metrics = QueryMetrics::register(&runtime::metrics::Metrics::new());
    (Store::new(client, metrics), arrived)
}

fn soon() -> Instant {
    Instant::now() + std::time::Duration::from_secs(60)
}

#[tokio::test]
async fn a_statement_whose_client_left_is_killed_by_its_id() {
    let (store, mut arrived) = store().await;
    let scope = scope("demo").await;
    let mut stream = store
        .stream(&scope, store.client.query("SELECT 1"), soon())
        .unwrap();
    let (id, text) = tokio::select! {
        _ = stream.next() => panic!("nobody answers"),
        statement = arrived.recv() => statement.unwrap(),
    };
    assert_eq!(text, "SELECT 1");
    drop(stream);
    let (_, kill) = arrived.recv().await.unwrap();
    assert_eq!(kill, format!("KILL QUERY WHERE query_id = '{id}' ASYNC"));
    assert_eq!(store.metrics.kills.get(), 1);
}

#[tokio::test]
async fn a_statement_whose_time_is_up_is_killed_and_is_a_timeout() {
    let (store, mut arrived) = store().await;
    let scope = scope("demo").await;
    let query = store.client.query("SELECT 1");
    let ended = store.rows::<u8>(&scope, query, Instant::now()).await;
    assert!(matches!(ended, Err(FetchError::Timeout)));
    // The statement itself may or may not have left by then.
    while !arrived
        .recv()
        .await
        .unwrap()
        .1
        .starts_with("KILL QUERY WHERE query_id = 'sluice-query-")
    {}
}
