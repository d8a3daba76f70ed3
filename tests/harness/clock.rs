//! The clock → times for a test's points, in milliseconds since the epoch.

use std::time::{SystemTime, UNIX_EPOCH};

/// A minute in milliseconds: how often forwarders push.
pub const MINUTE: i64 = 60_000;

/// Now.
///
/// # Panics
/// When the clock is before 1970.
#[must_use]
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

/// The last full second, so that times in a test's output are easy to read.
#[must_use]
pub fn this_second() -> i64 {
    now() / 1000 * 1000
}

/// `count` times a minute apart, the last of them `end`.
#[must_use]
pub fn minutes_until(end: i64, count: u32) -> Vec<i64> {
    (0..i64::from(count))
        .rev()
        .map(|back| end - back * MINUTE)
        .collect()
}
