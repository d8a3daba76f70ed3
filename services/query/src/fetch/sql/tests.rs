//! The SQL text of every statement, and the property that no value escapes its quotes.

use proptest::prelude::*;

use super::*;
use crate::fetch::testing::scope;

fn client() -> Client {
    Client::default()
}

fn names(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

fn shown(query: &Query) -> String {
    query.sql_display().to_string()
}

#[tokio::test]
async fn one_metric_is_read_by_key_and_window() {
    let metrics = names(&["up"]);
    let window = Window::new(1_793_534_399_999, 1_793_541_600_000).unwrap();
    let read = Read {
        metrics: &metrics,
        window,
        ids: None,
    };
    assert_eq!(
        shown(&samples(&scope("demo").await, &client(), &read)),
        "SELECT id, ts, value FROM samples WHERE tenant = 'demo' AND metric = 'up' \
         AND b >= toDateTime(1793534400, 'UTC') AND b <= toDateTime(1793541600, 'UTC') \
         AND ts > fromUnixTimestamp64Milli(toInt64(1793534399999), 'UTC') \
         AND ts <= fromUnixTimestamp64Milli(toInt64(1793541600000), 'UTC')"
    );
}

#[tokio::test]
async fn several_metrics_and_chosen_series_are_told_apart() {
    let metrics = names(&["a", "b"]);
    let read = Read {
        metrics: &metrics,
        window: Window::new(0, 1000).unwrap(),
        ids: Some(&[7, u64::MAX]),
    };
    let text = shown(&histograms(
        &scope("demo").await,
        &client(),
        &read,
        Detail::Explicit,
    ));
    assert!(text.starts_with("SELECT CAST(transform(metric, ['a','b'], [1,2], 0) AS UInt32) AS m, id, ts, count, sum, pos FROM histograms"), "{text}");
    assert!(text.contains("metric IN ['a','b'] "), "{text}");
    assert!(
        text.ends_with(" AND id IN [7,18446744073709551615]"),
        "{text}"
    );
}

#[test]
fn a_window_stays_within_what_the_tables_can_hold() {
    assert_eq!(Window::new(-500, -100), None);
    assert_eq!(Window::new(10, 10), None);
    assert_eq!(
        Window::new(i64::MIN, i64::MAX),
        Some(Window {
            start: -1,
            end: LAST_TIME
        })
    );
    let week = Window::new(86_400_000 - 1, 3 * 86_400_000).unwrap();
    assert_eq!(week.days(), Days { first: 1, last: 3 });
}

/// Reads a string literal by ClickHouse's own rules, up to its closing quote; answers what it means and
/// what follows it.
fn literal(text: &str) -> Option<(String, &str)> {
    let mut chars = text.strip_prefix('\'')?.char_indices();
    let mut meaning = String::new();
    while let Some((at, char)) = chars.next() {
        match char {
            '\'' => return Some((meaning, text.get(at + 2..)?)),
            '\\' => meaning.push(match chars.next()?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'a' => '\u{7}',
                'v' => '\u{b}',
                'x' => return None,
                other => other,
            }),
            other => meaning.push(other),
        }
    }
    None
}

proptest! {
    #[test]
    fn any_label_value_or_regex_survives_quoting(
        value in prop_oneof![any::<String>(), "[\\\\'`\"\n\t\r\0?%{}()n0x;-]{0,12}"],
        name in "[a-z'\\\\?]{1,8}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let scope = runtime.block_on(scope("demo"));
        let equals = [(name.clone(), value.clone())];
        let days = Days { first: 1, last: 2 };
        let text = shown(&series(&scope, &client(), (&names(&["up"]), &equals), days, 10));
        let tail = text.split_once(" AND labels[").unwrap().1;
        let (read_name, tail) = literal(tail).unwrap();
        prop_assert_eq!(read_name, name);
        let (read_value, tail) = literal(tail.strip_prefix("] = ").unwrap()).unwrap();
        prop_assert_eq!(read_value, value);
        prop_assert_eq!(tail, " LIMIT 1 BY metric, id LIMIT 10");
    }

    #[test]
    fn any_metric_name_in_a_list_survives_quoting(name in any::<String>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let scope = runtime.block_on(scope("demo"));
        let text = shown(&bounds(&scope, &client(), &names(&[&name]), Days { first: 1, last: 2 }));
        let (read, tail) = literal(text.split_once("metric IN [").unwrap().1).unwrap();
        prop_assert_eq!(read, name);
        prop_assert!(tail.starts_with("] AND day >= "));
    }
}
