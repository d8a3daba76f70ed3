//! Which series a tenant has, with their labels: read from ClickHouse, remembered for a moment, shared
//! by queries that ask at the same time.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use auth::tenant::{TenantId, TenantScope};
use clickhouse::Row;
use moka::future::Cache;
use promql::labels::{Labels, METRIC_NAME};
use schemas::rows::SeriesKind;
use serde::Deserialize;

use crate::budget::Budget;
use crate::config;
use crate::fetch::FetchError;
use crate::fetch::sql::{self, Days, Equal};
use crate::fetch::store::Store;
use crate::metrics::QueryMetrics;

/// Most metrics that one statement names; keeps its text below ClickHouse's `max_query_size`.
pub(crate) const METRICS_A_STATEMENT: usize = 500;

/// A stored series.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) metric: Arc<str>,
    pub(crate) id: u64,
    pub(crate) kind: SeriesKind,
    /// With the stored metric as `__name__`.
    pub(crate) labels: Labels,
    /// Explicit bucket bounds, ascending.
    pub(crate) bounds: Arc<[f64]>,
}

/// A stored metric and the kinds of its series.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    pub(crate) name: Arc<str>,
    pub(crate) kinds: Vec<SeriesKind>,
}

/// Which series are asked for; equal questions share one answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    /// Stored metrics, at most [`METRICS_A_STATEMENT`].
    pub(crate) metrics: Vec<Arc<str>>,
    /// Labels that must have exactly these values (`""`: be absent).
    pub(crate) equals: Vec<Equal>,
    pub(crate) days: Days,
}

/// The series that one question found.
pub(crate) type Entries = Arc<[Arc<Entry>]>;
/// The metrics that one question found.
pub(crate) type Metrics = Arc<[Metric]>;
/// Whose question it was, and what was asked.
type Key<T> = (TenantId, T);

/// The memory of series and metrics.
#[derive(Debug)]
pub(crate) struct Catalogue {
    store: Store,
    series: Cache<Key<Wanted>, Entries>,
    metrics: Cache<Key<Days>, Metrics>,
    counters: QueryMetrics,
}

#[derive(Row, Deserialize)]
struct SeriesRow<'a> {
    metric: &'a str,
    id: u64,
    kind: u8,
    labels: Vec<(&'a str, &'a str)>,
    bounds: Vec<f64>,
}

#[derive(Row, Deserialize)]
struct MetricRow {
    metric: String,
    kinds: Vec<u8>,
}

impl Catalogue {
    pub(crate) fn new(store: Store, config: &config::Catalogue, counters: QueryMetrics) -> Self {
        let series = Cache::builder()
            .time_to_live(config.ttl)
            .max_capacity(config.max_bytes.as_u64())
            .weigher(|(_, wanted): &Key<Wanted>, entries: &Entries| {
                let entries: usize = entries.iter().map(|entry| entry.weight()).sum();
                u32::try_from(entries + 64 * wanted.metrics.len()).unwrap_or(u32::MAX)
            })
            .build();
        let metrics = Cache::builder()
            .time_to_live(config.ttl)
            .max_capacity(config.max_bytes.as_u64() / 8)
            .weigher(|_, metrics: &Metrics| u32::try_from(metrics.len() * 128).unwrap_or(u32::MAX))
            .build();
        Self {
            store,
            series,
            metrics,
            counters,
        }
    }

    /// The series that `wanted` describes.
    pub(crate) async fn series(
        &self,
        scope: &TenantScope,
        wanted: Wanted,
        budget: &Budget,
    ) -> Result<Entries, FetchError> {
        let key = (scope.tenant().clone(), wanted.clone());
        self.remembered(&self.series, key, async move {
            let parts = (wanted.metrics.as_slice(), wanted.equals.as_slice());
            let query = sql::series(
                scope,
                &self.store.client,
                parts,
                wanted.days,
                budget.series.saturating_add(1),
            );
            let mut rows = self
                .store
                .cursor::<SeriesRow<'_>>(scope, query, budget.deadline)?;
            let mut reading = Reading::default();
            while let Some(row) = rows.next().await? {
                reading.add(row);
                if reading.entries.len() > budget.series {
                    return Err(FetchError::TooManySeries(budget.series));
                }
            }
            Ok(reading.entries.into())
        })
        .await
    }

