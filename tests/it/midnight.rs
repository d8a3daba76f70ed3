//! A series that crosses midnight, where every table begins a new day, and with it a new bucket of time.

use tests::ask::{Ask, labels};
use tests::clock::{MINUTE, minutes_until, now};
use tests::otlp::{self, Pairs};
use tests::stack::Stack;

use crate::steps::{gives, range_equals_instants};

const DAY: i64 = 24 * 60 * MINUTE;
const LEFT: Pairs<'static> = &[("foot", "left")];

#[tokio::test]
async fn a_series_is_one_series_across_midnight() {
    let stack = Stack::start().await;
    // The last midnight that lies ten minutes back or more.
    let midnight = (now() - 10 * MINUTE) / DAY * DAY;
    // Five minutes before to five minutes after.
    let times = minutes_until(midnight + 5 * MINUTE, 11);
    for (minute, ts) in (0..).zip(&times) {
        let value = 600.0 + 60.0 * f64::from(minute);
        let counts = [u64::try_from(minute + 1).unwrap(), 0];
        let request = otlp::request(
            &[],
            &[
                otlp::counter("steps", "", &[otlp::number(LEFT, *ts, value)]),
                otlp::histogram(
                    "pace",
                    "s",
                    &[otlp::observations(&[], *ts, value, &[1.0], &counts)],
                ),
            ],
        );
        stack.ingest().all(&request).await;
    }
    values(&stack.ask(), midnight, &times).await;
    let found = stack.ask().series("steps_total").await;
    let set = labels([("__name__", "steps_total"), LEFT[0]]);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [set]);
}

async fn values(ask: &Ask, midnight: i64, times: &[i64]) {
    let end = times[10];
    // Sixty steps a minute.
    let rate = "rate(steps_total[5m])";
    gives(ask, rate, midnight + 2 * MINUTE, &[(LEFT, 1.0)]).await;
    // The window is open on its left side.
    gives(
        ask,
        "count_over_time(steps_total[10m])",
        end,
        &[(LEFT, 10.0)],
    )
    .await;
    // One more a minute.
    let increase = "increase(pace_seconds_count[5m])";
    gives(ask, increase, midnight + 2 * MINUTE, &[(&[], 5.0)]).await;
    // A minute before midnight.
    let before = [("__name__", "steps_total"), LEFT[0]];
    gives(ask, "steps_total offset 6m", end, &[(&before, 840.0)]).await;
    for query in [
        "rate(steps_total[2m])",
        "pace_seconds_bucket",
        "sum_over_time(steps_total[3m:1m])",
    ] {
        let compared = range_equals_instants(ask, query, times).await;
        assert!(compared >= 9, "{query}: only {compared} values");
    }
}
