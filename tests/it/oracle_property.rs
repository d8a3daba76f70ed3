//! Generated expressions over generated series, asked of the gateway and of Prometheus.

use std::collections::BTreeMap;

use tests::oracle::say;

use crate::oracle_compare::{Pair, Question};
use crate::oracle_data::{FIRST, tracks};
use crate::oracle_generate::Generator;
use crate::oracle_ledger::Ledger;
use crate::oracle_random::Random;

/// Expressions, of which each is asked once at an instant and once over a range.
const EXPRESSIONS: usize = 2_000;
/// Steps of a range.
const STEPS: i64 = 12;

fn questions() -> Vec<Question> {
    let seed = std::env::var("ORACLE_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut generator = Generator::new(seed);
    let mut random = Random::new(seed + 1_000_000);
    let mut questions = Vec::new();
    for _ in 0..EXPRESSIONS {
        let query = generator.expression();
        let at = FIRST + 1000 * i64::from(random.below(3200)) + i64::from(random.below(1000));
        questions.push(Question::Instant {
            query: query.clone(),
            at,
        });
        let step = [15_000, 47_000, 90_000, 150_000][usize::try_from(random.below(4)).unwrap()];
        let start = FIRST + 1000 * i64::from(random.below(1500));
        questions.push(Question::Range {
            query,
            start,
            end: start + STEPS * step,
            step,
        });
    }
    questions
}

/// `ORACLE_SEED` asks other expressions than the usual ones.
#[tokio::test]
async fn generated_expressions_answer_as_prometheus_does() {
    let Some(pair) = Pair::start(&tracks()).await else {
        return;
    };
    let questions = questions();
    let found = pair.differences(&questions).await;
    let differing: BTreeMap<String, String> = found
        .into_iter()
        .map(|(position, what)| (questions[position].name(), what))
        .collect();
    let equal = questions.len() - differing.len();
    let listed = Ledger::read(include_str!("oracle_ledger.txt")).settle(&differing);
    say(&format!(
        "generated: {equal} of {} equal, {listed} in the ledger",
        questions.len()
    ));
}