    /// All metrics of the tenant on these days.
    pub(crate) async fn metrics(
        &self,
        scope: &TenantScope,
        days: Days,
        budget: &Budget,
    ) -> Result<Metrics, FetchError> {
        let key = (scope.tenant().clone(), days);
        self.remembered(&self.metrics, key, async move {
            let query = sql::metrics(scope, &self.store.client, days, budget.series);
            let rows: Vec<MetricRow> = self.store.rows(scope, query, budget.deadline).await?;
            let mut metrics: Vec<Metric> = rows
                .into_iter()
                .map(|row| Metric {
                    name: row.metric.into(),
                    kinds: row
                        .kinds
                        .into_iter()
                        .filter_map(SeriesKind::from_code)
                        .collect(),
                })
                .collect();
            metrics.sort_by(|left, right| left.name.cmp(&right.name));
            Ok(metrics.into())
        })
        .await
    }

    /// The remembered answer, or the one that `read` gives; several that ask at once wait for one reading.
    async fn remembered<K, V>(
        &self,
        cache: &Cache<K, V>,
        key: K,
        read: impl Future<Output = Result<V, FetchError>>,
    ) -> Result<V, FetchError>
    where
        K: Hash + Eq + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
    {
        let counted = async {
            self.counters.catalogue_reads.inc();
            read.await
        };
        self.counters.catalogue_lookups.inc();
        cache
            .try_get_with(key, counted)
            .await
            .map_err(FetchError::Shared)
    }
}

impl Entry {
    /// Memory, roughly: texts are shared by the series of one answer.
    fn weight(&self) -> usize {
        160 + self.labels.len() * 48 + self.bounds.len() * 8
    }
}

/// Entries that share equal texts and bounds.
#[derive(Default)]
struct Reading {
    entries: Vec<Arc<Entry>>,
    texts: HashSet<Arc<str>>,
    /// The bounds of the entry before: neighbours mostly have the same.
    bounds: Arc<[f64]>,
}

impl Reading {
    /// Adds a row, unless its kind is one that this version does not know.
    fn add(&mut self, row: SeriesRow<'_>) {
        let Some(kind) = SeriesKind::from_code(row.kind) else {
            return;
        };
        let metric = self.text(row.metric);
        let mut pairs = Vec::with_capacity(row.labels.len() + 1);
        for (name, value) in row.labels {
            pairs.push((self.text(name), self.text(value)));
        }
        pairs.push((self.text(METRIC_NAME), Arc::clone(&metric)));
        if *self.bounds != *row.bounds {
            self.bounds = row.bounds.into();
        }
        let bounds = Arc::clone(&self.bounds);
        let labels = Labels::from_pairs(pairs);
        self.entries.push(Arc::new(Entry {
            metric,
            id: row.id,
            kind,
            labels,
            bounds,
        }));
    }

    fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let fresh: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&fresh));
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_carry_their_name_and_share_texts() {
        let mut reading = Reading::default();
        for (id, kind) in [(1, 0), (2, 1), (3, 99)] {
            let labels = vec![("app", "x"), ("empty", "")];
            reading.add(SeriesRow {
                metric: "up",
                id,
                kind,
                labels,
                bounds: vec![1.0, 5.0],
            });
        }
        let entries = reading.entries;
        assert_eq!(entries.len(), 2);
        let expected = Labels::from_pairs([("__name__", "up"), ("app", "x")]);
        assert_eq!(entries[0].labels, expected);
        assert!(Arc::ptr_eq(&entries[0].metric, &entries[1].metric));
        assert!(Arc::ptr_eq(&entries[0].bounds, &entries[1].bounds));
    }
}
