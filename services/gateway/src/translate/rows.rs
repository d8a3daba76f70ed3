//! Collects the rows of a push: one row per series and time, one series row per series and day that is new.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use schemas::rows::{SeriesKind, day_of};

use super::Refusal;
use super::family::Family;
use super::identity::{series_id, write};
use super::labels::Label;
use super::reject::Reason;
use crate::batch::{Histogram, Sample, Series};
use crate::known::{Fingerprint, Known};

/// The value that ends a series; it is told from other NaNs by its bits.
pub(super) const STALE_BITS: u64 = 0x7ff0_0000_0000_0002;

/// Which point a row is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key<'p> {
    pub(super) family: Family,
    pub(super) shape: Shape<'p>,
    pub(super) labels: &'p [Label<'p>],
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

/// Family, id, day.
type SeriesDay = (u32, u64, u16);

/// A series of one day, with the first of its rows.
#[derive(Debug)]
struct Seen {
    /// Counts the series of the push.
    number: usize,
    /// Its row, unless that is stored already.
    row: Option<usize>,
    /// Where its labels and shape are written down.
    identity: (usize, usize),
    ts: i64,
    first: Held,
}

/// The rows so far.
#[derive(Debug)]
pub(super) struct Rows<'c> {
    pub(super) samples: Vec<Sample>,
    pub(super) histograms: Vec<Histogram>,
    pub(super) series: NewSeries<'c>,
    /// Indices of families of which two scopes have a point with the same labels and time.
    pub(super) contested: HashSet<u32>,
    /// Bytes that further rows may take.
    room: usize,
    seen: HashMap<SeriesDay, Seen, RandomState>,
    /// The rows of a series after its first, by number of the series and time: most pushes have one point a
    /// series, so this stays empty.
    later: HashMap<(usize, i64), Held, RandomState>,
    /// Labels and shapes of all series of the push, one after the other, as their ids are made of them.
    identities: Vec<u8>,
}

impl<'c> Rows<'c> {
    /// No rows yet, and at most about `room` bytes of them; none for a series that is `known`.
    pub(super) fn within(room: usize, known: &'c Known, points: usize) -> Self {
        Self {
            samples: Vec::new(),
            histograms: Vec::new(),
            series: NewSeries {
                known,
                rows: Vec::new(),
                fresh: Vec::new(),
            },
            contested: HashSet::new(),
            room,
            seen: HashMap::with_capacity_and_hasher(points, RandomState::default()),
            later: HashMap::default(),
            identities: Vec::new(),
        }
    }

    /// The series id of a point and the slot for its row. For a series that is new to this push and day, and not
    /// known as stored, writes the series' row: whoever limits the number of series has to do it here.
    pub(super) fn slot(&mut self, key: &Key<'_>) -> Result<(u64, Slot), Refusal> {
        let start = self.identities.len();
        write(
            key.labels,
            key.shape.kind,
            key.shape.bounds,
            &mut self.identities,
        );
        let id = series_id(&self.identities[start..]);
        let slot = self.find(key, id, start);
        if !matches!(slot, Ok(Found::New)) {
            self.identities.truncate(start);
        }
        match slot? {
            Found::New | Found::Later => Ok((id, Slot::Fresh)),
            Found::Taken(row) => Ok((id, Slot::Taken(row))),
        }
    }

