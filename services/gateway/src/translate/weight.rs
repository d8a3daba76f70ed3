//! Rows → the memory they take, for bounds on a push and on an INSERT.
//!
//! A label that a resource gives to its points is written once and stored with every series: a small body
//! can be very many bytes of rows.

use std::mem::size_of;

use schemas::rows::{HistogramRow, MetadataRow, SampleRow, SeriesRow};

/// Something whose size is known without writing it.
pub(crate) trait Weight {
    /// Bytes in memory; on the wire it is fewer.
    fn weight(&self) -> usize;
}

impl Weight for SampleRow {
    fn weight(&self) -> usize {
        size_of::<Self>() + self.tenant.len() + self.metric.len()
    }
}

impl Weight for HistogramRow {
    fn weight(&self) -> usize {
        let buckets = (self.pos.len() + self.neg.len()) * size_of::<u64>();
        size_of::<Self>() + self.tenant.len() + self.metric.len() + buckets
    }
}

impl Weight for SeriesRow {
    fn weight(&self) -> usize {
        let bounds = self.bounds.len() * size_of::<f64>();
        size_of::<Self>() + self.tenant.len() + self.metric.len() + bounds + of_labels(&self.labels)
    }
}

fn of_labels(labels: &[(String, String)]) -> usize {
    let one =
        |(name, value): &(String, String)| size_of::<(String, String)>() + name.len() + value.len();
    labels.iter().map(one).sum()
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
        size_of::<Self>() + texts.map(String::len).iter().sum::<usize>()
    }
}

/// Cuts `rows` into runs of at most `most` bytes; a row that is larger by itself is a run of its own.
pub(crate) fn runs<R: Weight>(rows: &[R], most: usize) -> impl Iterator<Item = &[R]> {
    let mut rest = rows;
    std::iter::from_fn(move || {
        let mut sum = 0_usize;
        let over = rest.iter().position(|row| {
            sum = sum.saturating_add(row.weight());
            sum > most
        });
        let (run, later) = rest.split_at(over.unwrap_or(rest.len()).max(1).min(rest.len()));
        rest = later;
        (!run.is_empty()).then_some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weight for usize {
        fn weight(&self) -> usize {
            *self
        }
    }

    #[test]
    fn runs_are_as_long_as_they_may_be_and_nothing_is_left_out() {
        let cut = |rows: &[usize]| runs(rows, 10).map(<[usize]>::to_vec).collect::<Vec<_>>();
        assert_eq!(cut(&[]), Vec::<Vec<usize>>::new());
        assert_eq!(cut(&[4, 6, 1, 9, 10]), [vec![4, 6], vec![1, 9], vec![10]]);
        assert_eq!(cut(&[3, 99, 99, 3]), [vec![3], vec![99], vec![99], vec![3]]);
    }

    #[test]
    fn a_series_weighs_its_labels_and_bounds() {
        let row = SeriesRow {
            tenant: "acme".to_owned(),
            metric: "m".to_owned(),
            day: 0,
            id: 0,
            kind: 1,
            labels: vec![("job".to_owned(), "api".to_owned())],
            bounds: vec![1.0, 2.0],
            first_seen: 0,
            last_seen: 0,
        };
        assert_eq!(row.weight(), size_of::<SeriesRow>() + 4 + 1 + 16 + 48 + 6);
    }
}
