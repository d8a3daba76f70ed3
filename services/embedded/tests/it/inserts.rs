//! Rows in, and the same rows out.

use std::collections::HashMap;
use std::io::Write;

use clickhouse::Row;
use serde::{Deserialize, Serialize};
use tempfile::tempdir;

use crate::server::Server;

#[derive(Clone, Debug, PartialEq, Row, Serialize, Deserialize)]
struct Point {
    tenant: String,
    labels: HashMap<String, String>,
    buckets: Vec<u64>,
    sum: Option<f64>,
    ts: i64,
}

#[tokio::test]
async fn a_typed_row_of_the_official_crate_comes_back_as_it_went() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    let client = server.client();
    let columns = "tenant LowCardinality(String), labels Map(LowCardinality(String), String), buckets Array(UInt64), \
                   sum Nullable(Float64), ts DateTime64(3, 'UTC')";
    client
        .query(&format!(
            "CREATE TABLE points ({columns}) ENGINE = MergeTree ORDER BY (tenant, ts)"
        ))
        .execute()
        .await
        .unwrap();
    let points = [Some(0.1 + 0.2), None].map(|sum| Point {
        tenant: "acme;\n'".to_owned(),
        labels: HashMap::from([("le".to_owned(), "+Inf".to_owned())]),
        buckets: vec![0, u64::MAX, 59],
        sum,
        ts: 1_700_000_000_123 + i64::from(sum.is_none()),
    });
    let mut insert = client.insert::<Point>("points").await.unwrap();
    for point in &points {
        insert.write(point).await.unwrap();
    }
    insert.end().await.unwrap();
    let found: Vec<Point> = client
        .query("SELECT ?fields FROM points ORDER BY ts")
        .fetch_all()
        .await
        .unwrap();
    assert_eq!(found, points);
}

#[tokio::test]
async fn a_million_binary_rows_arrive_whole() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    server
        .ask("CREATE TABLE t (a UInt64, b UInt8) ENGINE = MergeTree ORDER BY a")
        .await;
    let mut rows = Vec::new();
    let (mut sum_a, mut sum_b) = (0_u64, 0_u64);
    for number in 0..1_000_000_u64 {
        let (a, b) = (
            number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            number.to_le_bytes()[0],
        );
        sum_a = sum_a.wrapping_add(a);
        sum_b += u64::from(b);
        rows.extend_from_slice(&a.to_le_bytes());
        rows.push(b);
    }
    let request = server.post(
        &[("query", "INSERT INTO t (a, b) FORMAT RowBinary")],
        rows.clone(),
    );
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    let summary = response.headers()["x-clickhouse-summary"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(
        summary.contains("\"written_rows\":\"1000000\""),
        "{summary}"
    );
    let sums = server.ask("SELECT count(), sum(a), sum(b) FROM t").await;
    assert_eq!(sums, format!("1000000\t{sum_a}\t{sum_b}"));

    let back = server
        .post(&[], "SELECT a, b FROM t FORMAT RowBinary")
        .send()
        .await
        .unwrap()
        .bytes()
        .await
        .unwrap();
    let pairs = |bytes: &[u8]| {
        let mut rows: Vec<[u8; 9]> = bytes.as_chunks().0.to_vec();
        rows.sort_unstable();
        rows
    };
    assert!(
        pairs(&back) == pairs(&rows),
        "the rows that came back differ from those that went"
    );
}

#[tokio::test]
async fn a_token_is_inserted_once() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    server
        .ask("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100")
        .await;
    let with_token = |token: &'static str, body: &'static str| {
        let parameters = [
            ("query", "INSERT INTO t FORMAT TSV"),
            ("insert_deduplication_token", token),
        ];
        server.outcome(server.post(&parameters, body))
    };
    for (token, body) in [("one", "1\n2\n"), ("one", "3\n"), ("two", "1\n2\n")] {
        assert_eq!(with_token(token, body).await.0, 200);
    }
    assert_eq!(
        server
            .ask("SELECT groupArray(a) FROM (SELECT a FROM t ORDER BY a)")
            .await,
        "[1,1,2,2]"
    );
    // The same by a SETTINGS clause.
    for _ in 0..2 {
        server
            .ask("INSERT INTO t SETTINGS insert_deduplication_token = 'three' FORMAT TSV\n7\n")
            .await;
    }
    assert_eq!(server.ask("SELECT count() FROM t WHERE a = 7").await, "1");
}

#[tokio::test]
async fn data_may_be_values_a_select_json_lines_compressed_or_nothing() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    server
        .ask("CREATE TABLE t (a UInt64, s String) ENGINE = Memory")
        .await;
    server
        .ask("INSERT INTO t VALUES (1, 'a;b'), (1 + 1, concat('c', '--d'));")
        .await;
    server.ask("INSERT INTO t (s, a) SELECT 'e', 3").await;
    server
        .ask("INSERT INTO t FORMAT JSONEachRow\n{\"a\": 4, \"s\": \"f\\n\"}\n")
        .await;
    server.ask("INSERT INTO t FORMAT RowBinary").await;
    let parameters = [("param_a", "5"), ("param_s", "g")];
    assert_eq!(
        server
            .outcome(server.post(&parameters, "INSERT INTO t VALUES ({a:UInt64}, {s:String})"))
            .await
            .0,
        200
    );
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(b"6\th\n").unwrap();
    let gzip = gzip.finish().unwrap();
    let compressed = server
        .post(&[("query", "INSERT INTO t FORMAT TSV")], gzip)
        .header("Content-Encoding", "gzip");
    let (status, _, text) = server.outcome(compressed).await;
    assert_eq!(status, 200, "{text}");
    assert_eq!(
        server
            .ask("SELECT groupArray((a, s)) FROM (SELECT * FROM t ORDER BY a)")
            .await,
        r"[(1,'a;b'),(2,'c--d'),(3,'e'),(4,'f\n'),(5,'g'),(6,'h')]"
    );
    let (status, code, _) = server
        .outcome(server.post(&[("query", "INSERT INTO t FORMAT TSV")], "x\ty\n"))
        .await;
    assert_eq!((status, code.as_str()), (400, "27"));
}
