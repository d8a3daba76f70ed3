//! Turns a resource into the `target_info` series that carries all of its attributes.
//!
//! As Prometheus does it: a gauge of 1 from the earliest to the latest time of the resource's points,
//! close enough together to be found by any lookback.

use schemas::rows::SeriesKind;

use super::Refusal;
use super::labels::{Label, Labels, label_set};
use super::metadata::About;
use super::push::{Place, Push};
use super::resource::identity;
use super::rows::{Shape, Slot};
use crate::batch::Sample;
use crate::decode::message::KeyValue;

const NAME: &str = "target_info";
const HELP: &str = "Target metadata";

/// What makes `job` and `instance`, and is therefore no label of its own.
const IDENTIFYING: [&str; 3] = ["service.name", "service.namespace", "service.instance.id"];

/// Half of the lookback of queries, milliseconds.
const STEP_MS: i64 = 150_000;

/// Most samples of a resource that has fewer points than this. A push over more time than that many
/// steps has them further apart, so that a few points of many days do not become thousands of rows.
const MOST_SAMPLES: i64 = 24;

/// The times of a resource's stored points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Milliseconds since the epoch.
    pub(super) earliest: i64,
    /// Milliseconds since the epoch.
    pub(super) latest: i64,
    pub(super) points: i64,
}

impl Span {
    /// The span with one more point.
    pub(super) fn with(span: Option<Self>, ts: i64) -> Self {
        span.map_or(
            Self {
                earliest: ts,
                latest: ts,
                points: 1,
            },
            |span| Self {
                earliest: span.earliest.min(ts),
                latest: span.latest.max(ts),
                points: span.points + 1,
            },
        )
    }

    /// Earliest, then a step apart, then latest.
    fn times(self) -> impl Iterator<Item = i64> {
        let step = STEP_MS.max((self.latest - self.earliest) / MOST_SAMPLES.max(self.points));
        let before = std::iter::successors(Some(self.earliest), move |ts| Some(ts + step));
        before
            .take_while(move |ts| *ts < self.latest)
            .chain([self.latest])
    }
}

/// Adds the series of a resource of which points were stored in `span`. Nothing is added for a
/// resource without `job` and `instance`, or with nothing else to tell.
pub(super) fn add<'c>(push: &mut Push<'c>, attributes: &[KeyValue<'c>], span: Span) {
    let given = identity(attributes, push.translation(), push.arena);
    let others: Vec<KeyValue<'c>> = attributes
        .iter()
        .filter(|attribute| !IDENTIFYING.contains(&attribute.key))
        .copied()
        .collect();
    if given.is_empty() || others.is_empty() {
        return;
    }
    let family = push.families.intern(NAME.into());
    let place = Place::of_resource(&given, family);
    let mut labels = Labels::new();
    let rules = push.rules(push.arena);
    let written = label_set(&mut labels, &others, &given, &[], &rules).and_then(|_| {
        span.times()
            .try_for_each(|ts| sample(push, &place, &labels, ts))
    });
    match written {
        Ok(()) => {
            let about = About {
                kind: "gauge",
                unit: "",
                help: HELP,
            };
            push.metadata.set(family, about);
        }
        Err(refusal) => push
            .tally
            .note(format!("target_info was left out: {}", refusal.detail)),
    }
}

fn sample(
    push: &mut Push<'_>,
    place: &Place<'_>,
    labels: &[Label<'_>],
    ts: i64,
) -> Result<(), Refusal> {
    let shape = Shape {
        kind: SeriesKind::Number,
        bounds: &[],
    };
    let (id, slot) = push.slot(place, shape, labels, ts)?;
    if slot == Slot::Fresh {
        push.rows.samples.push(Sample {
            name: place.family.index,
            id,
            ts,
            value: 1.0,
            start_ts: 0,
        });
    }
    Ok(())
}
