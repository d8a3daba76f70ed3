//! A selector and the catalogue → which stored series it means, and under which labels they show.

use std::collections::HashMap;
use std::sync::Arc;

use auth::tenant::TenantScope;
use promql::ast::{MatchOp, Matcher};
use promql::labels::{Labels, METRIC_NAME};
use promql::select::MatcherSet;
use schemas::rows::SeriesKind;

use crate::budget::Budget;
use crate::fetch::FetchError;
use crate::fetch::catalogue::{Catalogue, Entries, Entry, METRICS_A_STATEMENT, Wanted};
use crate::fetch::names::{NameRule, View, Views};
use crate::fetch::sql::{Days, Equal};

/// The label of a classic bucket's upper bound.
pub(crate) const LE: &str = "le";

/// What of a stored series a selector sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    /// The samples of a number.
    Number,
    /// Native histogram samples.
    Native,
    /// The count of every point.
    Count,
    /// The sum of every point that has one.
    Sum,
    /// Observations up to the explicit bound of this position; one more than there are bounds is +Inf.
    Bucket(usize),
    /// All classic buckets of an exponential histogram: their `le` is known once points are read.
    Buckets,
}

/// A stored series that a selector means, with the labels of each part that matches.
#[derive(Clone, Debug)]
pub(crate) struct Pick {
    pub(crate) entry: Arc<Entry>,
    pub(crate) parts: Vec<(Part, Labels)>,
}

/// All that a selector means.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub(crate) matchers: Arc<MatcherSet>,
    pub(crate) picks: Vec<Pick>,
    /// Whether there are conditions on more than the name and `le`.
    pub(crate) by_label: bool,
}

impl Resolved {
    /// What a selector means in a window that no sample can be in.
    pub(crate) fn nothing(matchers: &[Matcher]) -> Result<Self, FetchError> {
        let matchers = Arc::new(MatcherSet::new(matchers)?);
        Ok(Self {
            matchers,
            picks: Vec::new(),
            by_label: false,
        })
    }
}

/// Finds the series that match on these days.
pub(crate) async fn resolve(
    catalogue: &Catalogue,
    scope: &TenantScope,
    matchers: &[Matcher],
    days: Days,
    budget: &Budget,
) -> Result<Resolved, FetchError> {
    let compiled = Arc::new(MatcherSet::new(matchers)?);
    let rule = NameRule::of(matchers, &compiled, budget.both_views);
    let by_label = matchers
        .iter()
        .any(|one| one.name != METRIC_NAME && one.name != LE);
    let metrics = match rule.sources() {
        Some(sources) => sources,
        None => matching_metrics(catalogue, scope, &rule, days, budget).await?,
    };
    let mut picks = Vec::new();
    let mut parts = 0;
    for some in metrics.chunks(METRICS_A_STATEMENT) {
        let wanted = Wanted {
            metrics: some.to_vec(),
            equals: equals(matchers),
            days,
        };
        let entries = catalogue.series(scope, wanted, budget).await?;
        for pick in picked_elsewhere(entries, (matchers, budget.both_views), &compiled).await? {
            parts += pick.parts.len();
            if parts > budget.series {
                return Err(FetchError::TooManySeries(budget.series));
            }
            picks.push(pick);
        }
    }
    Ok(Resolved {
        matchers: Arc::clone(&compiled),
        picks,
        by_label,
    })
}

/// The stored metrics some view of which can match.
async fn matching_metrics(
    catalogue: &Catalogue,
    scope: &TenantScope,
    rule: &NameRule<'_>,
    days: Days,
    budget: &Budget,
) -> Result<Vec<Arc<str>>, FetchError> {
    let known = catalogue.metrics(scope, days, budget).await?;
    let can_match = |metric: &&crate::fetch::catalogue::Metric| {
        metric
            .kinds
            .iter()
            .any(|kind| !rule.views(&metric.name, *kind).is_empty())
    };
    Ok(known
        .iter()
        .filter(can_match)
        .map(|metric| Arc::clone(&metric.name))
        .collect())
}

/// The conditions that ClickHouse checks: equality of labels that are stored as such.
fn equals(matchers: &[Matcher]) -> Vec<Equal> {
    let mut equals: Vec<Equal> = matchers
        .iter()
        .filter(|one| one.op == MatchOp::Equal && one.name != METRIC_NAME && one.name != LE)
        .map(|one| (one.name.clone(), one.value.clone()))
        .collect();
    equals.sort();
    equals.dedup();
    equals
}

/// Entries after which matching them is work for another thread.
const MANY: usize = 10_000;

/// [`picked`], away from the reactor where that takes long.
async fn picked_elsewhere(
    entries: Entries,
    (matchers, both_views): (&[Matcher], bool),
    compiled: &Arc<MatcherSet>,
) -> Result<Vec<Pick>, FetchError> {
    if entries.len() < MANY {
        let rule = NameRule::of(matchers, compiled, both_views);
        return Ok(picked(&entries, &rule, compiled));
    }
    let (matchers, compiled) = (matchers.to_vec(), Arc::clone(compiled));
    let work = move || {
        let rule = NameRule::of(&matchers, &compiled, both_views);
        picked(&entries, &rule, &compiled)
    };
    tokio::task::spawn_blocking(work)
        .await
        .map_err(FetchError::Panicked)
}