    /// The slot for a point, whose identity is written down from `start` on.
    fn find(&mut self, key: &Key<'_>, id: u64, start: usize) -> Result<Found, Refusal> {
        let (row, size) = self.next(key.shape);
        let held = Held {
            row,
            scope: key.scope,
        };
        let number = self.seen.len();
        let seen = match self.seen.entry((key.family.index, id, day_of(key.ts))) {
            Entry::Vacant(vacant) => {
                let end = self.identities.len();
                take_room(&mut self.room, size + size_of::<Seen>() + end - start)?;
                let row = self.series.add(key, id, &mut self.room)?;
                vacant.insert(Seen {
                    number,
                    row,
                    identity: (start, end),
                    ts: key.ts,
                    first: held,
                });
                return Ok(Found::New);
            }
            Entry::Occupied(seen) => seen.into_mut(),
        };
        let (from, to) = seen.identity;
        if self.identities[from..to] != self.identities[start..] {
            return Err(Refusal::new(
                Reason::IdCollision,
                format!("series id {id:016x} is taken by other labels"),
            ));
        }
        if let Some(row) = seen.row {
            self.series.extend(row, key.ts);
        }
        let holder = if seen.ts == key.ts {
            seen.first
        } else {
            match self.later.entry((seen.number, key.ts)) {
                Entry::Vacant(vacant) => {
                    take_room(&mut self.room, size)?;
                    vacant.insert(held);
                    return Ok(Found::Later);
                }
                Entry::Occupied(holder) => *holder.get(),
            }
        };
        if holder.scope != key.scope {
            self.contested.insert(key.family.index);
        }
        Ok(Found::Taken(holder.row))
    }

    /// Index and size in memory of the next row of this shape.
    fn next(&self, shape: Shape<'_>) -> (usize, usize) {
        match shape.kind {
            SeriesKind::Number => (self.samples.len(), size_of::<Sample>()),
            SeriesKind::ExplicitHistogram | SeriesKind::ExponentialHistogram => {
                let buckets = size_of_val(shape.bounds);
                (self.histograms.len(), size_of::<Histogram>() + buckets)
            }
        }
    }
}

/// Series of the push that are not stored yet.
#[derive(Debug)]
pub(super) struct NewSeries<'c> {
    known: &'c Known,
    pub(super) rows: Vec<Series>,
    /// Prints of the rows.
    pub(super) fresh: Vec<Fingerprint>,
}

impl NewSeries<'_> {
    /// Writes the row of a point's series, unless that is known; its index.
    fn add(&mut self, key: &Key<'_>, id: u64, room: &mut usize) -> Result<Option<usize>, Refusal> {
        let print = key.family.print.series(id, day_of(key.ts));
        if self.known.has(print) {
            return Ok(None);
        }
        take_room(room, weight(key))?;
        self.fresh.push(print);
        self.rows.push(series_row(key, id));
        Ok(Some(self.rows.len() - 1))
    }

    /// Notes a further time of the series with this row.
    fn extend(&mut self, row: usize, ts: i64) {
        let series = &mut self.rows[row];
        series.first_seen = series.first_seen.min(seconds(ts));
        series.last_seen = series.last_seen.max(seconds(ts));
    }
}

/// Seconds since the epoch, as the tables have them.
fn seconds(ts: i64) -> u32 {
    u32::try_from(ts.div_euclid(1000).max(0)).unwrap_or(u32::MAX)
}

/// What there is of a point's series and time.
enum Found {
    /// Nothing.
    New,
    /// The series with another time.
    Later,
    /// Both, in this row.
    Taken(usize),
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

/// Bytes in memory of a series' row.
fn weight(key: &Key<'_>) -> usize {
    let one =
        |label: &Label<'_>| size_of::<(String, String)>() + label.name.len() + label.value.len();
    let labels: usize = key.labels.iter().map(one).sum();
    size_of::<Series>() + size_of::<Fingerprint>() + size_of_val(key.shape.bounds) + labels
}

fn series_row(key: &Key<'_>, id: u64) -> Series {
    let owned = |label: &Label<'_>| (label.name.to_owned(), label.value.to_owned());
    Series {
        name: key.family.index,
        day: day_of(key.ts),
        id,
        kind: key.shape.kind.code(),
        labels: key.labels.iter().map(owned).collect(),
        bounds: key.shape.bounds.to_vec(),
        first_seen: seconds(key.ts),
        last_seen: seconds(key.ts),
    }
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
