//! Series and metadata rows → only those that this process has not stored yet.
//!
//! A series is written again on every day that it has points, so that a query finds the series of a
//! window by day.

use moka::sync::Cache;
use schemas::rows::{MetadataRow, SeriesRow};
use xxhash_rust::xxh3::Xxh3;

use crate::translate::TranslatedBatch;

/// Seconds of a day.
const DAY: u32 = 86_400;

/// A 128-bit fingerprint of a row's identity; two rows share one by chance once in 2¹²⁸.
type Fingerprint = u128;

/// What is stored already.
#[derive(Debug)]
pub(super) struct Known(Cache<Fingerprint, ()>);

impl Known {
    /// Remembers at most `capacity` rows; the least used are forgotten and stored again.
    pub(super) fn new(capacity: u64) -> Self {
        Self(Cache::new(capacity))
    }

    /// Takes the rows that are stored already out of `batch`; answers what to remember of the others once
    /// they are stored.
    pub(super) fn retain_fresh(&self, batch: &mut TranslatedBatch) -> Vec<Fingerprint> {
        let mut fresh = Vec::new();
        let mut keep = |print: Fingerprint| {
            let new = !self.0.contains_key(&print);
            if new {
                fresh.push(print);
            }
            new
        };
        batch.series.retain(|row| keep(series(row)));
        batch.metadata.retain(|row| keep(metadata(row)));
        fresh
    }

    /// Notes rows that are stored now.
    pub(super) fn remember(&self, stored: Vec<Fingerprint>) {
        for print in stored {
            self.0.insert(print, ());
        }
    }
}

fn series(row: &SeriesRow) -> Fingerprint {
    let mut print = Xxh3::new();
    text(&mut print, &[&row.tenant, &row.metric]);
    print.update(&row.id.to_le_bytes());
    print.update(&row.day.to_le_bytes());
    print.digest128()
}

fn metadata(row: &MetadataRow) -> Fingerprint {
    let mut print = Xxh3::new();
    text(
        &mut print,
        &[&row.tenant, &row.family, &row.kind, &row.unit, &row.help],
    );
    print.update(&(row.updated / DAY).to_le_bytes());
    print.digest128()
}

/// Feeds the parts so that no two lists of parts feed the same bytes.
fn text(print: &mut Xxh3, parts: &[&str]) {
    for part in parts {
        print.update(&part.len().to_le_bytes());
        print.update(part.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Tally;

    fn row(metric: &str, id: u64, day: u16) -> SeriesRow {
        SeriesRow {
            tenant: "acme".to_owned(),
            metric: metric.to_owned(),
            day,
            id,
            kind: 0,
            labels: Vec::new(),
            bounds: Vec::new(),
            first_seen: 0,
            last_seen: 0,
        }
    }

    fn batch(series: Vec<SeriesRow>, help: &str, updated: u32) -> TranslatedBatch {
        let metadata = MetadataRow {
            tenant: "acme".to_owned(),
            family: "up".to_owned(),
            kind: "gauge".to_owned(),
            unit: String::new(),
            help: help.to_owned(),
            updated,
        };
        TranslatedBatch {
            samples: Vec::new(),
            histograms: Vec::new(),
            series,
            metadata: vec![metadata],
            tally: Tally::expecting(0),
        }
    }

    fn kept(known: &Known, mut batch: TranslatedBatch, stored: bool) -> (usize, usize) {
        let fresh = known.retain_fresh(&mut batch);
        if stored {
            known.remember(fresh);
        }
        (batch.series.len(), batch.metadata.len())
    }

    #[test]
    fn rows_are_written_until_they_are_stored_and_again_on_the_next_day() {
        let known = Known::new(1000);
        let up = || vec![row("up", 1, 20_000), row("up", 2, 20_000)];
        assert_eq!(kept(&known, batch(up(), "x", 5), false), (2, 1));
        assert_eq!(
            kept(&known, batch(up(), "x", 6), true),
            (2, 1),
            "the first insert failed"
        );
        assert_eq!(kept(&known, batch(up(), "x", 7), true), (0, 0));
        assert_eq!(
            kept(&known, batch(vec![row("up", 1, 20_001)], "x", DAY), true),
            (1, 1)
        );
        assert_eq!(
            kept(&known, batch(vec![row("down", 1, 20_000)], "y", 7), true),
            (1, 1)
        );
    }
}
