//! Answers that are longer than memory, break off, or are no longer wanted; statements side by side.

use std::time::Duration;

use futures::StreamExt;
use tempfile::tempdir;

use crate::server::{Server, resident};

const FOREVER: &str =
    "SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))";
const RUNNING: &str = "SELECT count() FROM system.processes WHERE query LIKE '%sipHash64%' AND query NOT LIKE '%processes%'";

#[tokio::test]
async fn five_million_rows_pass_through_a_small_client() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    let before = resident();
    let mut rows = server
        .client()
        .query("SELECT number FROM numbers(5000000)")
        .fetch::<u64>()
        .unwrap();
    let (mut count, mut sum) = (0_u64, 0_u64);
    while let Some(number) = rows.next().await.unwrap() {
        count += 1;
        sum += number;
    }
    assert_eq!((count, sum), (5_000_000, 12_499_997_500_000));
    let grown = resident().saturating_sub(before);
    assert!(grown < 32 << 20, "the client grew by {grown} bytes");

    // The same through the pipe, in a format with an end; the server must not hold it either.
    let request = server.post(
        &[],
        "SELECT number, toString(number) FROM numbers(5000000) FORMAT JSONCompact",
    );
    let mut parts = request.send().await.unwrap().bytes_stream();
    let (mut length, mut last) = (0, Vec::new());
    while let Some(part) = parts.next().await {
        let part = part.unwrap();
        length += part.len();
        last = part.to_vec();
    }
    assert!(
        length > 100_000_000 && last.ends_with(b"}\n"),
        "{length} bytes"
    );
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_seen_to_be_broken() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    let statement = "SELECT number, throwIf(number = 3000000) FROM numbers(4000000) SETTINGS max_block_size = 10000";
    let failed = server
        .client()
        .query(statement)
        .fetch_all::<(u64, u8)>()
        .await
        .unwrap_err();
    assert!(failed.to_string().contains("Code: 395"), "{failed}");

    for format in ["RowBinary", "TSV"] {
        let request = server.post(&[("default_format", format)], statement);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert!(
            response
                .headers()
                .contains_key("x-clickhouse-exception-tag")
        );
        assert!(
            response.bytes().await.is_err(),
            "{format} ended as if it were whole"
        );
    }
    let waited = server.post(&[("wait_end_of_query", "1")], statement);
    assert_eq!(server.outcome(waited).await.0, 500);
}

#[tokio::test]
async fn a_statement_ends_with_the_client_that_asked_for_it() {
    let folder = tempdir().unwrap();
    let server = Server::with(folder.path(), |config| config.connections = 2);
    for format in ["RowBinary", "JSON"] {
        let asked = server.post(&[("default_format", format)], FOREVER).send();
        let gone = tokio::time::timeout(Duration::from_millis(500), asked).await;
        assert!(gone.is_err(), "it should have run for ever");
        server.wait_for(RUNNING, "0").await;
    }
    // While rows are coming.
    let rows = server.post(
        &[],
        "SELECT number, sipHash64(number) FROM numbers(1000000000000) FORMAT RowBinary",
    );
    let mut rows = rows.send().await.unwrap().bytes_stream();
    rows.next().await.unwrap().unwrap();
    drop(rows);
    server.wait_for(RUNNING, "0").await;
    assert_eq!(server.ask("SELECT 1").await, "1");
}

#[tokio::test]
async fn kill_query_ends_the_statement_of_that_id() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    let request = server.post(&[("query_id", "slow one")], FOREVER);
    let slow = async { request.send().await.unwrap() };
    let killer = async {
        server.wait_for(RUNNING, "1").await;
        let twice = server.post(&[("query_id", "slow one")], "SELECT 1");
        let (_, code, _) = server.outcome(twice).await;
        assert_eq!(code, "216");
        server.ask("KILL QUERY WHERE query_id = 'another'").await;
        server.ask("KILL QUERY WHERE query_id = 'slow one'").await
    };
    let (killed, answer) = tokio::join!(slow, killer);
    assert!(answer.contains("sipHash64"), "{answer}");
    assert_eq!(killed.headers()["x-clickhouse-query-id"], "slow one");
    assert_eq!(killed.headers()["x-clickhouse-exception-code"], "394");
}

#[tokio::test]
async fn eight_statements_run_at_the_same_time() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    server
        .ask("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
        .await;
    let work = (0..8_u64).map(|number| {
        let server = &server;
        async move {
            server
                .ask(&format!(
                    "INSERT INTO t SELECT {number} FROM numbers(10000)"
                ))
                .await;
            // All eight must be asleep at once for any of them to see the others.
            let body =
                "SELECT sleepEachRow(1) FROM numbers(2) SETTINGS max_block_size = 1 FORMAT Null";
            server
                .post(&[("log_comment", "sleeper")], body)
                .send()
                .await
                .unwrap();
        }
    });
    let watch = server.client().query("SELECT 1").fetch_one::<u8>();
    let (_, watched) = tokio::join!(futures::future::join_all(work), watch);
    assert_eq!(watched.unwrap(), 1);
    assert_eq!(
        server.ask("SELECT count(), sum(a) FROM t").await,
        "80000\t280000"
    );
}

#[tokio::test]
async fn when_sessions_and_queue_are_full_the_next_is_told_to_come_back() {
    let folder = tempdir().unwrap();
    let server = Server::with(folder.path(), |config| {
        config.connections = 1;
        config.max_queued = 1;
    });
    // One runs, one waits, and whichever comes third is answered.
    let asked = [(); 3].map(|()| Box::pin(server.outcome(server.post(&[], FOREVER))));
    let ((status, code, text), _, _) = futures::future::select_all(asked).await;
    assert_eq!((status, code.as_str()), (503, "202"));
    assert!(text.contains("Too many simultaneous queries"), "{text}");
    server.wait_until_served("SELECT 1").await;
}
