//! Orders that Prometheus sorts by: values with NaN first, texts with numbers in them.

use std::cmp::Ordering;

use crate::number::count;

use super::pdq;

/// The quantile of some values, which it sorts: between two values by their weighted mean; -Inf below
/// 0, +Inf above 1, NaN without values.
pub(crate) fn quantile(quantile: f64, values: &mut [f64]) -> f64 {
    if values.is_empty() || quantile.is_nan() {
        return f64::NAN;
    }
    if quantile < 0.0 {
        return f64::NEG_INFINITY;
    }
    if quantile > 1.0 {
        return f64::INFINITY;
    }
    // Zeros of both signs are equal, and which of them is read is a matter of the way of sorting.
    pdq::sort(values, |left, right| left.is_nan() || left < right);
    let last = values.len() - 1;
    let rank = quantile * count(last);
    let floor = rank.floor();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank lies between 0 and the last index"
    )]
    let lower = (floor as usize).min(last);
    let upper = (lower + 1).min(last);
    let weight = rank - floor;
    values[lower] * (1.0 - weight) + values[upper] * weight
}

/// Whether `left` stands before `right` where runs of digits count as numbers.
pub(crate) fn natural_less(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let (mut at_left, mut at_right) = (0, 0);
    loop {
        let (Some(a), Some(b)) = (left.get(at_left), right.get(at_right)) else {
            return at_left >= left.len() && at_right < right.len();
        };
        if a.is_ascii_digit() && b.is_ascii_digit() {
            let number_left = number(left, &mut at_left);
            let number_right = number(right, &mut at_right);
            let order = number_left.len().cmp(&number_right.len());
            match order.then_with(|| number_left.cmp(number_right)) {
                Ordering::Equal => {}
                order => return order == Ordering::Less,
            }
        } else if a == b {
            at_left += 1;
            at_right += 1;
        } else {
            return a < b;
        }
    }
}

/// The run of digits at `at` without leading zeros; moves `at` behind it. As in Prometheus' sort, a zero
/// takes whatever follows it into the run.
fn number<'t>(text: &'t [u8], at: &mut usize) -> &'t [u8] {
    let mut first = text[*at];
    let mut len = 1;
    while let Some(next) = text.get(*at + len) {
        if first == b'0' {
            *at += 1;
            first = *next;
        } else if next.is_ascii_digit() {
            len += 1;
        } else {
            break;
        }
    }
    let run = &text[*at..*at + len];
    *at += len;
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_and_know_their_limits() {
        let mut values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(0.5, &mut values), 2.5);
        assert_eq!(quantile(0.0, &mut values), 1.0);
        assert_eq!(quantile(1.0, &mut values), 4.0);
        assert_eq!(quantile(-1.0, &mut values), f64::NEG_INFINITY);
        assert_eq!(quantile(2.0, &mut values), f64::INFINITY);
        assert!(quantile(f64::NAN, &mut values).is_nan());
        assert!(quantile(0.5, &mut []).is_nan());
    }

    #[test]
    fn numbers_in_texts_count_as_numbers() {
        assert!(natural_less("cpu2", "cpu10"));
        assert!(!natural_less("cpu10", "cpu2"));
        assert!(natural_less("a", "b"));
        assert!(natural_less("a", "a1"));
        assert!(natural_less("v01", "v2"));
        assert!(!natural_less("same", "same"));
    }
}
