//! The payload files, pushed in every way and compared with a model of what they must become.

pub(crate) mod model;

use std::path::{Path, PathBuf};

use auth::translation::Profile;
use serde_json::Value;
use tests::ask::{Ask, Matrix};
use tests::clock::now;
use tests::keys::Keys;
use tests::process::run;
use tests::push::{self, Answer, Ingest};
use tests::stack::{Stack, sluice};
use tests::{ask, proto};

use self::model::FILES;

/// Everything that a tenant has, without saying its name.
const ALL: &str = "{__name__=~\".+\"}";

#[tokio::test]
async fn files_pushed_by_the_command_line_read_back_sample_by_sample() {
    let (stack, tenants) =
        Stack::with(|directory| FILES.map(|file| directory.tenant_from(file.slug, file.profile)))
            .await;
    for (file, keys) in FILES.iter().zip(&tenants) {
        let before = now();
        let mut command = sluice();
        command.arg("push").arg(path(file.name)).args([
            "--key",
            &keys.ingest,
            "--url",
            &stack.url(4318),
            "--shift-to-now",
        ]);
        let done = run(command, b"");
        let after = now();
        let (code, words) = match (file.rejected, file.remark) {
            (0, "") => (0, "accepted\n".to_owned()),
            (0, _) => (0, "accepted, with a warning: ".to_owned()),
            (count, _) => (1, format!("accepted in part; {count} rejected: ")),
        };
        assert_eq!(done.code, Some(code), "{}", done.stderr);
        assert!(done.stdout.starts_with(&words), "{}", done.stdout);
        assert!(done.stdout.contains(file.remark), "{}", done.stdout);
        // The file's own time is the latest of its points, so that one becomes the time of the push.
        let asks = stack.ask_with(&keys.tenant, &keys.query);
        let stored = asks.window(&format!("{ALL}[10m]"), after).await;
        let at = stored.values().next().unwrap()[0].0;
        assert!(
            (before..=after).contains(&at),
            "{at} is not the time of the push"
        );
        compare(
            file.slug,
            &asks,
            &model::expected(file, &read(file.name), at),
            at,
        )
        .await;
    }
}

#[tokio::test]
async fn every_encoding_stores_the_same_samples_and_a_second_push_changes_nothing() {
    let encodings = [
        "json",
        "protobuf",
        "gzip",
        "two gzip members",
        "zstd",
        "deflate",
        "chunked",
    ];
    let (stack, tenants) = Stack::with(|directory| {
        FILES.map(|file| {
            [0, 1, 2, 3, 4, 5, 6].map(|number: usize| {
                let slug = format!("{}-{number}", file.slug);
                directory.tenant_from(&slug, file.profile)
            })
        })
    })
    .await;
    for (file, tenants) in FILES.iter().zip(&tenants) {
        let at = now();
        let request = model::shifted(&read(file.name), at);
        let expected = model::expected(file, &request, at);
        for (encoding, keys) in encodings.iter().zip(tenants) {
            let what = format!("{} as {encoding}", file.slug);
            let gateway = stack.ingest_with(&keys.ingest);
            for _ in 0..2 {
                let answer = send(&gateway, encoding, &request).await;
                assert_eq!(
                    answer.partial().0,
                    file.rejected,
                    "{what}: {}",
                    answer.text()
                );
            }
            let asks = stack.ask_with(&keys.tenant, &keys.query);
            compare(&what, &asks, &expected, at).await;
        }
    }
}

#[tokio::test]
async fn logs_are_refused_with_a_reason_until_they_are_supported() {
    let (stack, keys): (_, Keys) =
        Stack::with(|directory| directory.tenant_from("crusoe", Profile::Crusoe)).await;
    let answer = stack
        .ingest_with(&keys.ingest)
        .call("/v1/logs")
        .header("content-type", push::JSON)
        .body(read("crusoe_logs.json").to_string())
        .send()
        .await;
    assert_eq!(answer.status, 404, "{}", answer.text());
    assert!(answer.error().message.contains("logs"), "{}", answer.text());
}

/// Fails unless the instant query and the range selector over everything give exactly `expected`.
async fn compare(what: &str, asks: &Ask, expected: &ask::Vector, at: i64) {
    let windows: Matrix = expected
        .iter()
        .map(|(set, sample)| (set.clone(), vec![sample.clone()]))
        .collect();
    differ(
        what,
        &asks.window(&format!("{ALL}[10m]"), at).await,
        &windows,
    );
    differ(what, &asks.instant(ALL, at).await, expected);
}

/// Fails on the first difference, which is easier to read than two maps of hundreds.
fn differ<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: &std::collections::BTreeMap<ask::Labels, T>,
    expected: &std::collections::BTreeMap<ask::Labels, T>,
) {
    for (set, value) in expected {
        assert_eq!(found.get(set), Some(value), "{what}: {set:?}");
    }
    let extra: Vec<_> = found
        .keys()
        .filter(|set| !expected.contains_key(*set))
        .collect();
    assert!(
        extra.is_empty(),
        "{what}: series that nobody pushed: {extra:?}"
    );
}

async fn send(gateway: &Ingest, encoding: &str, request: &Value) -> Answer {
    let json = request.to_string().into_bytes();
    let protobuf = proto::encode(request);
    let halves = json.split_at(json.len() / 2);
    let (kind, compressed, body) = match encoding {
        "json" | "chunked" => (push::JSON, "identity", json.clone()),
        "protobuf" => (push::PROTOBUF, "identity", protobuf),
        "gzip" => (push::PROTOBUF, "gzip", push::gzip(&protobuf)),
        "two gzip members" => {
            let members = [push::gzip(halves.0), push::gzip(halves.1)];
            (push::JSON, "gzip", members.concat())
        }
        "zstd" => (push::PROTOBUF, "zstd", push::zstd(&protobuf)),
        "deflate" => (push::JSON, "deflate", push::deflate(&json)),
        other => panic!("no encoding {other}"),
    };
    let call = gateway
        .call("/v1/metrics")
        .header("content-type", kind)
        .header("content-encoding", compressed);
    if encoding == "chunked" {
        return call.chunks(body.chunks(1000)).send().await;
    }
    call.body(body).send().await
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data/payloads")
        .join(name)
}

fn read(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(path(name)).unwrap()).unwrap()
}
