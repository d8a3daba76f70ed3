//! What the gateway says when something it needs is away or broken.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use auth::directory::{Answer, KeyDirectory};
use auth::key::PresentedKey;
use auth::refusal::Refusal;
use jiff::Timestamp;

use super::fixture::{Gateway, JSON, PROTOBUF, settings};
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

/// Waits until `holds`, giving way to the gateway's tasks.
async fn until(holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting)
        .await
        .expect("it holds at last");
}

#[tokio::test]
async fn the_gateway_is_ready_when_clickhouse_answers_and_not_when_it_stops() {
    let gateway = Gateway::with(settings(), Storage::start().await.address).await;
    until(|| gateway.readiness.late().is_empty()).await;
    gateway.stop.cancel();
    until(|| gateway.readiness.late() == ["gateway: stopping"]).await;
    let Gateway { running, .. } = gateway;
    running.done.await.unwrap();
}

#[tokio::test]
async fn without_clickhouse_the_gateway_says_that_it_waits_for_it() {
    let gateway = Gateway::with(settings(), Storage::absent().await).await;
    until(|| {
        gateway
            .readiness
            .late()
            .iter()
            .any(|line| line.contains("does not answer"))
    })
    .await;
}
