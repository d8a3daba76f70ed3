//! A series' key and its age → its value: as any round's value can be asked for alone, nothing is kept.

/// Fractions of a round's gain: rates are given in 1024ths.
pub(crate) const ONE: u64 = 1024;

/// A number that looks random, decided by what it is of and when.
pub(crate) fn draw(key: u64, at: u64) -> u64 {
    mix(mix(key) ^ at.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The key of a part of something that has a key.
pub(crate) fn part(key: u64, number: u64) -> u64 {
    mix(key ^ mix(number.wrapping_add(0x1656_67b1_9e37_79f9)))
}

/// Spreads the bits of a number (the finalizer of splitmix64).
const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A count that has grown for `age` rounds by `rate` 1024ths a round on average, never falling: a
/// round's gain is between nothing and twice the rate.
pub(crate) fn cumulative(key: u64, rate: u64, age: u64) -> u64 {
    if rate == 0 {
        return 0;
    }
    (rate * age + draw(key, age) % rate) / ONE
}

/// A value that wanders between `low` and `high` over 16 to 80 rounds with a tenth of noise, as
/// multiples of `1 / per_unit`.
#[expect(
    clippy::cast_precision_loss,
    reason = "all numbers here are far below 2^53"
)]
pub(crate) fn wander(key: u64, round: u64, (low, high): (f64, f64), per_unit: f64) -> f64 {
    let period = 16 + draw(key, 0) % 64;
    let at = (round + draw(key, 1) % period) % period;
    let way = 2.0 * at as f64 / period as f64;
    let way = if way > 1.0 { 2.0 - way } else { way };
    let noise = (draw(key, 16 + round) % ONE) as f64 / ONE as f64;
    let value = low + (high - low) * (0.9 * way + 0.1 * noise);
    (value * per_unit).round() / per_unit
}

/// A whole number from `low` to `high` that stays the same for about ten rounds.
pub(crate) fn held(key: u64, round: u64, low: u64, high: u64) -> u64 {
    let since = (round + draw(key, 0) % 10) / 10;
    low + draw(key, 2 + since) % (high - low + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_never_fall_and_keep_their_rate() {
        for rate in [3, ONE, 700 * ONE] {
            let counts: Vec<u64> = (0..=1000).map(|age| cumulative(42, rate, age)).collect();
            assert!(counts.is_sorted(), "{rate}");
            let expected = rate * 1000 / ONE;
            assert!(counts[1000] >= expected && counts[1000] <= expected + rate / ONE + 1);
        }
    }

    #[test]
    fn counts_of_a_rate_of_zero_stay_zero() {
        assert_eq!(cumulative(1, 0, 5000), 0);
    }

    #[test]
    fn gauges_stay_in_their_range_and_move() {
        let values: Vec<f64> = (0..200)
            .map(|round| wander(9, round, (0.0, 100.0), 100.0))
            .collect();
        assert!(values.iter().all(|value| (0.0..=100.0).contains(value)));
        assert!(
            values
                .windows(2)
                .all(|pair| (pair[0] - pair[1]).abs() < 25.0)
        );
        assert!(
            values.iter().any(|value| *value > 70.0) && values.iter().any(|value| *value < 30.0)
        );
    }

    #[test]
    fn held_numbers_change_seldom() {
        let values: Vec<u64> = (0..1000).map(|round| held(3, round, 0, 5)).collect();
        let changes = values.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!((20..=101).contains(&changes), "{changes}");
        assert!(values.iter().all(|value| *value <= 5));
    }
}
