//! `and`, `or` and `unless`: series of one side that have, or have no, counterpart on the other.

use crate::ast::{BinaryOp, Matching};
use crate::error::EvalError;
use crate::eval::aggregate::groups::Groups;
use crate::eval::grid::{Bits, Column, Steps, merge};
use crate::labels::joins;

/// A set operator on two vectors.
pub(super) fn combine(
    op: BinaryOp,
    matching: &Matching,
    mut left: Vec<Column>,
    mut right: Vec<Column>,
    steps: Steps,
) -> Result<Vec<Column>, EvalError> {
    let labels = left.iter().chain(&right).map(|column| &column.labels);
    let groups = Groups::new(labels, |name| joins(matching.on, &matching.labels, name));
    let (of_left, of_right) = groups.of.split_at(left.len());
    let count = groups.labels.len();
    if op == BinaryOp::Or {
        let taken = presence(&left, of_left, count, steps);
        for (column, group) in right.iter_mut().zip(of_right) {
            let mut kept = Bits::full(steps.count);
            kept.remove(&taken[*group]);
            column.restrict(&kept);
        }
        right.retain(|column| !column.is_empty());
        left.append(&mut right);
        return merge(left, false);
    }
    let found = presence(&right, of_right, count, steps);
    for (column, group) in left.iter_mut().zip(of_left) {
        if op == BinaryOp::And {
            column.restrict(&found[*group]);
        } else {
            let mut kept = Bits::full(steps.count);
            kept.remove(&found[*group]);
            column.restrict(&kept);
        }
    }
    left.retain(|column| !column.is_empty());
    Ok(left)
}

/// At which steps each group has anything.
fn presence(columns: &[Column], of: &[usize], groups: usize, steps: Steps) -> Vec<Bits> {
    let mut found = vec![Bits::new(steps.count); groups];
    for (column, group) in columns.iter().zip(of) {
        found[*group].add(&column.presence());
    }
    found
}
