//! Every answer of the ingest path in this version, in both encodings: status, headers, and a body that
//! says what to do.

mod refusals;
mod points;
mod overload;

use auth::key::{KeyClass, PlainKey};
use auth::scope::Scope;
use auth::tenant::Limits;
use auth::translation::Profile;
use reqwest::Method;
use serde_json::{Value, json};
use tests::clock::this_second;
use tests::otlp;
use tests::process::until;
use tests::proto;
use tests::push::{Call, Ingest, JSON, PROTOBUF, gzip};
use tests::stack::Stack;

/// Keys for every kind of refusal.
struct Cast {
    good: String,
    small: String,
    reader: String,
    admin: String,
    unknown: String,
    logs_only: String,
}

async fn start() -> (Stack, Cast) {
    Stack::with(|directory| {
        let keys = directory.tenant("t");
        directory.limited_tenant(
            "small",
            Limits {
                max_request_bytes: 2_000,
                ..Limits::standard()
            },
        );
        Cast {
            good: keys.ingest,
            small: directory.ingest("small", Profile::Generic),
            reader: keys.query,
            admin: directory.key("t", KeyClass::Admin, Scope::TenantAdmin, Profile::Generic),
            unknown: PlainKey::generate(KeyClass::Ingest)
                .unwrap()
                .expose_once()
                .to_owned(),
            logs_only: directory.key("t", KeyClass::Ingest, Scope::LogsWrite, Profile::Generic),
        }
    })
    .await
}

/// A request with one point.
fn one_point(name: &str) -> Value {
    otlp::request(
        &[],
        &[otlp::gauge(
            name,
            "",
            &[otlp::number(&[], this_second(), 1.0)],
        )],
    )
}

/// `request` in the encoding that `kind` names.
fn body(kind: &str, request: &Value) -> Vec<u8> {
    if kind == PROTOBUF {
        proto::encode(request)
    } else {
        request.to_string().into_bytes()
    }
}

#[tokio::test]
async fn every_failure_is_a_status_in_the_encoding_of_the_request_that_says_what_to_do() {
    let (stack, cast) = start().await;
    for kind in [JSON, PROTOBUF] {
        refusals::credentials(&stack, &cast, kind).await;
        refusals::bodies(&stack, &cast, kind).await;
        refusals::paths_and_methods(&stack, &cast, kind).await;
    }
    refusals::unknown_types(&stack, &cast).await;
    refusals::preflight(&stack).await;
}

#[tokio::test]
async fn points_are_taken_or_rejected_one_by_one_and_counted() {
    let (stack, cast) = start().await;
    let gateway = stack.ingest_with(&cast.good);
    for kind in [JSON, PROTOBUF] {
        points::empty_requests_succeed(&gateway, kind).await;
    }
    points::rejects_are_counted_by_reason(&stack, &cast).await;
    points::aliases_of_the_path_are_the_path(&gateway).await;
    points::every_form_of_credentials_pushes(&stack, &cast.good).await;
}

#[tokio::test]
async fn slow_bodies_and_too_many_at_once_are_told_when_to_come_back() {
    let mut stack = Stack::prepare();
    stack.set("SLUICE__GATEWAY__BODY_TIMEOUT", "5s");
    stack.set("SLUICE__GATEWAY__IN_FLIGHT__TENANT_REQUESTS", "1");
    stack.set("SLUICE__GATEWAY__IN_FLIGHT__REQUESTS", "2");
    let tenants =
        stack.fill(|directory| ["one", "two", "three"].map(|slug| directory.tenant(slug)));
    stack.run().await;
    overload::meet(&stack, &tenants).await;
}
