//! What the label APIs ask → series, label names, label values and metadata, without reading samples.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use auth::tenant::TenantScope;
use clickhouse::Row;
use promql::ast::Matcher;
use promql::labels::{Labels, METRIC_NAME};
use promql::select::MatcherSet;
use serde::Deserialize;

use crate::budget::Budget;
use crate::fetch::catalogue::{METRICS_A_STATEMENT, Metric};
use crate::fetch::names::{NameRule, View, Views};
use crate::fetch::resolve::{INFINITY, LE, Part, Pick, bound_text, resolve};
use crate::fetch::sql::{self, Days, Names};
use crate::fetch::{FetchError, Fetcher};
use crate::http::params::Listing;

/// An answer of a label API, in order.
pub(crate) type Listed<T> = Result<BTreeSet<T>, FetchError>;

/// One thing that was said about a metric family.
#[derive(Clone, Debug, PartialEq, Eq, Row, Deserialize)]
pub(crate) struct Family {
    pub(crate) family: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) unit: String,
    pub(crate) help: String,
}

/// What selectors on names alone mean.
#[derive(Debug, Default)]
struct Named {
    /// Whether these are all metrics of the tenant.
    all: bool,
    /// Stored metrics some view of which matches.
    metrics: Vec<Arc<str>>,
    /// Those of them whose classic buckets match.
    with_buckets: Vec<Arc<str>>,
    /// The names under which they show.
    names: BTreeSet<String>,
}

impl Named {
    /// The metrics by as many as one statement may name; one `None` for all.
    fn statements(&self) -> Vec<Option<&Names>> {
        if self.all {
            vec![None]
        } else {
            self.metrics.chunks(METRICS_A_STATEMENT).map(Some).collect()
        }
    }
}

/// Who asks, about which days, with what budget.
#[derive(Clone, Copy)]
struct Asked<'a> {
    scope: &'a TenantScope,
    days: Days,
    budget: &'a Budget,
}

impl<'a> Asked<'a> {
    fn new(scope: &'a TenantScope, listing: &Listing, budget: &'a Budget) -> Self {
        Self {
            scope,
            days: Days::between(listing.start, listing.end),
            budget,
        }
    }
}

impl Fetcher {
    /// The labels of all series that match.
    pub(crate) async fn list_series(
        &self,
        scope: &TenantScope,
        listing: &Listing,
        budget: &Budget,
    ) -> Listed<Labels> {
        let asked = Asked::new(scope, listing, budget);
        let mut listed = BTreeSet::new();
        for selector in &listing.selectors {
            listed.append(&mut self.labels_of(asked, selector).await?);
        }
        Ok(listed)
    }

    /// The names of their labels.
    pub(crate) async fn list_names(
        &self,
        scope: &TenantScope,
        listing: &Listing,
        budget: &Budget,
    ) -> Listed<String> {
        let asked = Asked::new(scope, listing, budget);
        let mut listed = BTreeSet::new();
        for selector in selectors(listing) {
            if let Some(named) = self.named(asked, selector).await? {
                for metrics in named.statements() {
                    let query = sql::label_names(scope, &self.store.client, metrics, asked.days);
                    listed.extend(
                        self.store
                            .rows::<String>(scope, query, budget.deadline)
                            .await?,
                    );
                }
                listed.extend((!named.names.is_empty()).then(|| METRIC_NAME.to_owned()));
                listed.extend((!named.with_buckets.is_empty()).then(|| LE.to_owned()));
                continue;
            }
            let labels = self.labels_of(asked, selector).await?;
            listed.extend(
                labels
                    .iter()
                    .flat_map(|labels| labels.iter().map(|(name, _)| name.to_string())),
            );
        }
        Ok(listed)
    }

    /// The values of their label `name`.
    pub(crate) async fn list_values(
        &self,
        scope: &TenantScope,
        name: &str,
        listing: &Listing,
        budget: &Budget,
    ) -> Listed<String> {
        let asked = Asked::new(scope, listing, budget);
        let mut listed = BTreeSet::new();
        for selector in selectors(listing) {
            if let Some(named) = self.named(asked, selector).await? {
                listed.append(&mut self.values_of(asked, name, named).await?);
                continue;
            }
            let labels = self.labels_of(asked, selector).await?;
            let values = labels
                .iter()
                .map(|labels| labels.get(name))
                .filter(|value| !value.is_empty());
            listed.extend(values.map(str::to_owned));
        }
        Ok(listed)
    }

    /// What is known about metric families, of one or of all, the latest first.
    pub(crate) async fn list_metadata(
        &self,
        scope: &TenantScope,
        family: Option<&str>,
        budget: &Budget,
    ) -> Result<Vec<Family>, FetchError> {
        let query = sql::metadata(scope, &self.store.client, family, budget.series);
        self.store.rows(scope, query, budget.deadline).await
    }

