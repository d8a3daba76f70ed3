//! How often something failed → how long to wait before trying it again.

use std::time::Duration;

/// Between which waits the tries of a delivery spread out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Backoff {
    pub(super) first: Duration,
    pub(super) most: Duration,
}

impl Backoff {
    /// The wait after `failures` failures: twice as long each time, up to the greatest, and of that between a half
    /// and all, as `random` wants: gateways that failed together do not come back together.
    pub(super) fn after(self, failures: u32, random: u64) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        let whole = self.first.saturating_mul(1 << doublings).min(self.most);
        let half = whole / 2;
        let span = u64::try_from(half.as_nanos()).unwrap_or(u64::MAX);
        half + Duration::from_nanos(random % span.saturating_add(1).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_greatest_and_spread_over_their_upper_half() {
        let backoff = Backoff {
            first: Duration::from_millis(100),
            most: Duration::from_secs(10),
        };
        for (failures, whole) in [
            (1, 100),
            (2, 200),
            (7, 6400),
            (8, 10_000),
            (u32::MAX, 10_000),
        ] {
            let (whole, half) = (
                Duration::from_millis(whole),
                Duration::from_millis(whole / 2),
            );
            assert_eq!(backoff.after(failures, 0), half);
            let span = u64::try_from(half.as_nanos()).unwrap();
            assert_eq!(backoff.after(failures, span), whole);
            for random in [1, u64::MAX / 3, u64::MAX] {
                let wait = backoff.after(failures, random);
                assert!((half..=whole).contains(&wait), "{failures}: {wait:?}");
            }
        }
    }
}
