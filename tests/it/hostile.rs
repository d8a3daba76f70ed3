//! Queries that are meant to hurt, through HTTP: each is refused in a few words, and memory stays flat.

use tests::ask::{Ask, failure};
use tests::stack::Stack;

/// Most memory that all refusals together may take, KiB: the largest body is 1 MiB, and each is read,
/// decoded and quoted a few times over while others are.
const ROOM: u64 = 96 * 1024;

/// A request's faulty query, and how it is refused.
type Case = (&'static str, String, u16, &'static str, &'static str);

const TOO_LONG: &str = "bytes, at most 65536 are allowed";
const TOO_DEEP: &str = "expression is nested too deeply: at most 200 levels are allowed";
const TOO_MANY: &str =
    "query processing would load too many samples into memory in query execution";

fn nested(before: &str, middle: &str, behind: &str, levels: usize) -> String {
    format!("{}{middle}{}", before.repeat(levels), behind.repeat(levels))
}

/// Names added up as a balanced tree, which nests least.
fn sum_of(names: std::ops::Range<usize>) -> String {
    if names.len() == 1 {
        return format!("m{}", names.start);
    }
    let middle = usize::midpoint(names.start, names.end);
    let (left, right) = (sum_of(names.start..middle), sum_of(middle..names.end));
    format!("({left}+{right})")
}

/// What no query may do to the service.
fn cases() -> Vec<Case> {
    let bad = "bad_data";
    let of_text = |name, query, words| (name, query, 400, bad, words);
    vec![
        of_text("1 MB of one sum", nested("a+", "a", "", 1 << 19), TOO_LONG),
        of_text("1 MB of one name", "a".repeat(1 << 20), TOO_LONG),
        of_text(
            "1 MB of matchers",
            format!("a{{{}}}", "b=\"c\",".repeat(180_000)),
            TOO_LONG,
        ),
        of_text(
            "1 MB of one regex",
            format!("a{{b=~\"{}\"}}", "x|".repeat(1 << 19)),
            TOO_LONG,
        ),
        of_text(
            "100,000 parentheses",
            nested("(", "1", ")", 100_000),
            TOO_LONG,
        ),
        of_text("100,000 open parentheses", "(".repeat(100_000), TOO_LONG),
        of_text("100,000 signs", nested("-", "1", "", 100_000), TOO_LONG),
        of_text(
            "30,000 parentheses",
            nested("(", "1", ")", 30_000),
            TOO_DEEP,
        ),
        of_text("60,000 signs", nested("-", "1", "", 60_000), TOO_DEEP),
        of_text("20,000 powers", nested("1^", "1", "", 20_000), TOO_DEEP),
        of_text("10,000 calls", nested("abs(", "a", ")", 10_000), TOO_DEEP),
        of_text(
            "10,000 subqueries",
            nested("", "a", "[1h:]", 10_000),
            TOO_DEEP,
        ),
        of_text(
            "a regex that does not close",
            "a{b=~\"(((((…\"}".to_owned(),
            "1:3: parse error: error parsing regexp: missing closing ): `(((((…`",
        ),
        of_text(
            "a regex of regexes",
            "a{b=~\"((x{1000}){1000}){1000}\"}".to_owned(),
            "1:3: parse error: error parsing regexp: invalid repeat count: `{1000}`",
        ),
        (
            "5,000 selectors",
            sum_of(0..5000),
            422,
            "execution",
            "the query has 5000 selectors, more than 500 of which differ",
        ),
        (
            "10^9 steps of a subquery",
            "max_over_time(vector(1)[30y:1s])".to_owned(),
            422,
            "execution",
            TOO_MANY,
        ),
    ]
}

/// The greatest memory that the program has taken so far, KiB.
fn peak(stack: &Stack) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", stack.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let text = line.unwrap().trim().strip_suffix(" kB").unwrap();
    text.parse().unwrap()
}

#[tokio::test]
async fn hostile_queries_are_refused_in_words_and_memory_stays_flat() {
    let stack = Stack::start().await;
    let ask = stack.ask();
    let one = [("query", "1"), ("time", "4")];
    ask.data("/api/v1/query", &one).await;
    let before = peak(&stack);
    for (name, query, status, kind, words) in cases() {
        for path in ["/api/v1/query", "/api/v1/query_range"] {
            let form = [
                ("query", query.as_str()),
                ("start", "0"),
                ("end", "60"),
                ("step", "60"),
            ];
            let answer = ask.post(path, &form).await;
            assert_eq!(answer.status, status, "{name}: {}", answer.text());
            let (found, text) = failure(&answer);
            assert_eq!(found, kind, "{name}");
            assert!(text.contains(words), "{name}: {text}");
            assert!(text.len() < 300, "{name}: {text}");
        }
    }
    long_ranges(&ask).await;
    long_addresses(&ask).await;
    let grown = peak(&stack) - before;
    assert!(grown < ROOM, "{grown} KiB");
    ask.data("/api/v1/query", &one).await;
}

/// 10⁹ steps of a range.
async fn long_ranges(ask: &Ask) {
    for query in ["a", "1", "rate(a[5m])"] {
        let range = [
            ("query", query),
            ("start", "0"),
            ("end", "1000000000"),
            ("step", "1"),
        ];
        let answer = ask.get("/api/v1/query_range", &range).await;
        let text = "exceeded maximum resolution of 11,000 points per timeseries. \
                    Try decreasing the query resolution (?step=XX)";
        assert_eq!(answer.status, 400, "{query}");
        assert_eq!(failure(&answer), ("bad_data".to_owned(), text.to_owned()));
    }
}

/// The longest query that an HTTP client can put into an address.
async fn long_addresses(ask: &Ask) {
    let query = "(".repeat(20_000);
    let answer = ask.get("/api/v1/query", &[("query", &query)]).await;
    assert_eq!(answer.status, 400);
    assert!(failure(&answer).1.contains(TOO_DEEP), "{}", answer.status);
}
