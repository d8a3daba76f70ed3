//! Two tenants on every endpoint: neither sees the other, and a stranger learns nothing.

use std::collections::BTreeSet;

use auth::key::{KeyClass, PlainKey};
use auth::record::KeyStatus;
use auth::translation::Profile;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use tests::ask::Ask;
use tests::clock::this_second;
use tests::keys::Keys;
use tests::otlp::{self, Pairs};
use tests::push::{self, Answer};
use tests::stack::Stack;

/// A word in everything that tenant A stores, and in nothing else.
const MARK: &str = "tulip";

/// Every way to read, with parameters that find everything.
const READS: [(&str, Pairs<'static>); 12] = [
    ("/api/v1/query", &[("query", "{__name__=~\".+\"}")]),
    ("/api/v1/query", &[("query", "{__name__=~\".+\"}[1h]")]),
    ("/api/v1/query", &[("query", "tulip_count_total")]),
    (
        "/api/v1/query",
        &[("query", "{tenant=\"ten_garden\"} or {__name__=~\".+\"}")],
    ),
    (
        "/api/v1/query_range",
        &[
            ("query", "{__name__=~\".+\"}"),
            ("start", "START"),
            ("end", "END"),
            ("step", "60"),
        ],
    ),
    ("/api/v1/series", &[("match[]", "{__name__=~\".+\"}")]),
    (
        "/api/v1/series",
        &[
            ("match[]", "tulip_count_total"),
            ("match[]", "{owner=\"tulip\"}"),
        ],
    ),
    ("/api/v1/labels", &[]),
    ("/api/v1/label/__name__/values", &[]),
    ("/api/v1/label/owner/values", &[]),
    ("/api/v1/metadata", &[]),
    ("/api/v1/metadata", &[("metric", "tulip_count_total")]),
];

struct Parties {
    garden: Keys,
    rival: Keys,
    revoked: String,
    pusher: String,
}

#[tokio::test]
async fn no_endpoint_shows_a_tenant_or_a_stranger_what_belongs_to_another() {
    let (stack, parties) = Stack::with(|directory| {
        let garden = directory.tenant("garden");
        let rival = directory.tenant("rival");
        let revoked = directory.key(
            "garden",
            KeyClass::Query,
            auth::scope::Scope::Query,
            Profile::Generic,
        );
        directory.change(&revoked, |record| {
            record.status = KeyStatus::Revoked;
            record.revoked_at = Some(jiff::Timestamp::now());
        });
        let pusher = directory.ingest("garden", Profile::Generic);
        Parties {
            garden,
            rival,
            revoked,
            pusher,
        }
    })
    .await;
    let at = this_second();
    let push = |name: &str, owner: &str| {
        let labels = [("owner", owner), (owner, "yes")];
        otlp::request(
            &[],
            &[
                otlp::counter(name, "", &[otlp::number(&labels, at, 7.0)]),
                otlp::histogram(
                    &format!("{name}.time"),
                    "s",
                    &[otlp::observations(&labels, at, 1.0, &[1.0], &[1, 1])],
                ),
            ],
        )
    };
    stack
        .ingest_with(&parties.garden.ingest)
        .all(&push("tulip.count", MARK))
        .await;
    stack
        .ingest_with(&parties.rival.ingest)
        .all(&push("weed.count", "weed"))
        .await;

    neighbours(&stack, &parties, at).await;
    strangers(&stack, &parties, at).await;
    strangers_at_the_gateway(&stack, &parties).await;
}

/// A read with the times filled in, as GET and, where it exists, as POST, with and without the prefix.
async fn read(ask: &Ask, path: &str, parameters: Pairs<'_>, at: i64) -> Vec<Answer> {
    let (start, end) = ((at / 1000 - 600).to_string(), (at / 1000).to_string());
    let filled: Vec<(&str, &str)> = parameters
        .iter()
        .map(|(name, value)| match *value {
            "START" => (*name, start.as_str()),
            "END" => (*name, end.as_str()),
            other => (*name, other),
        })
        .collect();
    let mut answers = vec![
        ask.get(path, &filled).await,
        ask.get(&format!("/prometheus{path}"), &filled).await,
    ];
    if !path.starts_with("/api/v1/label/") && path != "/api/v1/metadata" {
        answers.push(ask.post(path, &filled).await);
    }
    answers
}

async fn neighbours(stack: &Stack, parties: &Parties, at: i64) {
    let garden = stack.ask_with("garden", &parties.garden.query);
    let rival = stack.ask_with("rival", &parties.rival.query);
    for (path, parameters) in READS {
        for answer in read(&garden, path, parameters, at).await {
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            assert!(
                answer.text().contains(MARK),
                "{path} {parameters:?}: {}",
                answer.text()
            );
            assert!(
                !answer.text().contains("weed"),
                "{path} {parameters:?}: {}",
                answer.text()
            );
        }
        for answer in read(&rival, path, parameters, at).await {
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            assert!(
                !answer.text().contains(MARK),
                "{path} {parameters:?}: {}",
                answer.text()
            );
        }
    }
    // A header that other systems trust changes nothing.
    for tenant in ["garden", "ten_garden"] {
        let answer = stack
            .http()
            .get(format!("{}/api/v1/query", stack.url(9090)))
            .query(&[("query", "count by (owner) ({__name__=~\".+\"})")])
            .basic_auth("rival", Some(&parties.rival.query))
            .header("X-Scope-OrgID", tenant)
            .send()
            .await
            .unwrap();
        let text = answer.text().await.unwrap();
        assert!(text.contains("weed") && !text.contains(MARK), "{text}");
    }
}

/// Nobody in particular, with every kind of key that must not work here: tenant named, key, status.
fn wrong(parties: &Parties) -> Vec<(&'static str, String, u16)> {
    let unknown = PlainKey::generate(KeyClass::Query)
        .unwrap()
        .expose_once()
        .to_owned();
    let mut garbled = parties.garden.query.clone();
    garbled.pop();
    let mut mistyped = parties.garden.query.clone().into_bytes();
    mistyped[20] = if mistyped[20] == b'x' { b'y' } else { b'x' };
    vec![
        ("garden", String::new(), 401),
        ("garden", "hunter2".to_owned(), 401),
        ("garden", garbled, 401),
        ("garden", String::from_utf8(mistyped).unwrap(), 401),
        ("garden", unknown, 401),
        ("garden", parties.revoked.clone(), 401),
        // Of another tenant, and of no tenant at all.
        ("rival", parties.garden.query.clone(), 401),
        ("nobody", parties.garden.query.clone(), 401),
        // Known, and not for reading.
        ("garden", parties.pusher.clone(), 403),
    ]
}

async fn strangers(stack: &Stack, parties: &Parties, at: i64) {
    let mut bodies = Vec::new();
    for (tenant, key, status) in wrong(parties) {
        let ask = stack.ask_with(tenant, &key);
        let owns = key == parties.garden.query;
        let mut said = BTreeSet::new();
        for (path, parameters) in READS {
            for answer in read(&ask, path, parameters, at).await {
                let text = answer.text();
                assert_eq!(answer.status, status, "{path} as {tenant}: {text}");
                reveals_nothing(&text, owns);
                let challenge = answer.header("www-authenticate");
                assert_eq!(
                    status == 401,
                    challenge.starts_with("Basic"),
                    "{path}: {challenge:?}"
                );
                said.insert(text);
            }
        }
        assert_eq!(said.len(), 1, "the same refusal everywhere: {said:?}");
        bodies.extend(said);
    }
    // A tenant that exists and one that does not look the same to a stranger.
    let unknown = PlainKey::generate(KeyClass::Query)
        .unwrap()
        .expose_once()
        .to_owned();
    let mut answers = BTreeSet::new();
    for tenant in ["garden", "ten_garden", "nobody"] {
        let answer = stack
            .ask_with(tenant, &unknown)
            .get("/api/v1/labels", &[])
            .await;
        answers.insert((answer.status, answer.text()));
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(
        bodies[6], bodies[7],
        "another's tenant and no tenant look the same"
    );
}

async fn strangers_at_the_gateway(stack: &Stack, parties: &Parties) {
    let request = otlp::request(&[], &[]).to_string();
    let push = async |tenant: &str, key: &str| {
        let credentials = format!("{tenant}:{key}");
        let encoded = STANDARD.encode(credentials);
        stack
            .ingest_with("")
            .bare(reqwest::Method::POST, "/v1/metrics")
            .header("content-type", push::JSON)
            .header("authorization", &format!("Basic {encoded}"))
            .body(request.clone())
            .send()
            .await
    };
    assert_eq!(push("garden", &parties.garden.ingest).await.status, 200);
    let unknown = PlainKey::generate(KeyClass::Ingest)
        .unwrap()
        .expose_once()
        .to_owned();
    for (tenant, key, status) in [
        ("garden", "hunter2", 401),
        ("garden", unknown.as_str(), 401),
        ("rival", parties.garden.ingest.as_str(), 401),
        ("garden", parties.garden.query.as_str(), 403),
    ] {
        let answer = push(tenant, key).await;
        assert_eq!(answer.status, status, "{}", answer.text());
        reveals_nothing(&answer.error().message, key == parties.garden.ingest);
    }
    // Apart from the number of the request.
    let [there, nowhere] = [
        push("garden", &unknown).await,
        push("nobody", &unknown).await,
    ]
    .map(|answer| (answer.status, answer.error().code, answer.error().message));
    assert_eq!(there, nowhere);
}

/// Nothing in a refusal may name a tenant, data, a key, or where the data is; only who holds a whole key
/// (`owns`) may be told whose it is.
fn reveals_nothing(text: &str, owns: bool) {
    assert!(!text.is_empty());
    for secret in [MARK, "garden", "ten_", "rival", "ClickHouse", "SELECT"] {
        let allowed = owns && secret == "garden";
        assert!(allowed || !text.contains(secret), "{secret}: {text}");
    }
    let key = Regex::new("slc[iqa]_[0-9A-Za-z]").unwrap();
    assert!(!key.is_match(text), "{text}");
}
