//! Batches made by hand → the order and the cuts of their units.

use super::{Merging, Row, Unit, WITNESSES, Words, each_unit, in_order, ranked, unit_length};
use crate::batch::{Batch, Histogram, Sample};

const MIDNIGHT: i64 = 1_793_491_200_000;
const HOUR: i64 = 3_600_000;

fn sample(name: u32, id: u64, ts: i64) -> Sample {
    Sample {
        name,
        id,
        ts,
        value: 1.0,
        start_ts: 0,
    }
}

fn batch(tenant: &str, names: &[&str], samples: Vec<Sample>) -> Batch {
    Batch {
        tenant: tenant.to_owned(),
        ret_days: 30,
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        samples,
        ..Batch::default()
    }
}

fn units(batches: &[Batch]) -> Vec<Unit> {
    let mut units = Vec::new();
    each_unit::<Sample>(batches, |unit| {
        units.push(unit);
        true
    });
    units
}

#[test]
fn rows_of_all_batches_are_in_the_order_of_the_tables_key() {
    let up_and_down = [sample(0, 1, MIDNIGHT), sample(1, 1, MIDNIGHT)];
    let up = [(9, 0), (2, 3), (9, 1)].map(|(id, hours)| sample(0, id, MIDNIGHT + hours * HOUR));
    let batches = [
        batch("b", &["up", "down"], up_and_down.to_vec()),
        batch("a", &["up"], up.to_vec()),
        batch("b", &["down"], vec![sample(0, 0, MIDNIGHT)]),
    ];
    let words = Words::of(&batches);
    assert_eq!(words.tenants, ["a", "b"]);
    assert_eq!(words.metrics, ["down", "up"]);
    let told: Vec<_> = in_order::<Sample>(&batches, &words)
        .iter()
        .map(|row| {
            let hour = (row.point.ts - MIDNIGHT) / HOUR;
            (row.tenant, row.metric, row.point.id, hour)
        })
        .collect();
    let (a, b, down, up) = (0, 1, 0, 1);
    let wanted = [
        (a, up, 9, 0),
        (a, up, 9, 1),
        (a, up, 2, 3),
        (b, down, 0, 0),
        (b, down, 1, 0),
        (b, up, 1, 0),
    ];
    assert_eq!(told, wanted);
}

#[test]
fn every_partition_has_a_unit_of_its_own() {
    let around = vec![sample(0, 1, MIDNIGHT - 1), sample(0, 1, MIDNIGHT)];
    let mut shorter = batch("a", &["up"], vec![sample(0, 2, MIDNIGHT)]);
    shorter.ret_days = 7;
    let units = units(&[batch("a", &["up"], around), shorter]);
    let times: Vec<Vec<(u64, i64)>> = units
        .iter()
        .map(|unit| {
            let witnesses = unit.witnesses.iter();
            witnesses
                .map(|(_, _, _, id, ts)| (*id, ts - MIDNIGHT))
                .collect()
        })
        .collect();
    assert_eq!(times, [vec![(2, 0)], vec![(1, -1)], vec![(1, 0)]]);
}

#[test]
fn witnesses_are_few_and_reach_from_the_first_row_to_the_last() {
    for rows in [1, WITNESSES, WITNESSES + 1, 1000] {
        let rows = u64::try_from(rows).unwrap();
        let samples = (1..=rows).map(|id| sample(0, id, MIDNIGHT)).collect();
        let units = units(&[batch("a", &["up"], samples)]);
        let ids: Vec<u64> = units[0].witnesses.iter().map(|point| point.3).collect();
        assert_eq!(
            (units.len(), ids.first(), ids.last()),
            (1, Some(&1), Some(&rows))
        );
        assert!(ids.len() <= WITNESSES + 1, "{} of {rows}", ids.len());
    }
}

#[test]
fn a_unit_ends_before_it_has_too_many_bytes_but_has_a_row() {
    let histogram = |counts: usize| Histogram {
        name: 0,
        id: 1,
        ts: MIDNIGHT,
        start_ts: 0,
        count: 0,
        sum: None,
        min: None,
        max: None,
        scale: 0,
        zero_threshold: 0.0,
        zero_count: 0,
        pos_offset: 0,
        pos: vec![0; counts],
        neg_offset: 0,
        neg: Vec::new(),
    };
    for (counts, length) in [(10, 3), (4_000_000, 2), (9_000_000, 1)] {
        let points: Vec<Histogram> = (0..3).map(|_| histogram(counts)).collect();
        let rows: Vec<Row<'_, Histogram>> = points
            .iter()
            .map(|point| Row {
                ret_days: 1,
                day: 1,
                tenant: 0,
                metric: 0,
                b: 0,
                point,
            })
            .collect();
        assert_eq!(unit_length(&rows), length, "{counts} counts a row");
    }
}

#[test]
fn a_kind_without_points_makes_no_unit() {
    let batches = [batch("a", &["up"], vec![sample(0, 1, 1)])];
    let mut histograms = 0;
    each_unit::<Histogram>(&batches, |_| {
        histograms += 1;
        true
    });
    assert_eq!((units(&batches).len(), histograms), (1, 0));
}

#[test]
fn words_are_ranked_once_each() {
    let (words, places) = ranked(["b", "", "a", "b"].into_iter());
    assert_eq!(words, ["", "a", "b"]);
    assert_eq!(places, [2, 0, 1, 2]);
}

#[tokio::test]
async fn units_arrive_in_order_and_then_none() {
    let samples = vec![sample(0, 1, MIDNIGHT - 1), sample(0, 1, MIDNIGHT)];
    let batches = std::sync::Arc::new(vec![batch("a", &["up"], samples)]);
    let mut merging = Merging::begin::<Sample>(batches);
    let mut times = Vec::new();
    while let Some(unit) = merging.next().await.unwrap() {
        times.push(unit.witnesses.first().unwrap().4 - MIDNIGHT);
    }
    assert_eq!(times, [-1, 0]);
}
