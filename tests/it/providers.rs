//! Thirteen minutes of Cog's, Modal's and Baseten's metrics and the queries of their dashboards, with
//! values worked out by hand. All counters grow evenly; over `[5m]` a rate is the gain of a minute / 60.

mod baseten;
mod cog;
mod modal;

use auth::translation::{NamingStrategy, Profile};
use serde_json::Value;
use tests::clock::{minutes_until, this_second};
use tests::keys::Keys;
use tests::otlp::{self, Pairs};
use tests::stack::Stack;

use crate::steps::{Expected, gives, range_equals_instants};

type Case = (&'static str, Expected<'static>);

#[tokio::test]
async fn the_dashboard_queries_give_the_values_worked_out_by_hand() {
    let (stack, (cog_keys, modal_keys, dotted_key, baseten_keys)) = Stack::with(|directory| {
        let cog = directory.tenant_from("cog", Profile::Cog);
        let modal = directory.tenant_from("modal", Profile::Modal);
        let dotted = directory.ingest_naming("modal", NamingStrategy::NoTranslation);
        let baseten = directory.tenant_from("baseten", Profile::Baseten);
        (cog, modal, dotted, baseten)
    })
    .await;
    let times = minutes_until(this_second(), 13);
    for (k, ts) in (0..).zip(&times) {
        for (key, request) in [
            (&cog_keys.ingest, cog::minute(k, *ts)),
            (&modal_keys.ingest, modal::minute(*ts)),
            (&dotted_key, modal::dotted(*ts)),
            (&baseten_keys.ingest, baseten::minute(k, *ts)),
        ] {
            stack.ingest_with(key).all(&request).await;
        }
    }
    check(&stack, &cog_keys, &times, cog::CASES).await;
    check(&stack, &modal_keys, &times, modal::CASES).await;
    check(&stack, &baseten_keys, &times, baseten::CASES).await;
}

async fn check(stack: &Stack, keys: &Keys, times: &[i64], cases: &[Case]) {
    let ask = stack.ask_with(&keys.tenant, &keys.query);
    for (query, expected) in cases {
        gives(&ask, query, times[times.len() - 1], expected).await;
        range_equals_instants(&ask, query, times).await;
    }
}

/// A counter that had `base` at minute 0.
fn grown(labels: Pairs<'_>, ts: i64, base: f64, gain: f64, k: u32) -> Value {
    otlp::number(labels, ts, base + gain * f64::from(k))
}

/// A histogram that had run for 100 minutes at minute 0.
fn observed(labels: Pairs<'_>, ts: i64, bounds: &[f64], gains: &[u64], k: u32) -> Value {
    let counts: Vec<u64> = gains.iter().map(|gain| gain * u64::from(100 + k)).collect();
    otlp::observations(labels, ts, 1.0, bounds, &counts)
}
