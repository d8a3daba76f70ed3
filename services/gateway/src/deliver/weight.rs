//! A row → about how many bytes it has in an INSERT.

use schemas::rows::{MetadataRow, SeriesRow};

/// A row that has a size.
pub(super) trait Weight {
    /// About how many bytes it has.
    fn weight(&self) -> usize;
}

impl Weight for SeriesRow {
    fn weight(&self) -> usize {
        let labels = self.labels.iter();
        let labels: usize = labels
            .map(|(name, value)| name.len() + value.len() + 4)
            .sum();
        64 + self.tenant.len() + self.metric.len() + labels + 8 * self.bounds.len()
    }
}

impl Weight for MetadataRow {
    fn weight(&self) -> usize {
        let texts = [
            &self.tenant,
            &self.family,
            &self.kind,
            &self.unit,
            &self.help,
        ];
        texts.iter().fold(16, |sum, text| sum + text.len())
    }
}
