//! A few words → rows of the tables, as the gateway would write them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use clickhouse::{Client, RowOwned, RowWrite};
use schemas::rows::{
    EXPLICIT_SCALE, HistogramRow, MetadataRow, SampleRow, SeriesKind, SeriesRow, bucket_of, day_of,
};
use schemas::tables;

/// A time that all tests share: 2026-11-02 12:00:00 UTC, milliseconds.
pub(crate) const NOON: i64 = 1_793_620_800_000;

/// Rows that wait to be inserted.
#[derive(Default)]
pub(crate) struct Rows {
    series: Vec<SeriesRow>,
    samples: Vec<SampleRow>,
    histograms: Vec<HistogramRow>,
    metadata: Vec<MetadataRow>,
}

/// Whose series it is: tenant, metric, id.
pub(crate) type Whose<'a> = (&'a str, &'a str, u64);

impl Rows {
    /// A number with labels and samples at seconds from [`NOON`].
    pub(crate) fn number(
        &mut self,
        whose: Whose<'_>,
        labels: &[(&str, &str)],
        samples: &[(i64, f64)],
    ) -> &mut Self {
        let (tenant, metric, id) = whose;
        self.describe(whose, SeriesKind::Number, labels, &[]);
        for (seconds, value) in samples {
            let ts = NOON + seconds * 1000;
            self.samples.push(SampleRow {
                tenant: tenant.to_owned(),
                metric: metric.to_owned(),
                b: bucket_of(ts),
                id,
                ts,
                value: *value,
                start_ts: 0,
                ret_days: 30,
            });
        }
        self
    }

    /// An explicit histogram's series row.
    pub(crate) fn explicit(
        &mut self,
        whose: Whose<'_>,
        labels: &[(&str, &str)],
        bounds: &[f64],
    ) -> &mut Self {
        self.describe(whose, SeriesKind::ExplicitHistogram, labels, bounds);
        self
    }

    /// An exponential histogram's series row.
    pub(crate) fn exponential(&mut self, whose: Whose<'_>, labels: &[(&str, &str)]) -> &mut Self {
        self.describe(whose, SeriesKind::ExponentialHistogram, labels, &[]);
        self
    }

    /// A point of a histogram, changed by `change`.
    pub(crate) fn point(
        &mut self,
        (tenant, metric, id): Whose<'_>,
        seconds: i64,
        change: impl FnOnce(&mut HistogramRow),
    ) -> &mut Self {
        let ts = NOON + seconds * 1000;
        let mut row = HistogramRow {
            tenant: tenant.to_owned(),
            metric: metric.to_owned(),
            b: bucket_of(ts),
            id,
            ts,
            start_ts: 0,
            count: 0,
            sum: None,
            min: None,
            max: None,
            scale: EXPLICIT_SCALE,
            zero_threshold: 0.0,
            zero_count: 0,
            pos_offset: 0,
            pos: vec![],
            neg_offset: 0,
            neg: vec![],
            ret_days: 30,
        };
        change(&mut row);
        self.histograms.push(row);
        self
    }

    /// What is said about a family.
    pub(crate) fn about(
        &mut self,
        tenant: &str,
        family: &str,
        [kind, unit, help]: [&str; 3],
    ) -> &mut Self {
        self.metadata.push(MetadataRow {
            tenant: tenant.to_owned(),
            family: family.to_owned(),
            kind: kind.to_owned(),
            unit: unit.to_owned(),
            help: help.to_owned(),
            updated: u32::try_from(self.metadata.len()).unwrap(),
        });
        self
    }

    fn describe(
        &mut self,
        (tenant, metric, id): Whose<'_>,
        kind: SeriesKind,
        labels: &[(&str, &str)],
        bounds: &[f64],
    ) {
        let seen = u32::try_from(NOON / 1000).unwrap();
        self.series.push(SeriesRow {
            tenant: tenant.to_owned(),
            metric: metric.to_owned(),
            day: day_of(NOON),
            id,
            kind: kind.code(),
            labels: labels
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            bounds: bounds.to_vec(),
            first_seen: seen,
            last_seen: seen,
        });
    }

    /// Inserts everything.
    pub(crate) async fn insert(&self, client: &Client) {
        insert(client, tables::SERIES, &self.series).await;
        insert(client, tables::SAMPLES, &self.samples).await;
        insert(client, tables::HISTOGRAMS, &self.histograms).await;
        insert(client, tables::METADATA, &self.metadata).await;
    }
}

async fn insert<T>(client: &Client, table: &str, rows: &[T])
where
    T: RowOwned + RowWrite + Clone + Send + Sync + for<'a> clickhouse::Row<Value<'a> = T>,
{
    if rows.is_empty() {
        return;
    }
    let mut insert = client.insert::<T>(table).await.unwrap();
    for row in rows {
        insert.write(row).await.unwrap();
    }
    insert.end().await.unwrap();
}
