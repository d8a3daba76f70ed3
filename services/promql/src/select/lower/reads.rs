//! Selectors, ranges and subqueries: what is read, and when.

use crate::ast::{At, MatrixSelector, Modifiers, Smoothing, Subquery, VectorSelector};
use crate::error::EvalError;
use crate::select::Selection;
use crate::select::node::{NodeKind, RangeSelector, Selector, Shift, SubqueryNode};

use super::{Lowered, Lowering, Place, once};

impl Lowering<'_> {
    pub(super) fn range(
        &mut self,
        matrix: &MatrixSelector,
        at: usize,
        place: Place<'_>,
    ) -> Result<Lowered, EvalError> {
        let range = self.durations.millis(&matrix.range, false)?;
        let selector = self.selector(&matrix.selector, Some(range), place)?;
        let fixed = selector.shift.at.is_some();
        Ok(Lowered::new(
            NodeKind::Range(RangeSelector { selector, range }),
            at,
            fixed,
            false,
        ))
    }

    pub(super) fn subquery(
        &mut self,
        subquery: &Subquery,
        at: usize,
        place: Place<'_>,
    ) -> Result<Lowered, EvalError> {
        let range = self.durations.millis(&subquery.range, false)?;
        let step = match &subquery.step {
            Some(step) => self.durations.millis(step, false)?,
            None => 0,
        };
        let step = if step > 0 {
            step
        } else {
            self.params.default_subquery_step.max(1)
        };
        let shift = self.shift(&subquery.modifiers)?;
        let inner = Place {
            start: shift.of(place.start).saturating_sub(range),
            end: shift.of(place.end),
            step,
            grouping: None,
            buckets: true,
            ..place
        };
        let expr = self.lower(&subquery.expr, inner)?;
        // Whatever does not depend on time is evaluated once, even a literal.
        let expr = if expr.invariant {
            once(expr.node)
        } else {
            expr.node
        };
        let node = SubqueryNode {
            expr,
            range,
            step,
            shift,
        };
        let fixed = shift.at.is_some();
        Ok(Lowered::new(
            NodeKind::Subquery(Box::new(node)),
            at,
            fixed,
            false,
        ))
    }

    pub(super) fn shift(&self, modifiers: &Modifiers) -> Result<Shift, EvalError> {
        let offset = match &modifiers.offset {
            Some(offset) => self.durations.millis(offset, true)?,
            None => 0,
        };
        let at = modifiers.at.map(|at| match at {
            At::Time(millis) => millis,
            At::Start => self.params.start,
            At::End => self.params.end,
        });
        Ok(Shift { at, offset })
    }

    pub(super) fn selector(
        &mut self,
        selector: &VectorSelector,
        range: Option<i64>,
        place: Place<'_>,
    ) -> Result<Selector, EvalError> {
        let shift = self.shift(&selector.modifiers)?;
        let lookback = self.params.lookback;
        let smooth = selector.smoothing == Smoothing::Smoothed;
        let before = match range {
            Some(range) if selector.smoothing == Smoothing::None => range,
            Some(range) => range.saturating_add(lookback),
            None => lookback,
        };
        let after = if smooth { lookback } else { 0 };
        let grouping = place.grouping.filter(|_| range.is_none());
        let selection = self.select(Selection {
            matchers: selector.matchers.clone(),
            start: shift.of(place.start).saturating_sub(before),
            end: shift.of(place.end).saturating_add(after),
            is_range: range.is_some() || smooth,
            step: place.step,
            function: place.function,
            grouping: grouping.map(|aggregate| (!aggregate.without, aggregate.labels.clone())),
        })?;
        Ok(Selector {
            selection,
            matchers: selector.matchers.clone(),
            shift,
            smoothing: selector.smoothing,
            stats_only: place.stats && !place.buckets,
        })
    }

    /// The number of a selection; one that overlaps an earlier one on the same series widens it.
    pub(super) fn select(&mut self, wanted: Selection) -> Result<usize, EvalError> {
        let candidates = self.by_matchers.get(&wanted.matchers);
        let same = candidates.into_iter().flatten().copied().find(|at| {
            let known = &self.selections[*at];
            known.start <= wanted.end && wanted.start <= known.end
        });
        let Some(at) = same else {
            return self.add(wanted);
        };
        let known = &mut self.selections[at];
        known.start = known.start.min(wanted.start);
        known.end = known.end.max(wanted.end);
        known.is_range |= wanted.is_range;
        known.step = known.step.min(wanted.step);
        if known.function != wanted.function {
            known.function = None;
        }
        if known.grouping != wanted.grouping {
            known.grouping = None;
        }
        Ok(at)
    }

    fn add(&mut self, wanted: Selection) -> Result<usize, EvalError> {
        let at = self.selections.len();
        let limit = self.params.max_selections;
        if at >= limit {
            // How many there are in all is counted by the caller, which has the whole expression.
            return Err(EvalError::TooManySelectors { found: at, limit });
        }
        let same = self.by_matchers.entry(wanted.matchers.clone());
        same.or_default().push(at);
        self.selections.push(wanted);
        Ok(at)
    }
}
