//! Collects the rows of a push: one row per series and time, one series row per series and day.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use schemas::rows::{HistogramRow, SampleRow, SeriesKind, SeriesRow, day_of};

use super::Refusal;
use super::labels::Label;
use super::reject::Reason;
use super::weight::Weight;

/// The value that ends a series; it is told from other NaNs by its bits.
pub(super) const STALE_BITS: u64 = 0x7ff0_0000_0000_0002;

/// Which point a row is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key<'p> {
    pub(super) metric: &'p Family,
    pub(super) shape: Shape<'p>,
    pub(super) labels: &'p [Label<'p>],
    pub(super) id: u64,
    /// Milliseconds since the epoch.
    pub(super) ts: i64,
    /// Number of the scope that the point came from.
    pub(super) scope: u32,
}

/// What is part of a series' identity beside its labels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape<'p> {
    pub(super) kind: SeriesKind,
    /// Explicit bounds; empty for other kinds.
    pub(super) bounds: &'p [f64],
}

/// A metric family of the push.
#[derive(Clone, Debug)]
pub(super) struct Family {
    /// Prometheus name.
    pub(super) name: String,
    /// Stands for the name within the push.
    pub(super) index: u32,
}

/// Where the row of a point goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// No row has this series and time yet: push one.
    Fresh,
    /// The row with this index has it: keep one of the two.
    Taken(usize),
}

/// A row that exists.
#[derive(Clone, Copy, Debug)]
struct Held {
    row: usize,
    scope: u32,
}

/// A series of one day, with the first of its rows.
#[derive(Debug)]
struct Known {
    series: usize,
    ts: i64,
    first: Held,
}

/// The rows so far.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) samples: Vec<SampleRow>,
    pub(super) histograms: Vec<HistogramRow>,
    pub(super) series: Vec<SeriesRow>,
    /// Indices of families of which two scopes have a point with the same labels and time.
    pub(super) contested: HashSet<u32>,
    /// Bytes that further rows may take.
    room: usize,
    known: HashMap<(u32, u64, u16), Known>,
    /// The rows of a series after its first, by index of the series row and time: most pushes have
    /// one point a series, so this stays empty.
    later: HashMap<(usize, i64), Held>,
}

impl Rows {
    /// No rows yet, and at most about `room` bytes of them.
    pub(super) fn within(room: usize) -> Self {
        Self {
            samples: Vec::new(),
            histograms: Vec::new(),
            series: Vec::new(),
            contested: HashSet::new(),
            room,
            known: HashMap::new(),
            later: HashMap::new(),
        }
    }

    /// Finds the slot for a point and, for a series that is new to this push and day, writes its row.
    pub(super) fn slot(&mut self, tenant: &str, key: &Key<'_>) -> Result<Slot, Refusal> {
        let (row, size) = match key.shape.kind {
            SeriesKind::Number => (self.samples.len(), size_of::<SampleRow>()),
            SeriesKind::ExplicitHistogram | SeriesKind::ExponentialHistogram => {
                (self.histograms.len(), size_of::<HistogramRow>())
            }
        };
        let names = tenant.len() + key.metric.name.len();
        let weight = size + names + size_of_val(key.shape.bounds);
        let held = Held {
            row,
            scope: key.scope,
        };
        let seconds = u32::try_from(key.ts.div_euclid(1000).max(0)).unwrap_or(u32::MAX);
        let known = match self.known.entry((key.metric.index, key.id, day_of(key.ts))) {
            Entry::Vacant(vacant) => {
                let series = series_row(tenant, key, seconds);
                take_room(&mut self.room, weight + series.weight())?;
                vacant.insert(Known {
                    series: self.series.len(),
                    ts: key.ts,
                    first: held,
                });
                self.series.push(series);
                return Ok(Slot::Fresh);
            }
            Entry::Occupied(known) => known.into_mut(),
        };
        let series = &mut self.series[known.series];
        if !is_same(series, key) {
            return Err(Refusal::new(
                Reason::IdCollision,
                format!("series id {:016x} is taken by other labels", key.id),
            ));
        }
        series.first_seen = series.first_seen.min(seconds);
        series.last_seen = series.last_seen.max(seconds);
        let holder = if known.ts == key.ts {
            known.first
        } else {
            match self.later.entry((known.series, key.ts)) {
                Entry::Vacant(vacant) => {
                    take_room(&mut self.room, weight)?;
                    vacant.insert(held);
                    return Ok(Slot::Fresh);
                }
                Entry::Occupied(holder) => *holder.get(),
            }
        };
        if holder.scope != key.scope {
            self.contested.insert(key.metric.index);
        }
        Ok(Slot::Taken(holder.row))
    }
}

fn take_room(room: &mut usize, weight: usize) -> Result<(), Refusal> {
    *room = room.checked_sub(weight).ok_or_else(|| {
        Refusal::new(
            Reason::RowsTooLarge,
            format!("its rows take {weight} bytes, and the push has only {room} left"),
        )
    })?;
    Ok(())
}

fn series_row(tenant: &str, key: &Key<'_>, seconds: u32) -> SeriesRow {
    SeriesRow {
        tenant: tenant.to_owned(),
        metric: key.metric.name.clone(),
        day: day_of(key.ts),
        id: key.id,
        kind: key.shape.kind.code(),
        labels: key
            .labels
            .iter()
            .map(|label| {
                (
                    label.name.clone().into_owned(),
                    label.value.clone().into_owned(),
                )
            })
            .collect(),
        bounds: key.shape.bounds.to_vec(),
        first_seen: seconds,
        last_seen: seconds,
    }
}

fn is_same(series: &SeriesRow, key: &Key<'_>) -> bool {
    series.kind == key.shape.kind.code()
        && series.bounds == key.shape.bounds
        && series.labels.len() == key.labels.len()
        && series
            .labels
            .iter()
            .zip(key.labels)
            .all(|((name, value), label)| *name == label.name && *value == label.value)
}

/// Orders values of the same series and time: the greatest is kept. NaN loses to any number, and the
/// stale marker to any other NaN, so that the outcome never depends on the order of arrival.
pub(super) fn rank(value: f64) -> (u8, f64) {
    match value {
        stale if stale.to_bits() == STALE_BITS => (0, 0.0),
        nan if nan.is_nan() => (1, 0.0),
        number => (2, number),
    }
}

/// Whether `new` takes the place of `old`, by [`rank`].
pub(super) fn outranks(new: f64, old: f64) -> std::cmp::Ordering {
    let ((new_class, new_value), (old_class, old_value)) = (rank(new), rank(old));
    new_class
        .cmp(&old_class)
        .then(new_value.total_cmp(&old_value))
}
