//! Orders that Prometheus sorts by: values with NaN first, texts with numbers in them.

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

/// Whether `left`, which differs from `right`, stands before it where runs of digits count as numbers.
///
/// As in the package that Prometheus sorts with (facette/natsort), runs are compared one by one: as numbers where
/// both fit 64 bits, else as texts. Of two texts that are equal as far as one of them goes, the shorter is first; where
/// they end together, as 1 and 01 do, each is before the other. Nothing is before or after an empty text.
pub(crate) fn natural_less(mut left: &str, mut right: &str) -> bool {
    while !left.is_empty() && !right.is_empty() {
        let ((a, rest_left), (b, rest_right)) = (run(left), run(right));
        match (a.parse::<i64>(), b.parse::<i64>()) {
            (Ok(a), Ok(b)) if a != b => return a < b,
            (Ok(_), Ok(_)) => {}
            _ if a != b => return a < b,
            _ => {}
        }
        if rest_left.is_empty() || rest_right.is_empty() {
            return rest_left.is_empty();
        }
        (left, right) = (rest_left, rest_right);
    }
    false
}

/// The first run of digits or of anything else, and what follows.
fn run(text: &str) -> (&str, &str) {
    let digits = text.starts_with(|first: char| first.is_ascii_digit());
    let end = text.find(|next: char| next.is_ascii_digit() != digits);
    text.split_at(end.unwrap_or(text.len()))
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
        assert!(natural_less("a", "a-") && natural_less("a10", "a-"));
        assert!(natural_less("1", "01") && natural_less("01", "1"));
        assert!(!natural_less("", "x") && !natural_less("x", ""));
        // Beyond 64 bits digits are a text.
        assert!(natural_less("10000000000000000000", "9"));
    }
}
