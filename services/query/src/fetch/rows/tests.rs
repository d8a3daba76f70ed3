//! Blocks of rows become columns, series by series.

use std::collections::HashMap;

use super::*;
use crate::fetch::sql::Window;
use crate::fetch::testing::{NativeBlock, block};

fn unit(table: Table, metrics: &[&str], series: &[(u32, u64)], detail: Detail) -> Unit {
    let mut unit = Unit::for_tests(table, Window::new(0, 1000).unwrap(), metrics, detail);
    unit.slots = series
        .iter()
        .enumerate()
        .map(|(slot, key)| (*key, slot))
        .collect::<HashMap<_, _>>();
    unit
}

#[test]
fn rows_go_to_their_series_and_others_are_passed_over() {
    let unit = unit(Table::Samples, &["up"], &[(1, 7), (1, 9)], Detail::Totals);
    let rows = block(
        &NativeBlock::new(5)
            .u64s("id", &[7, 7, 8, 9, 7])
            .i64s("ts", &[30, 40, 1, 5, 10])
            .f64s("value", &[3.0, 4.0, 0.0, 5.0, 1.0]),
    );
    let mut slots = Slots::empty(&unit);
    assert_eq!(slots.add(&unit, &rows).unwrap(), 4);
    slots.tidy();
    let Slots::Numbers(numbers) = slots else {
        panic!("floats were asked for")
    };
    assert_eq!(
        numbers[0],
        Numbers {
            ts: vec![10, 30, 40],
            values: vec![1.0, 3.0, 4.0]
        }
    );
    assert_eq!(
        numbers[1],
        Numbers {
            ts: vec![5],
            values: vec![5.0]
        }
    );
}

#[test]
fn equal_ids_of_different_metrics_are_different_series() {
    let unit = unit(
        Table::Samples,
        &["a", "b"],
        &[(1, 7), (2, 7)],
        Detail::Totals,
    );
    let rows = block(
        &NativeBlock::new(2)
            .column("m", "UInt32", &[2, 0, 0, 0, 1, 0, 0, 0])
            .u64s("id", &[7, 7])
            .i64s("ts", &[1, 1])
            .f64s("value", &[20.0, 10.0]),
    );
    let mut slots = Slots::empty(&unit);
    slots.add(&unit, &rows).unwrap();
    let Slots::Numbers(numbers) = slots else {
        panic!("floats were asked for")
    };
    assert_eq!((numbers[0].values[0], numbers[1].values[0]), (10.0, 20.0));
}

#[test]
fn histogram_points_keep_their_buckets() {
    let unit = unit(Table::Histograms, &["h"], &[(1, 7)], Detail::Everything);
    let rows = block(
        &NativeBlock::new(3)
            .u64s("id", &[6, 7, 7])
            .i64s("ts", &[5, 10, 20])
            .u64s("count", &[1, 3, 4])
            .column(
                "sum",
                "Nullable(Float64)",
                &[&[0, 0, 1][..], &[0; 8], &2.5_f64.to_le_bytes(), &[0; 8]].concat(),
            )
            .arrays("pos", &[&[9, 9], &[1, 2], &[]])
            .column("scale", "Int8", &[0, 2, 0xff])
            .f64s("zero_threshold", &[0.0, 0.5, 0.0])
            .u64s("zero_count", &[0, 1, 0])
            .column(
                "pos_offset",
                "Int32",
                &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 3, 0, 0, 0],
            )
            .column("neg_offset", "Int32", &[0; 12])
            .arrays("neg", &[&[], &[4], &[5, 6]]),
    );
    let mut slots = Slots::empty(&unit);
    assert_eq!(slots.add(&unit, &rows).unwrap(), 2 * 2 + 2 + 3);
    let Slots::Points(points) = slots else {
        panic!("histograms were asked for")
    };
    let points = &points[0];
    assert_eq!(
        (&points.ts[..], &points.count[..]),
        (&[10, 20][..], &[3, 4][..])
    );
    assert_eq!(points.sum, [Some(2.5), None]);
    assert_eq!(
        (points.pos.get(0), points.pos.get(1)),
        (&[1, 2][..], &[][..])
    );
    assert_eq!(
        (points.neg.get(0), points.neg.get(1)),
        (&[4][..], &[5, 6][..])
    );
    assert_eq!((points.scale(0), points.scale(1)), (2, -1));
    assert_eq!(points.pos_offset, [-1, 3]);
}

#[test]
fn a_query_that_reads_too_much_is_stopped() {
    let budget = Budget {
        samples: 10,
        series: 1,
        bytes: 100,
        deadline: tokio::time::Instant::now(),
        both_views: false,
    };
    let allowance = Allowance::new(&budget);
    assert!(allowance.take_samples(10).is_ok());
    assert!(matches!(
        allowance.take_samples(1),
        Err(FetchError::TooManySamples)
    ));
    assert!(allowance.take_bytes(100).is_ok());
    assert!(matches!(
        allowance.take_bytes(1),
        Err(FetchError::TooManyBytes(100))
    ));
    assert_eq!(allowance.taken(), (11, 101));
}
