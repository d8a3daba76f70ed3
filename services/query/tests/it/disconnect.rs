//! A client that leaves while its query runs.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::time::Duration;

use crate::rows::NOON;
use crate::service::Service;

/// Longest wait for what must happen; only a defect reaches it.
const BOUND: Duration = Duration::from_secs(60);

/// Samples that take for ever to find: the table is now a view over all numbers, none of which matches.
const ENDLESS: [&str; 2] = [
    "RENAME TABLE samples TO kept_samples",
    "CREATE VIEW samples AS SELECT tenant, metric, b, id, ts, value FROM \
     (SELECT 'a' AS tenant, 'm' AS metric, toDateTime(1793620800, 'UTC') AS b, toUInt64(1) AS id, \
      fromUnixTimestamp64Milli(toInt64(1793620800000), 'UTC') AS ts, 1.0 AS value \
      FROM system.numbers WHERE cityHash64(number) = 0)",
];

/// Waits until ClickHouse runs exactly `count` readings of samples.
async fn readings(service: &Service, count: u64) {
    let look = async {
        loop {
            let found: u64 = service
                .clickhouse()
                .query(
                    "SELECT count() FROM system.processes \
                     WHERE query LIKE 'SELECT id, ts, value FROM samples%'",
                )
                .fetch_one()
                .await
                .unwrap();
            if found == count {
                return;
            }
        }
    };
    tokio::time::timeout(BOUND, look)
        .await
        .unwrap_or_else(|_| panic!("waited in vain for {count} readings"));
}

/// Scenario: a tenant that may run one query asks one that never ends, and closes its connection.
/// Guarantees: until then the tenant's next query is refused and others' are not; afterwards the statement
/// ends in ClickHouse, and the slot is free.
#[tokio::test]
async fn a_query_whose_client_leaves_ends_in_clickhouse_and_frees_its_slot() {
    let service = Service::with(
        |config| {
            config.concurrency.per_tenant = 1;
            config.concurrency.per_tenant_queue = 0;
            config.timeout = 10 * BOUND;
        },
        |rows| {
            rows.number(("a", "m", 1), &[], &[(0, 1.0)]);
        },
    )
    .await;
    for statement in ENDLESS {
        service
            .clickhouse()
            .query(statement)
            .execute()
            .await
            .unwrap();
    }
    let time = (NOON / 1000).to_string();
    {
        let form = [("query", "m"), ("time", time.as_str())];
        let leaving = service.answer("query", &form);
        let beside = async {
            readings(&service, 1).await;
            let (status, answer) = service.answer("query", &[("query", "1")]).await;
            assert_eq!(status, 429, "{answer}");
            let data = service.data_of_b("query", &[("query", "1")]).await;
            assert_eq!(data["resultType"], "scalar");
        };
        tokio::select! {
            (status, answer) = leaving => panic!("{status}: {answer}"),
            () = beside => {}
        }
    }
    readings(&service, 0).await;
    let (status, answer) = service.answer("query", &[("query", "1")]).await;
    assert_eq!(status, 200, "{answer}");
}
