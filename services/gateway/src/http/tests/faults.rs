//! What the gateway says when something it needs is away or broken.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use auth::directory::{Answer, KeyDirectory};
use auth::key::PresentedKey;
use auth::refusal::Refusal;
use jiff::Timestamp;

use bytesize::ByteSize;

use super::fixture::{Gateway, JSON, PROTOBUF, json, protobuf, settings, until};
use super::probe::send;
use super::storage::Storage;

/// A directory that cannot answer.
#[derive(Debug)]
enum Broken {
    /// It says so.
    Away,
    /// It panics.
    Defective,
}

impl KeyDirectory for Broken {
    fn verify<'a>(
        &'a self,
        _: &'a PresentedKey,
        _: Option<&'a str>,
        _: IpAddr,
        _: Timestamp,
    ) -> Answer<'a> {
        match self {
            Self::Away => {
                let refusal =
                    Refusal::later("no keys are known yet: try again", Duration::from_secs(7));
                Box::pin(std::future::ready(Err(refusal)))
            }
            Self::Defective => panic!("a defect"),
        }
    }
}

#[tokio::test]
async fn a_directory_that_cannot_answer_is_503_and_never_401() {
    let gateway = Gateway::asking(Arc::new(Broken::Away)).await;
    for encoding in [JSON, PROTOBUF] {
        let told = send(gateway.push().header("content-type", encoding))
            .await
            .failure(503, encoding);
        assert_eq!(
            (&*told.reason, told.retry_seconds),
            ("DIRECTORY_UNAVAILABLE", Some(7))
        );
    }
}

#[tokio::test]
async fn a_panic_is_503_in_the_encoding_of_the_request() {
    let gateway = Gateway::asking(Arc::new(Broken::Defective)).await;
    for encoding in [JSON, PROTOBUF] {
        let told = send(gateway.push().header("content-type", encoding))
            .await
            .failure(503, encoding);
        assert_eq!(told.reason, "INTERNAL");
        assert!(!told.message.contains("defect"), "{}", told.message);
    }
    assert!(
        gateway
            .counters()
            .contains("class=\"5xx\",kind=\"unavailable\"} 2")
    );
}

#[tokio::test]
async fn the_gateway_is_ready_while_it_takes_pushes_and_not_when_it_stops() {
    let gateway = Gateway::with(settings(), Storage::absent().await).await;
    until(|| gateway.readiness.late().is_empty()).await;
    gateway.stop.cancel();
    until(|| gateway.readiness.late() == ["gateway: stopping"]).await;
    let Gateway { running, .. } = gateway;
    running.done.await.unwrap();
}

#[tokio::test]
async fn a_full_spool_is_503_and_not_ready_until_there_is_room_again() {
    let storage = Storage::held_back().await;
    let mut config = settings();
    config.spool.max_bytes = ByteSize::b(6000);
    config.spool.segment_bytes = ByteSize::b(1000);
    config.spool.max_record_bytes = ByteSize::b(5000);
    let gateway = Gateway::with(config, storage.address).await;
    let push = |encoding, body| gateway.push().header("content-type", encoding).body(body);
    let mut taken = 0;
    let told = loop {
        let answer = send(push(JSON, json(10, 0))).await;
        if answer.status != 200 {
            break answer.failure(503, JSON);
        }
        taken += 1;
        assert!(taken < 50, "it never fills");
    };
    assert!(taken > 3);
    assert_eq!((told.code, &*told.reason), (14, "SPOOL_FULL"));
    assert!((5..=15).contains(&told.retry_seconds.unwrap()));
    let told = send(push(PROTOBUF, protobuf(10, 0)))
        .await
        .failure(503, PROTOBUF);
    assert_eq!(told.reason, "SPOOL_FULL");
    gateway
        .counted("sluice_gateway_spool_refused_records_total{reason=\"full\"} 2")
        .await;
    until(|| {
        gateway
            .readiness
            .late()
            .iter()
            .any(|line| line.contains("are used"))
    })
    .await;
    storage.let_finish(1000);
    gateway
        .counted("sluice_gateway_spool_waiting_segments 0.0")
        .await;
    assert_eq!(send(push(JSON, json(10, 0))).await.success(JSON), None);
    until(|| gateway.readiness.late().is_empty()).await;
    let accepted = format!("sluice_gateway_points_accepted_total {}", 10 * (taken + 1));
    gateway.counted(&accepted).await;
}
