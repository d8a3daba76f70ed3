//! Arithmetic and comparisons between two vectors: series that match are combined step by step.

use crate::ast::{Cardinality, Matching};
use crate::error::EvalError;
use crate::eval::Evaluator;
use crate::eval::aggregate::groups::Groups;
use crate::eval::grid::{Bits, Column, Steps};
use crate::labels::{Labels, joins};

use super::Operator;
use super::cell::{Notes, Operand, Outcome, arithmetic, combine, compare};
use super::fault::{Fault, Kind};
use super::gather::{Made, ambiguous, gather};

/// The work of one operator. "Many" is the left side, with `group_right` the right one.
struct Match<'a> {
    operator: Operator,
    matching: &'a Matching,
    delays_names: bool,
    many: &'a [Column],
    one: &'a [Column],
    /// The group of each series.
    many_groups: &'a [usize],
    one_groups: &'a [usize],
    /// The series of the one side in each group.
    ones: Vec<Vec<usize>>,
    steps: Steps,
    notes: Notes,
    /// At which steps a group has been combined.
    matched: Vec<Bits>,
    out: Vec<Made>,
    fault: Fault,
}

/// One side of a pair of series.
#[derive(Clone, Copy)]
enum Side<'a> {
    Series(&'a Column),
    /// What stands for a missing sample.
    Fill(f64),
}

impl Evaluator<'_> {
    pub(super) fn matched(
        &self,
        operator: Operator,
        matching: &Matching,
        (left, right): (&[Column], &[Column]),
        steps: Steps,
    ) -> Result<Vec<Column>, EvalError> {
        let (many, one) = match matching.card {
            Cardinality::OneToMany => (right, left),
            _ => (left, right),
        };
        let labels = many.iter().chain(one).map(|column| &column.labels);
        let groups = Groups::new(labels, |name| joins(matching.on, &matching.labels, name));
        let (many_groups, one_groups) = groups.of.split_at(many.len());
        let mut ones = vec![Vec::new(); groups.labels.len()];
        for (series, group) in one_groups.iter().enumerate() {
            ones[*group].push(series);
        }
        let mut work = Match {
            operator,
            matching,
            delays_names: self.delays_names(),
            many,
            one,
            many_groups,
            one_groups,
            ones,
            steps,
            notes: Notes::default(),
            matched: vec![Bits::new(steps.count); groups.labels.len()],
            out: Vec::new(),
            fault: Fault::default(),
        };
        work.check_one_side();
        work.pair_all(self)?;
        let Match {
            notes, out, fault, ..
        } = work;
        notes.write(self, operator.at);
        gather(out, fault)
    }
}

impl<'a> Match<'a> {
    /// No step may have two series of one group on the one side. Of several such groups, the one is named whose
    /// second series stands first.
    fn check_one_side(&mut self) {
        let mut first: Option<(usize, usize)> = None;
        let mut relevant: Option<Bits> = None;
        for ones in self.ones.iter().filter(|ones| ones.len() > 1) {
            let relevant = relevant.get_or_insert_with(|| self.relevant_steps());
            let mut seen = Bits::new(self.steps.count);
            for series in ones {
                let mut both = self.one[*series].presence();
                let presence = both.clone();
                both.keep(&seen);
                both.keep(relevant);
                if let Some(step) = both.iter().next()
                    && first.is_none_or(|earliest| (step, *series) < earliest)
                {
                    first = Some((step, *series));
                }
                seen.add(&presence);
            }
        }
        if let Some((step, series)) = first {
            let error = self.duplicate(step, self.one_groups[series]);
            self.fault.at(step, Kind::Duplicate, || error);
        }
    }

    /// The steps at which there is anything to match: without `fill`, both sides have samples.
    fn relevant_steps(&self) -> Bits {
        if self.matching.fill_left.is_some() || self.matching.fill_right.is_some() {
            return Bits::full(self.steps.count);
        }
        let mut steps = Bits::new(self.steps.count);
        self.many
            .iter()
            .for_each(|column| steps.add(&column.presence()));
        steps
    }

    fn duplicate(&self, step: usize, group: usize) -> EvalError {
        let mut found = self.ones[group]
            .iter()
            .filter(|series| self.one[**series].has(step));
        let mut labels = || found.next().map(|series| &self.one[*series].labels);
        let (first, second) = (labels(), labels());
        let shared = second.map_or_else(Labels::empty, |labels| self.shared(labels));
        let mut names =
            [first, second].map(|labels| labels.map(Labels::to_string).unwrap_or_default());
        names.sort();
        let [first, second] = names;
        let side = if self.matching.card == Cardinality::OneToMany {
            "left"
        } else {
            "right"
        };
        EvalError::Execution(format!(
            "found duplicate series for the match group {shared} on the {side} hand-side of the operation: \
             [{first}, {second}];many-to-many matching not allowed: matching labels must be unique on one side"
        ))
    }

    fn shared(&self, labels: &Labels) -> Labels {
        labels.matching(self.matching.on, &self.matching.labels)
    }

