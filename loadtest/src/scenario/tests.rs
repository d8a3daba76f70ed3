//! Checks of what a scenario promises: sizes, lives of apps, labels that tell series apart.

use std::collections::BTreeSet;

use super::*;
use crate::plan::tests::small;

#[test]
fn a_cerebrium_app_has_13_points_and_77_samples() {
    let scenario = Scenario::new(small(Provider::Cerebrium));
    let push = Push {
        round: 0,
        forwarder: 0,
    };
    assert_eq!(scenario.weigh(push), (2 * 13, 2 * 77));
}

#[test]
fn the_last_forwarder_has_the_apps_that_are_left() {
    let scenario = Scenario::new(small(Provider::Cerebrium));
    let push = Push {
        round: 0,
        forwarder: 2,
    };
    assert_eq!(scenario.weigh(push), (13, 77));
}

#[test]
fn identifying_labels_tell_all_series_of_a_metric_apart() {
    for provider in [Provider::Cerebrium, Provider::Crusoe, Provider::Sdk] {
        let scenario = Scenario::new(small(provider));
        for metric in scenario.metrics() {
            let mut seen = BTreeSet::new();
            let variants =
                (0..5).flat_map(|app| (0..metric.variants).map(move |variant| (app, variant)));
            for (app, variant) in variants {
                let labels = identifying_labels(&scenario, metric, (app, variant));
                assert!(seen.insert(labels), "{} {app} {variant}", metric.name);
            }
        }
    }
}

fn identifying_labels(
    scenario: &Scenario,
    metric: &Metric,
    (app, variant): (u32, u32),
) -> Vec<(String, String)> {
    let source = scenario.source(app, 0);
    scenario
        .attributes(&source, metric, variant)
        .into_iter()
        .chain(scenario.promoted(&source))
        .map(|(name, value)| (name.replace('.', "_"), value))
        .filter(|(name, _)| scenario.identifying().contains(&name.as_str()))
        .collect()
}

#[test]
fn without_churn_an_app_lives_through_the_whole_run() {
    let scenario = Scenario::new(small(Provider::Cerebrium));
    let (first, last) = (scenario.source(3, 0), scenario.source(3, 3));
    assert_eq!((first.generation, last.generation), (0, 0));
    assert_eq!(last.age, first.age + 3);
    assert_eq!(last.born_ms, first.born_ms);
}

#[test]
fn churn_replaces_an_app_by_one_whose_counters_begin_again() {
    let mut plan = small(Provider::Cerebrium);
    // A tenth of the apps each round.
    plan.churn = 600;
    plan.rounds = 100;
    let scenario = Scenario::new(plan);
    let lives: Vec<Source> = (0..100).map(|round| scenario.source(0, round)).collect();
    assert_eq!(
        lives[99].generation - lives[0].generation,
        9 + u32::from(lives[99].generation == 10)
    );
    for (round, pair) in (1_i64..).zip(lives.windows(2)) {
        if pair[0].generation == pair[1].generation {
            assert_eq!(pair[1].age, pair[0].age + 1);
        } else {
            assert_eq!(pair[1].age, 1);
            assert_eq!(
                pair[1].born_ms,
                scenario.plan.start_ms + (round - 1) * ROUND_MS
            );
        }
    }
}

#[test]
fn counters_grow_within_an_apps_life() {
    let scenario = Scenario::new(small(Provider::Cerebrium));
    let number = scenario
        .metrics()
        .iter()
        .position(|metric| metric.name == "cerebrium_run_total");
    let number = u32::try_from(number.unwrap()).unwrap();
    for app in 0..5 {
        let values: Vec<i64> = (0..4)
            .map(
                |round| match scenario.value(number, &scenario.source(app, round), 0) {
                    Value::Integer(value) => value,
                    other => panic!("{other:?}"),
                },
            )
            .collect();
        assert!(values.is_sorted(), "{values:?}");
    }
}

#[test]
fn another_seed_gives_other_values() {
    let value = |seed| {
        let mut plan = small(Provider::Cerebrium);
        plan.seed = seed;
        let scenario = Scenario::new(plan);
        scenario.value(0, &scenario.source(0, 0), 0)
    };
    assert_eq!(value(1), value(1));
    assert_ne!(value(1), value(2));
}
