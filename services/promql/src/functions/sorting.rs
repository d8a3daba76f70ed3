//! `sort`, `sort_desc`, `sort_by_label` and `sort_by_label_desc`: the order of an instant vector.

use std::cmp::Ordering;

use crate::eval::grid::Column;

use super::order::{ascending, descending, natural_less};

/// Sorts by value, NaN last; histograms have no place in the order and go.
pub(crate) fn by_value(columns: &mut Vec<Column>, falling: bool) {
    columns.retain(|column| column.floats.any());
    for column in columns.iter_mut() {
        column.hists = Vec::new();
    }
    // NaN stands first in both orders, so each is the reverse of the other's order.
    columns.reverse();
    let order = if falling { ascending } else { descending };
    columns.sort_by(|left, right| order(left.vals[0], right.vals[0]));
    columns.reverse();
}

/// Sorts by the values of `labels`, numbers in them as numbers, then by all labels.
pub(crate) fn by_label(columns: &mut [Column], labels: &[&str], falling: bool) {
    let order = |left: &Column, right: &Column| {
        for label in labels {
            let (a, b) = (left.labels.get(label), right.labels.get(label));
            if a != b {
                return if natural_less(a, b) {
                    Ordering::Less
                } else {
                    Ordering::Greater
                };
            }
        }
        left.labels.cmp(&right.labels)
    };
    columns.sort_by(|left, right| {
        let order = order(left, right);
        if falling { order.reverse() } else { order }
    });
}