    fn pair_all(&mut self, ev: &Evaluator<'_>) -> Result<(), EvalError> {
        let (many, one) = (self.many, self.one);
        for (column, group) in many.iter().zip(self.many_groups) {
            ev.check()?;
            if self.fault.is_settled() {
                return Ok(());
            }
            let mut missing = column.presence();
            for series in self.ones[*group].clone() {
                let other = &one[series];
                let presence = other.presence();
                let mut both = column.presence();
                both.keep(&presence);
                missing.remove(&presence);
                let labels = (&column.labels, &other.labels);
                self.pair(
                    *group,
                    labels,
                    (Side::Series(column), Side::Series(other)),
                    both,
                );
            }
            if let Some(fill) = self.matching.fill_right {
                let shared = self.shared(&column.labels);
                let labels = (&column.labels, &shared);
                self.pair(
                    *group,
                    labels,
                    (Side::Series(column), Side::Fill(fill)),
                    missing,
                );
            }
        }
        if let Some(fill) = self.matching.fill_left {
            for (other, group) in one.iter().zip(self.one_groups) {
                let mut missing = other.presence();
                missing.remove(&self.matched[*group]);
                let shared = self.shared(&other.labels);
                let labels = (&shared, &other.labels);
                self.pair(
                    *group,
                    labels,
                    (Side::Fill(fill), Side::Series(other)),
                    missing,
                );
            }
        }
        Ok(())
    }

    /// Combines two sides at `steps`, as far as no fault comes before.
    fn pair(
        &mut self,
        group: usize,
        labels: (&Labels, &Labels),
        sides: (Side<'a>, Side<'a>),
        mut steps: Bits,
    ) {
        self.fault.before(&mut steps);
        if !steps.any() {
            return;
        }
        let mut column = Column::new(self.result_labels(labels), self.steps.count);
        column.drop_name = self.operator.returns_bool;
        let met = match sides {
            (Side::Series(many), Side::Series(one))
                if many.hists.is_empty() && one.hists.is_empty() && !self.trims() =>
            {
                self.floats(&mut column, many, one, &steps);
                steps
            }
            _ => self.cells(&mut column, sides, &steps),
        };
        if self.matching.card == Cardinality::OneToOne {
            self.fault
                .overlap(&met, &self.matched[group], Kind::Ambiguous, || {
                    ambiguous("many-to-one matching must be explicit (group_left/group_right)")
                });
        }
        self.matched[group].add(&met);
        self.out.push(Made { group, met, column });
    }

    fn trims(&self) -> bool {
        use crate::ast::BinaryOp::{TrimLower, TrimUpper};
        matches!(self.operator.op, TrimUpper | TrimLower)
    }

    /// The many side is the left one.
    fn in_order<T>(&self, many: T, one: T) -> (T, T) {
        if self.matching.card == Cardinality::OneToMany {
            (one, many)
        } else {
            (many, one)
        }
    }

    /// Two series without histograms.
    fn floats(&self, out: &mut Column, many: &Column, one: &Column, steps: &Bits) {
        let op = self.operator.op;
        let (left, right) = self.in_order(&many.vals, &one.vals);
        out.floats = steps.clone();
        let cells = out.vals.iter_mut().zip(left.iter().zip(right));
        if compare(op, 0.0, 0.0).is_none() {
            cells.for_each(|(out, (left, right))| *out = arithmetic(op, *left, *right));
            return;
        }
        for (step, (out_value, (left, right))) in cells.enumerate() {
            let keep = compare(op, *left, *right).unwrap_or(false);
            if self.operator.returns_bool {
                *out_value = f64::from(u8::from(keep));
            } else {
                *out_value = *left;
                if !keep {
                    out.floats.clear(step);
                }
            }
        }
    }

    /// Any two sides; gives the steps at which they could be combined.
    fn cells(&mut self, out: &mut Column, sides: (Side<'a>, Side<'a>), steps: &Bits) -> Bits {
        let mut met = Bits::new(self.steps.count);
        for step in steps.iter() {
            let (Some(many), Some(one)) = (sides.0.at(step), sides.1.at(step)) else {
                continue;
            };
            let (left, right) = self.in_order(many, one);
            let (outcome, note) = combine(self.operator.op, left, right);
            self.notes.set(step, note);
            let returns_bool = self.operator.returns_bool;
            match outcome {
                Outcome::Nothing => continue,
                Outcome::Float(_, keep) | Outcome::Hist(_, keep) if returns_bool => {
                    out.set_float(step, f64::from(u8::from(keep)));
                }
                Outcome::Float(value, true) => out.set_float(step, value),
                Outcome::Hist(hist, true) => out.set_hist(step, hist),
                Outcome::Float(..) | Outcome::Hist(..) => {}
            }
            met.set(step);
        }
        met
    }

    /// The labels of a result, of the many side and the one side.
    fn result_labels(&self, (many, one): (&Labels, &Labels)) -> Labels {
        let Operator { returns_bool, .. } = self.operator;
        let nameless = self.operator.changes_metric() || (returns_bool && !self.delays_names);
        let mut labels = if nameless {
            many.without_metadata()
        } else {
            many.clone()
        };
        if self.matching.card == Cardinality::OneToOne {
            let named = |name: &str| self.matching.labels.iter().any(|one| one == name);
            labels = labels.filter(|name| named(name) == self.matching.on);
        }
        for name in &self.matching.include {
            labels = labels.with(name, one.get(name));
        }
        labels
    }
}

impl<'a> Side<'a> {
    fn at(self, step: usize) -> Option<Operand<'a>> {
        match self {
            Self::Fill(value) => Some(Operand::Float(value)),
            Self::Series(column) => match column.hist(step) {
                Some(hist) => Some(Operand::Hist(hist)),
                None => column.float(step).map(Operand::Float),
            },
        }
    }
}
