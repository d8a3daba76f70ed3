//! `topk`, `bottomk`, `limitk` and `limit_ratio`: some of each group's series, as they are.

use crate::ast::AggregateOp;
use crate::eval::Evaluator;
use crate::eval::grid::{Bits, Column, Steps};
use crate::number::truncate;

use super::Param;
use super::groups::Groups;
use super::heap::Best;

impl Evaluator<'_> {
    pub(super) fn ranked(
        &self,
        (op, at): (AggregateOp, usize),
        param: &Param,
        (mut input, groups): (Vec<Column>, Groups),
        steps: Steps,
    ) -> Vec<Column> {
        let mut kept = vec![Bits::new(steps.count); input.len()];
        let mut order: Vec<usize> = (0..input.len()).collect();
        let ratio = (op == AggregateOp::LimitRatio).then(|| offsets(&input));
        let ranks = matches!(op, AggregateOp::TopK | AggregateOp::BottomK);
        if ranks
            && input
                .iter()
                .any(|column| column.hists.iter().any(Option::is_some))
        {
            self.histogram_ignored(op, at);
        }
        for step in 0..steps.count {
            let param = param.values[step];
            let chosen = match (&ratio, size(param, input.len())) {
                (Some(offsets), _) => by_ratio(param, offsets),
                (None, None) => continue,
                (None, Some(size)) if ranks => {
                    best(&input, &groups, (size, op == AggregateOp::TopK), step)
                }
                (None, Some(size)) => first(&input, &groups, size, step),
            };
            for series in &chosen {
                kept[*series].set(step);
            }
            if steps.single {
                order = if ranks {
                    chosen
                } else {
                    heaped(&input, &groups, &chosen, step)
                };
            }
        }
        for (column, kept) in input.iter_mut().zip(&kept) {
            column.restrict(kept);
        }
        let mut columns: Vec<Option<Column>> = input.into_iter().map(Some).collect();
        let columns = order
            .into_iter()
            .filter_map(|series| columns[series].take());
        columns.filter(|column| !column.is_empty()).collect()
    }
}

/// The greatest or least floats of each group, best first.
fn best(
    input: &[Column],
    groups: &Groups,
    (size, greatest): (usize, bool),
    step: usize,
) -> Vec<usize> {
    let mut best: Vec<Best> = groups
        .labels
        .iter()
        .map(|_| Best::new(size, greatest))
        .collect();
    for (series, column) in input.iter().enumerate() {
        if let Some(value) = column.float(step) {
            best[groups.of[series]].offer((value, series));
        }
    }
    best.into_iter()
        .flat_map(Best::sorted)
        .map(|(_, series)| series)
        .collect()
}

/// The chosen series group by group, in the order in which Prometheus gives them: that of a heap by value, though
/// nothing was chosen by it. A histogram counts as 0 there.
fn heaped(input: &[Column], groups: &Groups, chosen: &[usize], step: usize) -> Vec<usize> {
    let mut heaps: Vec<Best> = groups
        .labels
        .iter()
        .map(|_| Best::new(chosen.len(), true))
        .collect();
    for series in chosen.iter().filter(|series| input[**series].has(step)) {
        let value = input[*series].float(step).unwrap_or(0.0);
        heaps[groups.of[*series]].offer((value, *series));
    }
    heaps
        .into_iter()
        .flat_map(Best::unsorted)
        .map(|(_, series)| series)
        .collect()
}

/// The first series of each group that have anything.
fn first(input: &[Column], groups: &Groups, size: usize, step: usize) -> Vec<usize> {
    let mut left = vec![size; groups.labels.len()];
    let mut chosen = Vec::new();
    for (series, column) in input.iter().enumerate() {
        let left = &mut left[groups.of[series]];
        if *left > 0 && column.has(step) {
            *left -= 1;
            chosen.push(series);
        }
    }
    chosen
}

/// How many series are wanted, `None` for none.
fn size(param: f64, series: usize) -> Option<usize> {
    let size = usize::try_from(truncate(param)).ok()?.min(series);
    (size > 0).then_some(size)
}

/// Where in 0 to 1 each series' hash lies.
fn offsets(input: &[Column]) -> Vec<f64> {
    input
        .iter()
        .map(|column| column.labels.hash64() as f64 / u64::MAX as f64)
        .collect()
}

/// The series below a positive ratio, or those above what a negative one leaves.
fn by_ratio(ratio: f64, offsets: &[f64]) -> Vec<usize> {
    let ratio = ratio.clamp(-1.0, 1.0);
    let chosen = |offset: f64| {
        if ratio >= 0.0 {
            offset < ratio
        } else {
            offset >= 1.0 + ratio
        }
    };
    let numbered = offsets.iter().enumerate();
    numbered
        .filter(|(_, offset)| chosen(**offset))
        .map(|(series, _)| series)
        .collect()
}
