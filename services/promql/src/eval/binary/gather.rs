//! What pairs of series gave in, one series per label set out, or the fault that forbids it.

use std::collections::HashMap;

use crate::error::EvalError;
use crate::eval::grid::{Bits, Column, merge};
use crate::labels::Labels;

use super::fault::{Fault, Kind};

/// A result before those with equal labels are put together.
pub(super) struct Made {
    pub(super) group: usize,
    /// Steps at which samples met, whether or not a comparison kept the result.
    pub(super) met: Bits,
    pub(super) column: Column,
}

/// Where results with the same labels have been so far.
struct Union {
    kept: Bits,
    /// By group.
    met: HashMap<usize, Bits>,
}

impl Union {
    fn of(made: &Made) -> Self {
        Self {
            kept: made.column.presence(),
            met: HashMap::from([(made.group, made.met.clone())]),
        }
    }

    /// Adds a result, and takes a fault down where it meets the others.
    fn add(&mut self, made: &Made, fault: &mut Fault) {
        if let Some(met) = self.met.get_mut(&made.group) {
            fault.overlap(met, &made.met, Kind::Ambiguous, || {
                ambiguous("grouping labels must ensure unique matches")
            });
            met.add(&made.met);
        } else {
            self.met.insert(made.group, made.met.clone());
        }
        let kept = made.column.presence();
        fault.overlap(
            &self.kept,
            &kept,
            Kind::SameLabels,
            EvalError::same_labelset,
        );
        self.kept.add(&kept);
    }
}

/// Says that one series meets several.
pub(super) fn ambiguous(text: &str) -> EvalError {
    EvalError::Execution(format!("multiple matches for labels: {text}"))
}

/// Puts results with equal labels together.
///
/// # Errors
///
/// The first of the faults: that of the pairs, or one of results that meet here.
pub(super) fn gather(made: Vec<Made>, mut fault: Fault) -> Result<Vec<Column>, EvalError> {
    let mut places: HashMap<Labels, usize> = HashMap::with_capacity(made.len());
    let mut unions: HashMap<usize, Union> = HashMap::new();
    let mut same: Vec<Vec<Made>> = Vec::with_capacity(made.len());
    for one in made {
        let labels = one.column.labels.clone();
        let place = *places.entry(labels).or_insert(same.len());
        let Some(known) = same.get_mut(place) else {
            same.push(vec![one]);
            continue;
        };
        let union = unions.entry(place);
        union
            .or_insert_with(|| Union::of(&known[0]))
            .add(&one, &mut fault);
        known.push(one);
    }
    fault.settle()?;
    let columns = same.into_iter().map(|same| {
        let columns = same.into_iter().map(|made| made.column).collect();
        let merged = merge(columns, false)?;
        Ok(merged.into_iter().filter(|column| !column.is_empty()))
    });
    let columns: Vec<_> = columns.collect::<Result<_, EvalError>>()?;
    Ok(columns.into_iter().flatten().collect())
}
