//! The tables on a real engine: made once, shaped like the row types, never touched by an older binary.

use std::process::Command;

use clickhouse::{Client, Row, RowOwned, RowRead, RowWrite};
use schemas::connect::{self, Config};
use schemas::rows::{
    EXPLICIT_SCALE, HistogramRow, MetadataRow, SampleRow, SeriesKind, SeriesRow, bucket_of, day_of,
};
use schemas::{migrate, tables};
use serde::Deserialize;
use tests::clock::now;
use tests::process::run;
use tests::stack::{Stack, sluice};

/// Labels of the series that the test stores.
const PAIRS: [(&str, &str); 2] = [("a", "1"), ("ü", "日本")];

fn config(stack: &Stack, database: &str) -> Config {
    Config {
        url: stack.url(8123).parse().unwrap(),
        database: database.to_owned(),
        user: String::new(),
        password: String::new().into(),
    }
}

/// `sluice COMMAND` against the stack's ClickHouse and another database than the stack's.
fn role(stack: &Stack, command: &str, database: &str) -> Command {
    let mut role = sluice();
    role.arg(command)
        .env("SLUICE__CLICKHOUSE__URL", stack.url(8123))
        .env("SLUICE__CLICKHOUSE__DATABASE", database);
    role
}

#[tokio::test]
async fn the_schema_is_made_once_fits_the_row_types_and_a_newer_one_is_refused() {
    let stack = Stack::start().await;
    let config = config(&stack, "other");
    let client = connect::client(&config);

    let first = run(role(&stack, "migrate", "other"), b"").success();
    let second = run(role(&stack, "migrate", "other"), b"").success();
    assert_ne!(first.stdout, second.stdout, "what was done is told");
    let applied: Vec<u32> = client
        .query("SELECT version FROM schema_migrations ORDER BY version")
        .fetch_all()
        .await
        .unwrap();
    assert_eq!(
        applied,
        (1..=migrate::latest()).collect::<Vec<_>>(),
        "each once"
    );

    columns(&client).await;
    rows(&client).await;

    let newer = migrate::latest() + 1;
    let statement =
        format!("INSERT INTO schema_migrations (version, name) VALUES ({newer}, 'future')");
    client.query(&statement).execute().await.unwrap();
    for command in ["migrate", "gateway", "query"] {
        let refused = run(role(&stack, command, "other"), b"");
        assert_ne!(refused.code, Some(0), "{command}");
        for word in ["other", "newer", &newer.to_string(), "upgrade sluice"] {
            assert!(
                refused.stderr.contains(word),
                "{command}: {}",
                refused.stderr
            );
        }
    }
}

/// A column as the engine describes it.
#[derive(Debug, Row, Deserialize)]
struct Column {
    name: String,
}

/// Every table has the columns of its row type, in the same order.
async fn columns(client: &Client) {
    for (table, wanted) in [
        (tables::SAMPLES, SampleRow::COLUMN_NAMES),
        (tables::HISTOGRAMS, HistogramRow::COLUMN_NAMES),
        (tables::SERIES, SeriesRow::COLUMN_NAMES),
        (tables::METADATA, MetadataRow::COLUMN_NAMES),
    ] {
        let found: Vec<Column> = client
            .query("SELECT name FROM system.columns WHERE database = 'other' AND table = ? ORDER BY position")
            .bind(table)
            .fetch_all()
            .await
            .unwrap();
        let names: Vec<&str> = found.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, wanted, "{table}");
    }
}

/// A row with a telling value in every field comes back as it went.
async fn rows(client: &Client) {
    let ts = now();
    there_and_back(client, tables::SAMPLES, sample(ts)).await;
    there_and_back(client, tables::HISTOGRAMS, histogram(ts)).await;
    there_and_back(client, tables::SERIES, series(ts)).await;
    there_and_back(client, tables::METADATA, metadata(ts)).await;
    // The stale marker keeps its bits; a comparison of floats would not show it.
    let stale = f64::from_bits(0x7ff0_0000_0000_0002);
    let marker = SampleRow {
        tenant: "stale".to_owned(),
        value: stale,
        ..sample(ts)
    };
    insert(client, tables::SAMPLES, &marker).await;
    let bits: u64 = client
        .query("SELECT reinterpretAsUInt64(value) FROM samples WHERE tenant = 'stale'")
        .fetch_one()
        .await
        .unwrap();
    assert_eq!(bits, stale.to_bits());
    label_values(client).await;
}

fn sample(ts: i64) -> SampleRow {
    SampleRow {
        tenant: "t".to_owned(),
        metric: "m".to_owned(),
        b: bucket_of(ts),
        id: u64::MAX - 1,
        ts,
        value: -0.1,
        start_ts: ts - 90_001,
        ret_days: 30,
    }
}

fn histogram(ts: i64) -> HistogramRow {
    HistogramRow {
        tenant: "t".to_owned(),
        metric: "m".to_owned(),
        b: bucket_of(ts),
        id: 1,
        ts,
        start_ts: 0,
        count: 7,
        sum: Some(1.25),
        min: None,
        max: Some(f64::INFINITY),
        scale: EXPLICIT_SCALE,
        zero_threshold: 1e-128,
        zero_count: 3,
        pos_offset: -5,
        pos: vec![1, u64::MAX],
        neg_offset: 6,
        neg: vec![2],
        ret_days: 30,
    }
}

fn series(ts: i64) -> SeriesRow {
    let second = u32::try_from(ts / 1000).unwrap();
    SeriesRow {
        tenant: "t".to_owned(),
        metric: "m".to_owned(),
        day: day_of(ts),
        id: 1,
        kind: SeriesKind::ExplicitHistogram.code(),
        labels: PAIRS
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        bounds: vec![0.5, 2.0],
        first_seen: second - 1,
        last_seen: second,
    }
}

fn metadata(ts: i64) -> MetadataRow {
    MetadataRow {
        tenant: "t".to_owned(),
        family: "m".to_owned(),
        kind: "counter".to_owned(),
        unit: "seconds".to_owned(),
        help: "How long?".to_owned(),
        updated: u32::try_from(ts / 1000).unwrap(),
    }
}

async fn there_and_back<T>(client: &Client, table: &str, row: T)
where
    T: RowOwned + RowRead + RowWrite + PartialEq + std::fmt::Debug,
{
    insert(client, table, &row).await;
    let found: Vec<T> = client
        .query(&format!("SELECT ?fields FROM {table}"))
        .fetch_all()
        .await
        .unwrap_or_else(|error| panic!("{table}: {error}"));
    assert_eq!(found, [row], "{table}");
}

async fn insert<T>(client: &Client, table: &str, row: &T)
where
    T: RowOwned + RowWrite,
{
    let mut insert = client.insert::<T>(table).await.unwrap();
    insert
        .write(row)
        .await
        .unwrap_or_else(|error| panic!("{table}: {error}"));
    insert
        .end()
        .await
        .unwrap_or_else(|error| panic!("{table}: {error}"));
}

/// The view fills label values from series.
async fn label_values(client: &Client) {
    let mut found: Vec<(String, String)> = client
        .query("SELECT key, val FROM label_values WHERE tenant = 't' AND metric = 'm' GROUP BY key, val")
        .fetch_all()
        .await
        .unwrap();
    found.sort();
    assert_eq!(
        found,
        PAIRS.map(|(key, value)| (key.to_owned(), value.to_owned()))
    );
}
