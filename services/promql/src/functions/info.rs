//! `info`: series gain the labels of the info series (`target_info` …) of the same job and instance.

use std::collections::{HashMap, HashSet};

use crate::error::EvalError;
use crate::eval::Evaluator;
use crate::eval::grid::{Column, Steps, merge};
use crate::eval::selector::{Latest, Lookup};
use crate::labels::{Labels, METRIC_NAME};
use crate::select::matcher::MatcherSet;
use crate::select::node::InfoSelection;

/// The labels that say which info series belongs to a series.
const IDENTIFYING: [&str; 2] = ["instance", "job"];

/// An info series: when its latest sample was taken, at each step.
struct Info {
    labels: Labels,
    times: Vec<Option<i64>>,
}

/// Name, instance and job.
type Key = (String, [String; 2]);

/// The work of one call.
struct Join<'a> {
    infos: Vec<Info>,
    /// The names of info metrics, in order of appearance.
    names: Vec<String>,
    /// The info series of each key.
    by_key: HashMap<Key, Vec<usize>>,
    data: &'a InfoSelection,
    matchers: MatcherSet,
    steps: Steps,
}

/// The series of `columns` with the labels of their info series.
pub(crate) fn info(
    ev: &Evaluator<'_>,
    columns: Vec<Column>,
    selection: &InfoSelection,
    steps: Steps,
) -> Result<Vec<Column>, EvalError> {
    let names = MatcherSet::new(&selection.names)?;
    let (ignored, enriched): (Vec<_>, Vec<_>) = columns
        .into_iter()
        .enumerate()
        .partition(|(_, column)| names.matches_value(METRIC_NAME, column.labels.name()));
    let infos = fetch(ev, &enriched, selection, steps)?;
    let join = Join::new(infos, selection, steps)?;
    join.check_conflicts(&ignored, &enriched)?;
    let mut out = ignored;
    for (position, column) in enriched {
        for made in join.enrich(&column)? {
            out.push((position, made));
        }
    }
    out.sort_by_key(|(position, _)| *position);
    merge(out.into_iter().map(|(_, column)| column).collect(), false)
}

/// The info series that can belong to some column, and the times of their samples.
fn fetch(
    ev: &Evaluator<'_>,
    columns: &[(usize, Column)],
    selection: &InfoSelection,
    steps: Steps,
) -> Result<Vec<Info>, EvalError> {
    let values = IDENTIFYING.map(|name| {
        let values = columns.iter().map(|(_, column)| column.labels.get(name));
        values
            .filter(|value| !value.is_empty())
            .collect::<HashSet<_>>()
    });
    if values.iter().all(HashSet::is_empty) {
        return Ok(Vec::new());
    }
    let mut infos = Vec::new();
    for series in ev.series(selection.selection) {
        ev.check()?;
        let known = IDENTIFYING
            .iter()
            .zip(&values)
            .all(|(name, values)| values.is_empty() || values.contains(series.labels.get(name)));
        if !known {
            continue;
        }
        let mut lookup = Lookup::new(series, ev.params.lookback);
        let mut times = Vec::with_capacity(steps.count);
        for step in 0..steps.count {
            let latest = lookup.at(selection.shift.of(steps.at(step)));
            if let Some(Latest::Hist(_)) = latest {
                let labels = &series.labels;
                let text = format!("this should be an info metric, with float samples: {labels}");
                return Err(EvalError::Execution(text));
            }
            times.push(latest.map(|latest| lookup.time(latest)));
        }
        if times.iter().any(Option::is_some) {
            infos.push(Info {
                labels: series.labels.clone(),
                times,
            });
        }
    }
    Ok(infos)
}

impl<'a> Join<'a> {
    fn new(infos: Vec<Info>, data: &'a InfoSelection, steps: Steps) -> Result<Self, EvalError> {
        let mut names: Vec<String> = Vec::new();
        let mut by_key: HashMap<Key, Vec<usize>> = HashMap::new();
        for (at, info) in infos.iter().enumerate() {
            let name = info.labels.name();
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
            by_key.entry(key(name, &info.labels)).or_default().push(at);
        }
        let matchers = MatcherSet::new(&data.data)?;
        Ok(Self {
            infos,
            names,
            by_key,
            data,
            matchers,
            steps,
        })
    }

