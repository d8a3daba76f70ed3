//! Batches ↔ the bytes of a record: a version, then the fields in their order, as `postcard` writes them.

use bytes::Bytes;

use super::Batch;

/// The first byte of a record. A record of another version was written by another release.
const VERSION: u8 = 1;

/// Why bytes are no batch.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Written by another release, or nothing at all.
    #[error(
        "the record is of format {found:?}, this release reads {VERSION}: let the release that wrote it deliver it"
    )]
    Version {
        /// The first byte, where there is one.
        found: Option<u8>,
    },
    /// Not what [`Batch::encode`] writes.
    #[error("the record is damaged")]
    Damaged(#[source] postcard::Error),
    /// A batch with something behind it.
    #[error("the record goes on for {0} bytes after its end")]
    TooLong(usize),
    /// A row with the index of a name that is not there.
    #[error("a row of the record has a name that the record does not have")]
    NoSuchName,
}

impl Batch {
    /// Whether nothing of it goes to any table.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
            && self.histograms.is_empty()
            && self.series.is_empty()
            && self.metadata.is_empty()
    }

    /// The batch as bytes.
    ///
    /// # Errors
    /// Where `postcard` has no form for a field's type, which the tests rule out.
    pub fn encode(&self) -> Result<Bytes, postcard::Error> {
        let mut record = Vec::with_capacity(self.expected_len());
        record.push(VERSION);
        Ok(Bytes::from(postcard::to_extend(self, record)?))
    }

    /// Bytes that the record will have, or a few more.
    fn expected_len(&self) -> usize {
        let names: usize = self.names.iter().map(|name| name.len() + 2).sum();
        let buckets = |row: &super::Histogram| row.pos.len() + row.neg.len();
        let counts: usize = self.histograms.iter().map(buckets).sum();
        let rare = (self.series.len() + self.metadata.len()) * 256;
        64 + names + 40 * self.samples.len() + 80 * self.histograms.len() + 3 * counts + rare
    }

    /// Reads what [`Batch::encode`] wrote. Whatever the bytes are, they take at most about 30 times their length
    /// in memory.
    ///
    /// # Errors
    /// [`DecodeError`] says in what way the bytes are not a batch.
    pub fn decode(record: &[u8]) -> Result<Self, DecodeError> {
        let Some((&VERSION, fields)) = record.split_first() else {
            let found = record.first().copied();
            return Err(DecodeError::Version { found });
        };
        let (batch, rest): (Self, _) =
            postcard::take_from_bytes(fields).map_err(DecodeError::Damaged)?;
        if !rest.is_empty() {
            return Err(DecodeError::TooLong(rest.len()));
        }
        if !batch.names_are_there() {
            return Err(DecodeError::NoSuchName);
        }
        Ok(batch)
    }

    fn names_are_there(&self) -> bool {
        let samples = self.samples.iter().map(|row| row.name);
        let histograms = self.histograms.iter().map(|row| row.name);
        let series = self.series.iter().map(|row| row.name);
        let there = |name| usize::try_from(name).is_ok_and(|name| name < self.names.len());
        samples.chain(histograms).chain(series).all(there)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::batch::{Histogram, Metadata, Sample, Series};

    fn histogram() -> impl Strategy<Value = Histogram> {
        (
            any::<(u64, i64, u64, Option<f64>)>(),
            vec(any::<u64>(), 0..20),
            any::<i8>(),
        )
            .prop_map(|((id, ts, count, sum), pos, scale)| Histogram {
                name: 0,
                id,
                ts,
                start_ts: ts / 2,
                count,
                sum,
                min: sum,
                max: None,
                scale,
                zero_threshold: 0.5,
                zero_count: count / 2,
                pos_offset: -3,
                pos,
                neg_offset: i32::MAX,
                neg: vec![1],
            })
    }

    fn series() -> impl Strategy<Value = Series> {
        (
            any::<(u16, u64, u8, u32)>(),
            vec(any::<(String, String)>(), 0..4),
            vec(any::<f64>(), 0..4),
        )
            .prop_map(|((day, id, kind, seen), labels, bounds)| Series {
                name: 1,
                day,
                id,
                kind,
                labels,
                bounds,
                first_seen: seen,
                last_seen: u32::MAX,
            })
    }

    fn batch() -> impl Strategy<Value = Batch> {
        let sample = any::<(u64, i64, f64, i64)>().prop_map(|(id, ts, value, start_ts)| Sample {
            name: 1,
            id,
            ts,
            value,
            start_ts,
        });
        let metadata =
            any::<([String; 4], u32)>().prop_map(|([family, kind, unit, help], updated)| {
                Metadata {
                    family,
                    kind,
                    unit,
                    help,
                    updated,
                }
            });
        (
            any::<(String, u16, [String; 2])>(),
            vec(sample, 0..5),
            vec(histogram(), 0..3),
            vec(series(), 0..3),
            vec(metadata, 0..3),
        )
            .prop_map(
                |((tenant, ret_days, names), samples, histograms, series, metadata)| Batch {
                    tenant,
                    ret_days,
                    names: names.into(),
                    samples,
                    histograms,
                    series,
                    metadata,
                },
            )
    }

    proptest! {
        #[test]
        fn a_batch_reads_back_as_it_was_written(batch in batch()) {
            let read = Batch::decode(&batch.encode().unwrap()).unwrap();
            // NaN equals nothing, and is written out alike.
            prop_assert_eq!(format!("{read:?}"), format!("{batch:?}"));
        }

        #[test]
        fn a_record_that_is_cut_off_or_goes_on_is_refused(batch in batch(), cut: prop::sample::Index) {
            let mut record = batch.encode().unwrap().to_vec();
            prop_assert!(Batch::decode(&record[..cut.index(record.len())]).is_err());
            record.push(0);
            prop_assert!(matches!(Batch::decode(&record), Err(DecodeError::TooLong(1))));
        }

        #[test]
        fn any_bytes_are_a_batch_or_refused(bytes in vec(any::<u8>(), 0..300)) {
            drop(Batch::decode(&bytes));
            drop(Batch::decode(&[&[VERSION], &bytes[..]].concat()));
        }

        #[test]
        fn a_damaged_record_is_a_batch_or_refused(
            batch in batch(),
            damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut record = batch.encode().unwrap().to_vec();
            for (at, byte) in damage {
                let at = at.index(record.len());
                record[at] = byte;
            }
            drop(Batch::decode(&record));
        }
    }

    #[test]
    fn a_stale_marker_keeps_its_bits() {
        let value = f64::from_bits(0x7ff0_0000_0000_0002);
        let sample = Sample {
            name: 0,
            id: 1,
            ts: 2,
            value,
            start_ts: 0,
        };
        let batch = Batch {
            names: vec!["m".to_owned()],
            samples: vec![sample],
            ..Batch::default()
        };
        let read = Batch::decode(&batch.encode().unwrap()).unwrap();
        assert_eq!(read.samples[0].value.to_bits(), value.to_bits());
    }

    #[test]
    fn a_list_that_claims_to_be_endless_is_refused_without_room_for_it() {
        // No tenant, no days, and as many names as a 64-bit number counts.
        let endless = [
            VERSION, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1,
        ];
        assert!(matches!(
            Batch::decode(&endless),
            Err(DecodeError::Damaged(_))
        ));
    }

    #[test]
    fn other_formats_and_missing_names_are_told_apart() {
        assert!(matches!(
            Batch::decode(&[]),
            Err(DecodeError::Version { found: None })
        ));
        assert!(matches!(
            Batch::decode(&[7, 1]),
            Err(DecodeError::Version { found: Some(7) })
        ));
        let sample = Sample {
            name: 0,
            id: 1,
            ts: 2,
            value: 3.0,
            start_ts: 0,
        };
        let nameless = Batch {
            samples: vec![sample],
            ..Batch::default()
        };
        assert!(matches!(
            Batch::decode(&nameless.encode().unwrap()),
            Err(DecodeError::NoSuchName)
        ));
    }
}
