//! The samples of a window become their increase or difference.

use super::{Buckets, Histogram, IncompatibleSchemas, ResetHint};

/// How the samples of a window are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateKind {
    /// For `rate`, `increase` and `irate`: resets are bridged.
    Counter,
    /// For `delta` and `idelta`: last minus first.
    Gauge,
}

/// Something to tell the user about a difference; each is one annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateNote {
    /// Warning: a counter function met a gauge ("this native histogram metric is not a counter").
    NotACounter,
    /// Warning: a gauge function met a counter ("this native histogram metric is not a gauge").
    NotAGauge,
    /// Info: custom bounds were reconciled during a subtraction.
    ReconciledSubtraction,
    /// Info: custom bounds were reconciled during an addition.
    ReconciledAddition,
}

/// The difference over a window: a compact gauge histogram, with what to tell the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Not yet extrapolated and not yet divided by seconds.
    pub histogram: Histogram,
    /// Each kind at most once.
    pub notes: Vec<RateNote>,
}

impl Difference {
    fn note(notes: &mut Vec<RateNote>, note: RateNote) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}

impl Histogram {
    /// What `rate`, `increase` and `delta` extrapolate from: the last of `points` minus the first, plus, for
    /// counters, what was there before each reset. `restarted(i)` says whether start timestamps tell of a
    /// reset between points `i - 1` and `i`; `|_| false` where there are none. `None` for fewer than two points.
    ///
    /// # Errors
    /// The window mixes custom bounds and exponential buckets.
    pub fn difference(
        points: &[&Self],
        kind: RateKind,
        restarted: &dyn Fn(usize) -> bool,
    ) -> Option<Result<Difference, IncompatibleSchemas>> {
        let [first, second, ..] = points else {
            return None;
        };
        let last = points.last()?;
        Some(
            Window {
                points,
                first,
                second,
                last,
                restarted,
            }
            .difference(kind),
        )
    }

    /// What `irate` and `idelta` divide by seconds: `last` itself for a counter that was reset since
    /// `previous`, the difference otherwise. `restarted`: start timestamps tell of a reset.
    ///
    /// # Errors
    /// One has custom bounds, the other exponential buckets.
    pub fn instant_difference(
        previous: &Self,
        last: &Self,
        kind: RateKind,
        restarted: bool,
    ) -> Result<Difference, IncompatibleSchemas> {
        let mut notes = ends_notes(previous, last, kind);
        let mut histogram = last.clone();
        let reset = kind == RateKind::Counter && (restarted || last.detect_reset(previous));
        if !reset && histogram.sub(previous)?.bounds_reconciled {
            Difference::note(&mut notes, RateNote::ReconciledSubtraction);
        }
        histogram.reset_hint = ResetHint::Gauge;
        histogram.compact();
        Ok(Difference { histogram, notes })
    }
}

/// Whether the hints of the first and last sample fit the function.
fn ends_notes(first: &Histogram, last: &Histogram, kind: RateKind) -> Vec<RateNote> {
    let gauges = [first, last].map(|end| end.reset_hint == ResetHint::Gauge);
    match (kind, gauges) {
        (RateKind::Counter, [true, _] | [_, true]) => vec![RateNote::NotACounter],
        (RateKind::Gauge, [false, _] | [_, false]) => vec![RateNote::NotAGauge],
        _ => Vec::new(),
    }
}

/// At least two samples.
struct Window<'a> {
    points: &'a [&'a Histogram],
    first: &'a Histogram,
    second: &'a Histogram,
    last: &'a Histogram,
    restarted: &'a dyn Fn(usize) -> bool,
}

impl Window<'_> {
    fn difference(&self, kind: RateKind) -> Result<Difference, IncompatibleSchemas> {
        let mut notes = ends_notes(self.first, self.last, kind);
        let nothing;
        let mut base = self.first;
        if kind == RateKind::Counter && self.reset_between(1, self.first, self.second) {
            // What the first sample held does not matter, so neither may its layout.
            nothing = Histogram {
                schema: self.second.schema,
                custom_bounds: std::sync::Arc::clone(&self.second.custom_bounds),
                positive: Buckets::default(),
                ..Histogram::default()
            };
            base = &nothing;
        }
        let schema = self.coarsest_schema(base, kind, &mut notes)?;
        let mut histogram = self.last.at_schema(schema);
        if histogram.sub(base)?.bounds_reconciled {
            Difference::note(&mut notes, RateNote::ReconciledSubtraction);
        }
        if kind == RateKind::Counter {
            self.bridge_resets(&mut histogram, base, &mut notes)?;
        }
        histogram.reset_hint = ResetHint::Gauge;
        histogram.compact();
        Ok(Difference { histogram, notes })
    }

    fn reset_between(&self, at: usize, previous: &Histogram, current: &Histogram) -> bool {
        (self.restarted)(at) || current.detect_reset(previous)
    }

    /// The coarsest schema among the samples that matter; all of them have to be of one kind.
    fn coarsest_schema(
        &self,
        base: &Histogram,
        kind: RateKind,
        notes: &mut Vec<RateNote>,
    ) -> Result<i32, IncompatibleSchemas> {
        let custom = base.has_custom_bounds();
        if self.last.has_custom_bounds() != custom {
            return Err(IncompatibleSchemas);
        }
        let mut schema = base.schema.min(self.last.schema);
        let between = self.points.get(1..self.points.len() - 1).unwrap_or(&[]);
        for point in between.iter().filter(|_| kind == RateKind::Counter) {
            if point.reset_hint == ResetHint::Gauge {
                Difference::note(notes, RateNote::NotACounter);
            }
            if point.has_custom_bounds() != custom {
                return Err(IncompatibleSchemas);
            }
            schema = schema.min(point.schema);
        }
        Ok(schema)
    }

    /// Adds what the counter held before each reset.
    fn bridge_resets(
        &self,
        histogram: &mut Histogram,
        base: &Histogram,
        notes: &mut Vec<RateNote>,
    ) -> Result<(), IncompatibleSchemas> {
        let mut previous = base;
        for (at, current) in self.points.iter().enumerate().skip(1) {
            if self.reset_between(at, previous, current)
                && histogram.add(previous)?.bounds_reconciled
            {
                Difference::note(notes, RateNote::ReconciledAddition);
            }
            previous = current;
        }
        Ok(())
    }
}