    async fn values_of(
        &self,
        Asked {
            scope,
            days,
            budget,
        }: Asked<'_>,
        name: &str,
        named: Named,
    ) -> Listed<String> {
        if name == METRIC_NAME {
            return Ok(named.names);
        }
        let mut listed = BTreeSet::new();
        for metrics in named.statements() {
            let query = sql::label_values(
                scope,
                &self.store.client,
                (name, metrics),
                days,
                budget.series,
            );
            listed.extend(
                self.store
                    .rows::<String>(scope, query, budget.deadline)
                    .await?,
            );
        }
        if name == LE && !named.with_buckets.is_empty() {
            listed.insert(INFINITY.to_owned());
            for metrics in named.with_buckets.chunks(METRICS_A_STATEMENT) {
                let query = sql::bounds(scope, &self.store.client, metrics, days);
                let bounds = self
                    .store
                    .rows::<f64>(scope, query, budget.deadline)
                    .await?;
                listed.extend(bounds.into_iter().map(bound_text));
            }
        }
        Ok(listed)
    }

    /// The labels of the series that a selector means.
    async fn labels_of(
        &self,
        asked: Asked<'_>,
        selector: &[Matcher],
    ) -> Result<BTreeSet<Labels>, FetchError> {
        let Asked {
            scope,
            days,
            budget,
        } = asked;
        let resolved = resolve(&self.catalogue, scope, selector, days, budget).await?;
        let has_sum = |pick: &&Pick| pick.parts.iter().any(|(part, _)| *part == Part::Sum);
        let with_sums = resolved.picks.iter().filter(has_sum);
        let metrics = with_sums
            .map(|pick| Arc::clone(&pick.entry.metric))
            .collect();
        let sumless = self.sumless(asked, metrics, true).await?;
        let shown = resolved.picks.into_iter().flat_map(|pick| {
            let sumless = sumless.contains(&(pick.entry.metric.to_string(), pick.entry.id));
            let parts = pick.parts.into_iter();
            parts.filter(move |(part, _)| !(sumless && *part == Part::Sum))
        });
        let labels = shown.map(|(part, labels)| match part {
            // Which buckets there are is in the points; one is always there.
            Part::Buckets => labels.with(LE, INFINITY),
            Part::Number | Part::Native | Part::Count | Part::Sum | Part::Bucket(_) => labels,
        });
        Ok(labels
            .filter(|labels| resolved.matchers.matches(labels))
            .collect())
    }

    /// Which histograms among `metrics` never say their sum on these days, so that there is no `…_sum`:
    /// series with `each`, else whole metrics (and id 0).
    async fn sumless(
        &self,
        asked: Asked<'_>,
        metrics: BTreeSet<Arc<str>>,
        each: bool,
    ) -> Result<HashSet<(String, u64)>, FetchError> {
        let mut found = HashSet::new();
        let Some(window) = asked.days.window() else {
            return Ok(found);
        };
        let metrics: Vec<Arc<str>> = metrics.into_iter().collect();
        for some in metrics.chunks(METRICS_A_STATEMENT) {
            let limits = (each, asked.budget.series);
            let query = sql::sumless(asked.scope, &self.store.client, some, window, limits);
            let rows = self.store.rows(asked.scope, query, asked.budget.deadline);
            found.extend(rows.await?);
        }
        Ok(found)
    }

    /// What a selector means that asks for nothing but a name; `None` for others.
    async fn named(
        &self,
        asked: Asked<'_>,
        selector: &[Matcher],
    ) -> Result<Option<Named>, FetchError> {
        let Asked {
            scope,
            days,
            budget,
        } = asked;
        if selector.iter().any(|matcher| matcher.name != METRIC_NAME) {
            return Ok(None);
        }
        let compiled = MatcherSet::new(selector)?;
        let rule = NameRule::of(selector, &compiled, budget.both_views);
        let known = self.catalogue.metrics(scope, days, budget).await?;
        let views = |metric: &Metric| -> Views {
            let kinds = metric.kinds.iter();
            kinds
                .flat_map(|kind| rule.views(&metric.name, *kind))
                .collect()
        };
        let has_sum = |metric: &&Metric| views(metric).iter().any(|(view, _)| *view == View::Sum);
        let with_sums = known.iter().filter(has_sum);
        let metrics = with_sums.map(|metric| Arc::clone(&metric.name)).collect();
        let sumless = self.sumless(asked, metrics, false).await?;
        let mut named = Named::default();
        for metric in known.iter() {
            let sumless = sumless.contains(&(metric.name.to_string(), 0));
            let mut views = views(metric);
            views.retain(|(view, _)| !(sumless && *view == View::Sum));
            if views.iter().any(|(view, _)| *view == View::Bucket) {
                named.with_buckets.push(Arc::clone(&metric.name));
            }
            if !views.is_empty() {
                named.metrics.push(Arc::clone(&metric.name));
            }
            named
                .names
                .extend(views.into_iter().map(|(_, name)| name.to_string()));
        }
        named.all = named.metrics.len() == known.len();
        Ok(Some(named))
    }
}

/// The selectors of a listing; without any, one that selects everything.
fn selectors(listing: &Listing) -> Vec<&[Matcher]> {
    if listing.selectors.is_empty() {
        vec![&[]]
    } else {
        listing.selectors.iter().map(Vec::as_slice).collect()
    }
}
