//! What all selections of a query mean → the fewest statements that read it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use schemas::rows::SeriesKind;

use crate::fetch::catalogue::{Entry, METRICS_A_STATEMENT};
use crate::fetch::resolve::{Part, Pick, Resolved};
use crate::fetch::sql::{Detail, Window};

/// Most series ids that one statement lists; more are cheaper to read and leave out.
const MAX_IDS: usize = 5000;

/// Which table holds the points of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Table {
    Samples,
    Histograms,
}

impl Table {
    fn of(kind: SeriesKind) -> Self {
        match kind {
            SeriesKind::Number => Self::Samples,
            SeriesKind::ExplicitHistogram | SeriesKind::ExponentialHistogram => Self::Histograms,
        }
    }
}

/// One statement: some metrics of one table in one window, for all selections that need just that.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) table: Table,
    pub(crate) window: Window,
    /// Ascending.
    pub(crate) metrics: Vec<Arc<str>>,
    pub(crate) detail: Detail,
    /// Where the points of a series go, by position of the metric (from 1) and id.
    pub(crate) slots: HashMap<(u32, u64), usize>,
    /// Whether nearly all series of the metrics are wanted.
    whole: bool,
    /// How many selections read the result.
    pub(crate) readers: usize,
}

impl Unit {
    /// The ids to list, where that is worth it.
    pub(crate) fn ids(&self) -> Option<Vec<u64>> {
        if self.whole || self.slots.len() > MAX_IDS {
            return None;
        }
        let mut ids: Vec<u64> = self.slots.keys().map(|(_, id)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        Some(ids)
    }

    /// The slot of a series that was wanted when the unit was made.
    pub(crate) fn slot(&self, entry: &Entry) -> Option<usize> {
        let position = self.metrics.binary_search(&entry.metric).ok()?;
        self.slots
            .get(&(u32::try_from(position + 1).ok()?, entry.id))
            .copied()
    }

    /// A unit whose slots a test fills in.
    #[cfg(test)]
    pub(crate) fn for_tests(
        table: Table,
        window: Window,
        metrics: &[&str],
        detail: Detail,
    ) -> Self {
        let metrics = metrics.iter().map(|metric| Arc::from(*metric)).collect();
        Self {
            table,
            window,
            metrics,
            detail,
            slots: HashMap::new(),
            whole: true,
            readers: 1,
        }
    }

    fn want(&mut self, pick: &Pick) {
        let Ok(position) = self.metrics.binary_search(&pick.entry.metric) else {
            return;
        };
        let next = self.slots.len();
        if let Ok(position) = u32::try_from(position + 1) {
            self.slots.entry((position, pick.entry.id)).or_insert(next);
        }
        self.detail = self.detail.max(detail(pick));
    }
}

/// How much of the points a pick needs.
fn detail(pick: &Pick) -> Detail {
    let buckets = pick
        .parts
        .iter()
        .any(|(part, _)| matches!(part, Part::Native | Part::Bucket(_) | Part::Buckets));
    match pick.entry.kind {
        _ if !buckets => Detail::Totals,
        SeriesKind::ExponentialHistogram => Detail::Everything,
        SeriesKind::Number | SeriesKind::ExplicitHistogram => Detail::Explicit,
    }
}

/// What makes two statements the same.
type Key = (Table, Window, Vec<Arc<str>>);

/// The statements, and for each selection which of them it reads.
#[derive(Debug, Default)]
pub(crate) struct Units {
    pub(crate) units: Vec<Unit>,
    pub(crate) read_by: Vec<Vec<usize>>,
    known: HashMap<Key, usize>,
}

impl Units {
    /// Plans the reading of `selections`: what each means and in which window (`None`: no samples can be
    /// there).
    pub(crate) fn plan(selections: &[(Resolved, Option<Window>)]) -> Self {
        let mut units = Self::default();
        for (resolved, window) in selections {
            let read = window.map_or_else(Vec::new, |window| units.add(resolved, window));
            units.read_by.push(read);
        }
        units
    }

