//! A number → a segment in which no two points are the same.

use schemas::rows::{EXPLICIT_SCALE, SeriesKind, day_of};

use crate::batch::{Batch, Histogram, Metadata, Sample, Series};

/// A midnight that no retention of these tests has reached yet.
pub(super) const MIDNIGHT: i64 = 1_988_150_400_000;

/// Points of a series, at both sides of midnight.
const TIMES: [i64; 4] = [-120_000, -60_000, 0, 60_000];

/// Points of the batches of [`of`], in each of the two tables.
pub(super) const POINTS: u64 = 2 * 2 * 4 * 1500;

/// Two tenants of different retention, with 3,000 series a kind each, on two days. Different numbers have
/// different series.
pub(super) fn of(number: u64) -> Vec<Batch> {
    let tenants = [("ten_a", 30), ("ten_b", 7)];
    let halves = tenants.iter().flat_map(|tenant| [(tenant, 0), (tenant, 1)]);
    halves
        .map(|((tenant, ret_days), half)| {
            let ids = (0..1500).map(move |at| number * 10_000 + half * 1500 + at);
            batch(tenant, *ret_days, ids)
        })
        .collect()
}

fn batch(tenant: &str, ret_days: u16, ids: impl Iterator<Item = u64> + Clone) -> Batch {
    let points = ids
        .clone()
        .flat_map(|id| TIMES.map(|time| (id, MIDNIGHT + time)));
    let days = ids.flat_map(|id| [(id, day_of(MIDNIGHT - 1)), (id, day_of(MIDNIGHT))]);
    Batch {
        tenant: tenant.to_owned(),
        ret_days,
        names: vec!["depth".to_owned(), "seconds".to_owned()],
        samples: points.clone().map(|(id, ts)| sample(0, id, ts)).collect(),
        histograms: points.map(|(id, ts)| histogram(1, id, ts)).collect(),
        series: days
            .map(|(id, day)| Series {
                name: 0,
                day,
                id,
                kind: SeriesKind::Number.code(),
                labels: vec![("app".to_owned(), id.to_string())],
                bounds: Vec::new(),
                first_seen: 1,
                last_seen: 2,
            })
            .collect(),
        metadata: vec![Metadata {
            family: "depth".to_owned(),
            kind: "gauge".to_owned(),
            unit: String::new(),
            help: "waiting".to_owned(),
            updated: 1,
        }],
    }
}

pub(super) fn sample(name: u32, id: u64, ts: i64) -> Sample {
    Sample {
        name,
        id,
        ts,
        value: 0.5,
        start_ts: 0,
    }
}

pub(super) fn histogram(name: u32, id: u64, ts: i64) -> Histogram {
    Histogram {
        name,
        id,
        ts,
        start_ts: 0,
        count: 7,
        sum: Some(0.5),
        min: None,
        max: None,
        scale: EXPLICIT_SCALE,
        zero_threshold: 0.0,
        zero_count: 0,
        pos_offset: 0,
        pos: vec![1, 2, 4, 0],
        neg_offset: 0,
        neg: Vec::new(),
    }
}
