//! A batch → rows of the tables, one struct a row; samples and histograms go to ClickHouse as blocks.

#[cfg(test)]
use schemas::rows::{HistogramRow, SampleRow, bucket_of};
use schemas::rows::{MetadataRow, SeriesRow};

use super::{Batch, Metadata, Series};
#[cfg(test)]
use super::{Histogram, Sample};

/// The rows of a batch, table by table, as tests read them.
#[cfg(test)]
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    pub(crate) samples: Vec<SampleRow>,
    pub(crate) histograms: Vec<HistogramRow>,
    pub(crate) series: Vec<SeriesRow>,
    pub(crate) metadata: Vec<MetadataRow>,
}

impl Batch {
    /// Rows of `series`.
    pub(crate) fn series_rows(&self) -> impl Iterator<Item = SeriesRow> {
        self.series.iter().map(|row| self.series(row))
    }

    /// Rows of `metadata`.
    pub(crate) fn metadata_rows(&self) -> impl Iterator<Item = MetadataRow> {
        self.metadata.iter().map(|row| self.metadata(row))
    }

    fn name(&self, index: u32) -> String {
        let name = usize::try_from(index)
            .ok()
            .and_then(|index| self.names.get(index));
        name.cloned().unwrap_or_default()
    }

    fn series(&self, row: &Series) -> SeriesRow {
        SeriesRow {
            tenant: self.tenant.clone(),
            metric: self.name(row.name),
            day: row.day,
            id: row.id,
            kind: row.kind,
            labels: row.labels.clone(),
            bounds: row.bounds.clone(),
            first_seen: row.first_seen,
            last_seen: row.last_seen,
        }
    }

    fn metadata(&self, row: &Metadata) -> MetadataRow {
        MetadataRow {
            tenant: self.tenant.clone(),
            family: row.family.clone(),
            kind: row.kind.clone(),
            unit: row.unit.clone(),
            help: row.help.clone(),
            updated: row.updated,
        }
    }
}

#[cfg(test)]
impl Batch {
    /// Every row, with all that it has in common with others said again.
    pub(crate) fn rows(&self) -> Rows {
        Rows {
            samples: self.samples.iter().map(|row| self.sample(row)).collect(),
            histograms: self
                .histograms
                .iter()
                .map(|row| self.histogram(row))
                .collect(),
            series: self.series.iter().map(|row| self.series(row)).collect(),
            metadata: self.metadata.iter().map(|row| self.metadata(row)).collect(),
        }
    }

    fn sample(&self, row: &Sample) -> SampleRow {
        SampleRow {
            tenant: self.tenant.clone(),
            metric: self.name(row.name),
            b: bucket_of(row.ts),
            id: row.id,
            ts: row.ts,
            value: row.value,
            start_ts: row.start_ts,
            ret_days: self.ret_days,
        }
    }

    fn histogram(&self, row: &Histogram) -> HistogramRow {
        HistogramRow {
            tenant: self.tenant.clone(),
            metric: self.name(row.name),
            b: bucket_of(row.ts),
            id: row.id,
            ts: row.ts,
            start_ts: row.start_ts,
            count: row.count,
            sum: row.sum,
            min: row.min,
            max: row.max,
            scale: row.scale,
            zero_threshold: row.zero_threshold,
            zero_count: row.zero_count,
            pos_offset: row.pos_offset,
            pos: row.pos.clone(),
            neg_offset: row.neg_offset,
            neg: row.neg.clone(),
            ret_days: self.ret_days,
        }
    }
}