    fn add(&mut self, resolved: &Resolved, window: Window) -> Vec<usize> {
        let mut by_table: BTreeMap<Table, BTreeSet<Arc<str>>> = BTreeMap::new();
        for pick in &resolved.picks {
            by_table
                .entry(Table::of(pick.entry.kind))
                .or_default()
                .insert(Arc::clone(&pick.entry.metric));
        }
        let mut read = Vec::new();
        for (table, metrics) in by_table {
            let metrics: Vec<Arc<str>> = metrics.into_iter().collect();
            for some in metrics.chunks(METRICS_A_STATEMENT) {
                let at = self.unit(table, window, some);
                let unit = &mut self.units[at];
                unit.readers += 1;
                unit.whole |= !resolved.by_label;
                let mine = resolved
                    .picks
                    .iter()
                    .filter(|pick| Table::of(pick.entry.kind) == table);
                mine.for_each(|pick| unit.want(pick));
                read.push(at);
            }
        }
        read
    }

    fn unit(&mut self, table: Table, window: Window, metrics: &[Arc<str>]) -> usize {
        let next = self.units.len();
        let at = *self
            .known
            .entry((table, window, metrics.to_vec()))
            .or_insert(next);
        if at == next {
            self.units.push(Unit {
                table,
                window,
                metrics: metrics.to_vec(),
                detail: Detail::Totals,
                slots: HashMap::new(),
                whole: false,
                readers: 0,
            });
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use promql::labels::Labels;
    use promql::select::MatcherSet;

    use super::*;

    type Wanted<'a> = (&'a str, u64, SeriesKind, Part);

    fn resolved(picks: &[Wanted<'_>], by_label: bool) -> Resolved {
        let picks = picks
            .iter()
            .map(|(metric, id, kind, part)| Pick {
                entry: Arc::new(Entry {
                    metric: (*metric).into(),
                    id: *id,
                    kind: *kind,
                    labels: Labels::empty(),
                    bounds: [].into(),
                }),
                parts: vec![(*part, Labels::empty())],
            })
            .collect();
        Resolved {
            matchers: Arc::new(MatcherSet::new(&[]).unwrap()),
            picks,
            by_label,
        }
    }

    #[test]
    fn selections_of_one_metric_and_window_are_read_once() {
        use SeriesKind::ExplicitHistogram;
        let window = Window::new(0, 1000);
        let plan = Units::plan(&[
            (
                resolved(&[("h", 7, ExplicitHistogram, Part::Sum)], true),
                window,
            ),
            (
                resolved(
                    &[
                        ("h", 7, ExplicitHistogram, Part::Count),
                        ("h", 9, ExplicitHistogram, Part::Bucket(0)),
                    ],
                    true,
                ),
                window,
            ),
            (
                resolved(&[("h", 7, ExplicitHistogram, Part::Count)], true),
                Window::new(0, 2000),
            ),
            (
                resolved(&[("h", 7, ExplicitHistogram, Part::Count)], true),
                None,
            ),
        ]);
        assert_eq!(plan.read_by, [vec![0], vec![0], vec![1], vec![]]);
        assert_eq!((plan.units[0].readers, plan.units[1].readers), (2, 1));
        assert_eq!(
            (plan.units[0].detail, plan.units[1].detail),
            (Detail::Explicit, Detail::Totals)
        );
        assert_eq!(plan.units[0].ids(), Some(vec![7, 9]));
    }

    #[test]
    fn a_selection_without_label_conditions_lists_no_ids() {
        let picks = [
            ("a", 1, SeriesKind::Number, Part::Number),
            ("b", 2, SeriesKind::ExponentialHistogram, Part::Native),
        ];
        let plan = Units::plan(&[(resolved(&picks, false), Window::new(0, 1000))]);
        assert_eq!(plan.read_by, [vec![0, 1]]);
        assert_eq!(plan.units[0].ids(), None);
        assert_eq!(
            (plan.units[0].table, plan.units[1].table),
            (Table::Samples, Table::Histograms)
        );
        assert_eq!(plan.units[1].detail, Detail::Everything);
    }
}