/// The entries some part of which matches.
fn picked(entries: &[Arc<Entry>], rule: &NameRule<'_>, matchers: &MatcherSet) -> Vec<Pick> {
    let mut views: HashMap<(&str, SeriesKind), Views> = HashMap::new();
    let mut picks = Vec::new();
    for entry in entries {
        let views = views
            .entry((&entry.metric, entry.kind))
            .or_insert_with(|| rule.views(&entry.metric, entry.kind));
        let mut parts = Vec::new();
        for (view, name) in views.iter() {
            add_parts(&mut parts, entry, (*view, name), matchers);
        }
        if !parts.is_empty() {
            picks.push(Pick {
                entry: Arc::clone(entry),
                parts,
            });
        }
    }
    picks
}

/// Adds what of `entry` matches in one view.
fn add_parts(
    parts: &mut Vec<(Part, Labels)>,
    entry: &Entry,
    (view, name): (View, &Arc<str>),
    matchers: &MatcherSet,
) {
    let one = |part: Part, labels: Labels| matchers.matches(&labels).then_some((part, labels));
    match view {
        View::Number => parts.extend(one(Part::Number, entry.labels.clone())),
        View::Native => parts.extend(one(Part::Native, entry.labels.clone())),
        View::Count => parts.extend(one(Part::Count, entry.labels.with(METRIC_NAME, name))),
        View::Sum => parts.extend(one(Part::Sum, entry.labels.with(METRIC_NAME, name))),
        View::Bucket => {
            let base = entry.labels.with(METRIC_NAME, name);
            if entry.kind == SeriesKind::ExponentialHistogram {
                // Which `le` match is decided when they are known.
                parts.push((Part::Buckets, base));
                return;
            }
            let bounds = entry
                .bounds
                .iter()
                .map(|bound| bound_text(*bound))
                .chain([INFINITY.to_owned()]);
            parts.extend(
                bounds
                    .enumerate()
                    .filter_map(|(at, le)| one(Part::Bucket(at), base.with(LE, &le))),
            );
        }
    }
}

/// The `le` of the bucket that holds everything.
pub(crate) const INFINITY: &str = "+Inf";

/// A bound as `le`: the shortest decimal that reads back equal, without exponent.
pub(crate) fn bound_text(bound: f64) -> String {
    if bound == f64::INFINITY {
        return INFINITY.to_owned();
    }
    let mut text = Vec::new();
    crate::http::json::plain(&mut text, bound);
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(metric: &str, kind: SeriesKind, bounds: &[f64]) -> Arc<Entry> {
        let labels = Labels::from_pairs([("__name__", metric), ("app", "x")]);
        Arc::new(Entry {
            metric: metric.into(),
            id: 1,
            kind,
            labels,
            bounds: bounds.into(),
        })
    }

    fn shown(selector: &str, entries: &[Arc<Entry>]) -> Vec<String> {
        let matchers = promql::parse::parse_metric_selector(selector).unwrap();
        let compiled = MatcherSet::new(&matchers).unwrap();
        let rule = NameRule::of(&matchers, &compiled, false);
        let picks = picked(entries, &rule, &compiled);
        picks
            .into_iter()
            .flat_map(|pick| pick.parts)
            .map(|(part, labels)| {
                let le = labels.get("le");
                format!(
                    "{part:?} {}{}{le}",
                    labels.name(),
                    if le.is_empty() { "" } else { " le=" }
                )
            })
            .collect()
    }

    #[test]
    fn buckets_match_by_their_virtual_le() {
        let entries = [entry("h", SeriesKind::ExplicitHistogram, &[0.5, 5.0, 1e21])];
        assert_eq!(
            shown("h_bucket", &entries),
            [
                "Bucket(0) h_bucket le=0.5",
                "Bucket(1) h_bucket le=5",
                "Bucket(2) h_bucket le=1000000000000000000000",
                "Bucket(3) h_bucket le=+Inf"
            ]
        );
        assert_eq!(
            shown(r#"h_bucket{le="5"}"#, &entries),
            ["Bucket(1) h_bucket le=5"]
        );
        assert_eq!(shown(r#"h_bucket{le="5.0"}"#, &entries), [""; 0]);
        assert_eq!(
            shown(r#"h_bucket{le=~"5|\\+Inf"}"#, &entries),
            ["Bucket(1) h_bucket le=5", "Bucket(3) h_bucket le=+Inf"]
        );
        assert_eq!(
            shown(r#"{__name__=~"h_.*",le=""}"#, &entries),
            ["Count h_count", "Sum h_sum"]
        );
        assert_eq!(shown(r#"h_bucket{app="y"}"#, &entries), [""; 0]);
    }

    #[test]
    fn a_gauge_and_a_histogram_part_of_the_same_name_are_both_found() {
        let entries = [
            entry("cog_runtime_slot_count", SeriesKind::Number, &[]),
            entry("cog_runtime_slot", SeriesKind::ExplicitHistogram, &[1.0]),
        ];
        assert_eq!(
            shown("cog_runtime_slot_count", &entries),
            [
                "Number cog_runtime_slot_count",
                "Count cog_runtime_slot_count"
            ]
        );
    }

    #[test]
    fn exponential_histograms_show_natively_unless_a_classic_part_is_named() {
        let entries = [entry("e", SeriesKind::ExponentialHistogram, &[])];
        assert_eq!(shown(r#"{app="x"}"#, &entries), ["Native e"]);
        assert_eq!(shown(r#"e_bucket{le="2"}"#, &entries), ["Buckets e_bucket"]);
        assert_eq!(shown("e_count", &entries), ["Count e_count"]);
    }

    #[test]
    fn clickhouse_checks_equality_of_stored_labels_alone() {
        let matchers =
            promql::parse::parse_metric_selector(r#"m{b="2",a="",le="5",c=~"x",d!="y",a=""}"#)
                .unwrap();
        assert_eq!(
            equals(&matchers),
            [("a".into(), String::new()), ("b".into(), "2".into())]
        );
    }
}