    /// Two info series of one key may not have samples of the same time, wherever there is anything to
    /// enrich.
    fn check_conflicts(
        &self,
        ignored: &[(usize, Column)],
        enriched: &[(usize, Column)],
    ) -> Result<(), EvalError> {
        let several: Vec<&Vec<usize>> = self.by_key.values().filter(|all| all.len() > 1).collect();
        if several.is_empty() {
            return Ok(());
        }
        for step in 0..self.steps.count {
            if !ignored
                .iter()
                .chain(enriched)
                .any(|(_, column)| column.has(step))
            {
                continue;
            }
            for candidates in &several {
                self.newest(candidates, step)?;
            }
        }
        Ok(())
    }

    /// The info series whose sample at `step` is the newest.
    fn newest(&self, candidates: &[usize], step: usize) -> Result<Option<usize>, EvalError> {
        let mut newest: Option<(usize, i64)> = None;
        for at in candidates {
            let Some(time) = self.infos[*at].times[step] else {
                continue;
            };
            match newest {
                Some((_, known)) if known > time => {}
                Some((other, known)) if known == time => {
                    let (existing, new) = (&self.infos[other].labels, &self.infos[*at].labels);
                    let text = format!(
                        "found duplicate series for info metric: existing {existing} @ {known}, new {new} @ {time}"
                    );
                    return Err(EvalError::Execution(text));
                }
                _ => newest = Some((*at, time)),
            }
        }
        Ok(newest.map(|(at, _)| at))
    }

    /// A column under the labels it has with its info series; several where these change over time.
    fn enrich(&self, column: &Column) -> Result<Vec<Column>, EvalError> {
        let candidates: Vec<&[usize]> = self
            .names
            .iter()
            .map(|name| {
                self.by_key
                    .get(&key(name, &column.labels))
                    .map_or(&[][..], Vec::as_slice)
            })
            .collect();
        let mut known: HashMap<Vec<Option<usize>>, Option<usize>> = HashMap::new();
        let mut out: Vec<Column> = Vec::new();
        for step in column.presence().iter() {
            let chosen: Vec<Option<usize>> = candidates
                .iter()
                .map(|candidates| self.newest(candidates, step))
                .collect::<Result<_, _>>()?;
            let place = match known.get(&chosen) {
                Some(place) => *place,
                None => {
                    let labels = self.labels(&column.labels, &chosen)?;
                    let place = labels.map(|labels| {
                        let mut made = Column::new(labels, self.steps.count);
                        made.drop_name = column.drop_name;
                        out.push(made);
                        out.len() - 1
                    });
                    known.insert(chosen, place);
                    place
                }
            };
            if let Some(place) = place {
                match column.hist(step) {
                    Some(hist) => out[place].set_hist(step, std::sync::Arc::clone(hist)),
                    None => out[place].set_float(step, column.vals[step]),
                }
            }
        }
        Ok(out)
    }

    /// The labels with those of the chosen info series; `None` where conditions on them do not hold.
    fn labels(&self, base: &Labels, chosen: &[Option<usize>]) -> Result<Option<Labels>, EvalError> {
        if chosen.iter().all(Option::is_none) && !self.matchers.matches_empty() {
            return Ok(None);
        }
        let wanted = |name: &str| {
            let data = &self.data.data;
            data.is_empty() || data.iter().any(|matcher| matcher.name == name)
        };
        let mut labels = base.clone();
        let mut added = Labels::empty();
        for at in chosen.iter().flatten() {
            let pairs = self.infos[*at].labels.iter();
            for (name, value) in pairs.filter(|(name, _)| &***name != METRIC_NAME && wanted(name)) {
                let earlier = added.get(name);
                if !earlier.is_empty() && earlier != &**value {
                    return Err(EvalError::Execution(format!("conflicting label: {name}")));
                }
                if base.get(name).is_empty() {
                    added = added.with(name, value);
                    labels = labels.with(name, value);
                }
            }
        }
        Ok(Some(labels))
    }
}

fn key(name: &str, labels: &Labels) -> Key {
    (
        name.to_owned(),
        IDENTIFYING.map(|id| labels.get(id).to_owned()),
    )
}
