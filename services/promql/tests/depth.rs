//! The deepest expressions that the parser accepts in, a value out, on the small stack of a worker thread.

use promql::eval::evaluate;
use promql::labels::Labels;
use promql::parse::{MAX_DEPTH, parse};
use promql::select::{Params, Plan};
use promql::series::{Floats, Series, SeriesSet};

/// Threads of an async runtime have this much.
const STACK: usize = 2 * 1024 * 1024;

/// What stands before, in the middle and behind, per level.
const NESTINGS: [(&str, &str, &str); 12] = [
    ("(", "x", ")"),
    ("-(", "x", ")"),
    ("- -", "x", ""),
    ("sum(", "x", ")"),
    ("topk(1, ", "x", ")"),
    ("abs(", "x", ")"),
    ("label_replace(", "x", r#", "a", "$1", "b", "(.*)")"#),
    ("max_over_time(", "x", "[1m:])"),
    ("", "x", "+x"),
    ("", "x", "^x"),
    ("", "x", " or x"),
    ("clamp(x, 1, scalar(", "x", "))"),
];

fn answer(text: &str) -> Result<(), String> {
    let expr = parse(text).map_err(|error| error.to_string())?;
    let plan =
        Plan::new(expr, Params::range(0, 60_000, 60_000)).map_err(|error| error.to_string())?;
    let series = Series {
        labels: Labels::from_pairs([("__name__", "x"), ("b", "c")]),
        floats: Floats {
            ts: vec![0, 60_000],
            values: vec![1.0, 1.0],
            starts: Vec::new(),
        },
        ..Series::default()
    };
    let set = SeriesSet {
        series: vec![series],
    };
    let sets = vec![set; plan.selections().len()];
    evaluate(&plan.clone(), sets)
        .map(drop)
        .map_err(|error| error.to_string())
}

#[test]
fn the_deepest_expressions_are_evaluated_on_a_small_stack() {
    let work = || {
        for (before, middle, behind) in NESTINGS {
            let nested = |levels: usize| {
                format!("{}{middle}{}", before.repeat(levels), behind.repeat(levels))
            };
            let deepest = (1..=MAX_DEPTH)
                .rev()
                .map(nested)
                .find(|text| parse(text).is_ok());
            assert_eq!(
                answer(&deepest.unwrap()),
                Ok(()),
                "{before}{middle}{behind}"
            );
        }
    };
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}
