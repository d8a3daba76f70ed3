//! Vectors with many equal values, asked of the gateway and of Prometheus in every way that orders them.

use tests::oracle::{Track, say};

use crate::oracle_compare::{Pair, Question};
use crate::oracle_data::FIRST;
use crate::oracle_random::Random;

/// How many series a vector has: Go sorts in other ways from 13 and from 50 on.
const LENGTHS: [usize; 6] = [5, 12, 13, 49, 50, 200];
const PATTERNS: [&str; 6] = ["few", "many", "rising", "falling", "pipe", "saw"];

fn value(pattern: &str, place: usize, len: usize, random: &mut Random) -> f64 {
    let at = place as f64;
    match pattern {
        "few" => [f64::NAN, 0.0, -0.0, 1.0, 1.0, f64::INFINITY][place_of(random, 6)],
        "many" => random.unit(),
        // Out of order here and there.
        "rising" if random.once_in(20) => f64::NAN,
        "rising" => at,
        "falling" => -at,
        // Up and down again, which makes quicksort choose badly.
        "pipe" => at.min(len as f64 - at),
        _ => f64::from(u32::try_from(place % 7).unwrap()),
    }
}

fn place_of(random: &mut Random, end: u32) -> usize {
    usize::try_from(random.below(end)).unwrap()
}

fn tracks() -> Vec<Track> {
    let mut random = Random::new(7);
    let mut tracks = Vec::new();
    for len in LENGTHS {
        for pattern in PATTERNS {
            for place in 0..len {
                let text =
                    ["1", "01", "001", "a1", "a01", "10", "9", "a"][place_of(&mut random, 8)];
                let pairs = [
                    ("len", &*len.to_string()),
                    ("n", &*format!("{place:04}")),
                    ("odd", if place % 3 == 0 { "yes" } else { "no" }),
                    ("pattern", pattern),
                    ("text", text),
                ];
                let mut track = Track::new("tied", &pairs);
                let value = value(pattern, place, len, &mut random);
                track.samples.push((FIRST, value));
                tracks.push(track);
            }
        }
    }
    tracks
}

fn questions() -> Vec<Question> {
    let mut questions = Vec::new();
    for len in LENGTHS {
        for pattern in PATTERNS {
            let of = format!(r#"tied{{len="{len}",pattern="{pattern}"}}"#);
            let mut queries = [
                "sort(#)",
                "sort_desc(#)",
                "sort(topk(20, #))",
                r#"sort_by_label(#, "text")"#,
                r#"sort_by_label_desc(#, "text")"#,
                r#"sort_by_label(#, "odd", "text")"#,
                "limit_ratio(0.5, #)",
                "limit_ratio(-0.7, #) by (odd)",
                "sum by (text) (#)",
                "quantile(0, #)",
                "quantile by (odd) (0.1, #)",
                "# * on (n) group_left sort(#)",
            ]
            .map(|query| query.replace('#', &of))
            .to_vec();
            for op in ["topk", "bottomk", "limitk"] {
                for size in [3, 13, 1000] {
                    queries.push(format!("{op}({size}, {of})"));
                    queries.push(format!("{op} by (odd) ({size}, {of})"));
                }
            }
            let at = FIRST + 1000;
            let asked = |query| Question::Instant { query, at };
            questions.extend(queries.into_iter().map(asked));
        }
    }
    questions
}

#[tokio::test]
async fn vectors_stand_in_the_order_in_which_prometheus_gives_them() {
    let Some(pair) = Pair::start(&tracks()).await else {
        return;
    };
    let questions = questions();
    let found = pair.differences(&questions).await;
    let differing: Vec<String> = found
        .into_iter()
        .map(|(place, what)| format!("{}\n    {what}", questions[place].name()))
        .collect();
    let (differ, all) = (differing.len(), questions.len());
    assert!(
        differing.is_empty(),
        "{differ} of {all}:\n{}",
        differing.join("\n")
    );
    say(&format!("order: {all} of {all} equal"));
}
