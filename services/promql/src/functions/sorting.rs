//! `sort`, `sort_desc`, `sort_by_label` and `sort_by_label_desc`: the order of an instant vector.

use crate::eval::grid::Column;

use super::order::natural_less;
use super::pdq;

/// Sorts by value, NaN last; histograms have no place in the order and go.
pub(crate) fn by_value(columns: &mut Vec<Column>, falling: bool) {
    columns.retain(|column| column.floats.any());
    for column in columns.iter_mut() {
        column.hists = Vec::new();
    }
    // As in Prometheus, everything belongs before NaN, even NaN.
    pdq::sort(columns, |left, right| {
        let (left, right) = (left.vals[0], right.vals[0]);
        right.is_nan() || if falling { left > right } else { left < right }
    });
}

/// Sorts by the values of `labels`, numbers in them as numbers, then by all labels.
pub(crate) fn by_label(columns: &mut [Column], labels: &[&str], falling: bool) {
    pdq::sort(columns, |left, right| {
        for label in labels {
            let (a, b) = (left.labels.get(label), right.labels.get(label));
            if a != b {
                // Of 1 and 01, each is before the other.
                return natural_less(a, b) != falling;
            }
        }
        if falling {
            left.labels > right.labels
        } else {
            left.labels < right.labels
        }
    });
}
