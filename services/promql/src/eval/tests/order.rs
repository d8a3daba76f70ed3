//! The order of an instant vector where values are equal: as a Prometheus 3.5.3 with the same samples gave it.

use super::*;

/// Sixty series with five values and NaN among them, and texts with numbers in them.
fn tied() -> Vec<Series> {
    let texts = ["1", "01", "001", "a1", "a01", "10", "9", "a", "a-", "1a"];
    (0_u32..60)
        .map(|place| {
            let value = if place % 6 == 5 {
                f64::NAN
            } else {
                f64::from(place * 7 % 5)
            };
            let text = texts[usize::try_from(place * 3 % 10).unwrap()];
            let name = format!("{place:02}");
            let labels = [("__name__", "tied"), ("n", &name), ("text", text)];
            series(&labels, &[(60, value)])
        })
        .collect()
}

fn order(query: &str) -> String {
    let found = vector(query, 60, &tied());
    let names: Vec<&str> = found.iter().map(|one| one.labels.get("n")).collect();
    names.join(" ")
}

#[test]
fn equal_values_and_nan_are_sorted_to_the_places_where_prometheus_has_them() {
    assert_eq!(
        order("sort(tied)"),
        "15 10 55 25 50 30 45 20 40 00 58 38 33 13 08 43 48 28 18 03 31 16 01 56 51 46 26 06 21 36 \
         39 09 54 14 34 24 04 49 19 44 52 37 42 07 22 27 57 02 32 12 59 17 11 23 47 05 53 41 35 29"
    );
    assert_eq!(
        order("sort_desc(tied)"),
        "42 57 02 27 32 52 37 07 22 12 44 39 09 49 14 34 04 54 24 19 46 51 36 01 06 56 26 16 31 21 \
         43 28 03 33 18 48 58 13 38 08 30 15 10 40 20 45 00 25 55 50 59 11 23 47 35 17 53 05 29 41"
    );
}

#[test]
fn the_best_of_equal_values_are_those_that_prometheus_keeps_in_its_order() {
    assert_eq!(
        order("topk(20, tied)"),
        "02 32 37 57 22 07 52 42 27 12 49 04 19 24 14 44 09 39 54 34"
    );
    assert_eq!(
        order("bottomk(20, tied)"),
        "10 50 30 00 15 45 55 25 40 20 43 28 58 33 48 03 38 08 18 13"
    );
}

#[test]
fn limited_series_stand_as_in_the_heap_of_prometheus() {
    assert_eq!(order("limitk(8, tied)"), "05 03 00 01 04 02 06 07");
}

#[test]
fn labels_that_differ_in_zeros_alone_are_sorted_as_by_prometheus() {
    assert_eq!(
        order(r#"sort_by_label(tied{n=~"[01]."}, "text")"#),
        "07 00 04 14 17 10 03 13 02 12 05 15 09 19 01 08 18 11 06 16"
    );
    assert_eq!(
        order(r#"sort_by_label_desc(tied{n=~"[01]."}, "text")"#),
        "16 06 01 18 11 08 19 09 15 05 12 02 13 03 10 07 14 00 04 17"
    );
}
