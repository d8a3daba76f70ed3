//! What goes wrong when two vectors are matched, step by step, in; the fault that a query reports out.

use crate::error::EvalError;
use crate::eval::grid::Bits;

/// In the order in which Prometheus notices them at one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Two series of one group on the side that should have one.
    Duplicate,
    /// Two results for one series.
    Ambiguous,
    /// Two results with the same labels.
    SameLabels,
}

/// The first fault: of the earliest step, and there of the first kind. All steps are worked on at once here, while
/// Prometheus stops at the first one with a fault.
#[derive(Debug, Default)]
pub(super) struct Fault(Option<(usize, Kind, EvalError)>);

impl Fault {
    /// Takes down a fault at `step`.
    pub(super) fn at(&mut self, step: usize, kind: Kind, error: impl FnOnce() -> EvalError) {
        let first = self
            .0
            .as_ref()
            .is_none_or(|(known, rank, _)| (step, kind) < (*known, *rank));
        if first {
            self.0 = Some((step, kind, error()));
        }
    }

    /// Takes down a fault at the first step that is in both sets, if there is one.
    pub(super) fn overlap(
        &mut self,
        left: &Bits,
        right: &Bits,
        kind: Kind,
        error: impl FnOnce() -> EvalError,
    ) {
        if left.overlaps(right) {
            let mut both = left.clone();
            both.keep(right);
            if let Some(step) = both.iter().next() {
                self.at(step, kind, error);
            }
        }
    }

    /// Whether a fault at the first step stands, which no other can precede.
    pub(super) fn is_settled(&self) -> bool {
        self.0.as_ref().is_some_and(|(step, ..)| *step == 0)
    }

    /// Leaves of `steps` those before the fault.
    pub(super) fn before(&self, steps: &mut Bits) {
        if let Some((step, ..)) = &self.0 {
            steps.cut(*step);
        }
    }

    /// # Errors
    ///
    /// The first fault that was taken down.
    pub(super) fn settle(self) -> Result<(), EvalError> {
        match self.0 {
            Some((_, _, error)) => Err(error),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_fault_counts_and_at_one_step_the_first_kind() {
        let mut fault = Fault::default();
        let error = |text: &str| EvalError::Execution(text.to_owned());
        fault.at(5, Kind::Duplicate, || error("late"));
        fault.at(3, Kind::SameLabels, || error("labels"));
        fault.at(3, Kind::Ambiguous, || error("ambiguous"));
        fault.at(3, Kind::Ambiguous, || error("another"));
        fault.overlap(&Bits::full(4), &Bits::new(4), Kind::Duplicate, || {
            error("nowhere")
        });
        let mut steps = Bits::full(200);
        fault.before(&mut steps);
        assert_eq!((steps.ones(), fault.is_settled()), (3, false));
        assert_eq!(fault.settle(), Err(error("ambiguous")));
        assert_eq!(Fault::default().settle(), Ok(()));
    }
}
