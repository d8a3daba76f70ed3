//! Reads data points of every kind, and their exemplars.

use super::reader::Reader;
use super::wire::{Fault, Key, Wire};
use crate::decode::message::{
    Buckets, Exemplar, ExponentialHistogramDataPoint, HistogramDataPoint, Number, NumberDataPoint,
    SummaryDataPoint, ValueAtQuantile,
};

impl<'b> Reader<'b> {
    pub(super) fn number(&mut self, mut wire: Wire<'b>) -> Result<NumberDataPoint<'b>, Fault> {
        let mut point = NumberDataPoint::default();
        let (attributes, exemplars) = (self.attributes.begin(), self.exemplars.begin());
        while let Some(key) = wire.key()? {
            match key.tag {
                2 => point.start_time_unix_nano = wire.fixed64(key)?,
                3 => point.time_unix_nano = wire.fixed64(key)?,
                4 => point.value = Some(Number::Double(wire.double(key)?)),
                5 => self.exemplar(&mut wire, key)?,
                6 => point.value = Some(Number::Int(wire.sfixed64(key)?)),
                7 => self.attribute(&mut wire, key)?,
                8 => point.flags = wire.uint32(key)?,
                _ => wire.skip(key)?,
            }
        }
        point.attributes = self.attributes.end(attributes, self.arena);
        point.exemplars = self.exemplars.end(exemplars, self.arena);
        Ok(point)
    }

    pub(super) fn histogram(
        &mut self,
        mut wire: Wire<'b>,
    ) -> Result<HistogramDataPoint<'b>, Fault> {
        let mut point = HistogramDataPoint::default();
        let (attributes, exemplars) = (self.attributes.begin(), self.exemplars.begin());
        let (counts, bounds) = (self.counts.begin(), self.bounds.begin());
        while let Some(key) = wire.key()? {
            match key.tag {
                2 => point.start_time_unix_nano = wire.fixed64(key)?,
                3 => point.time_unix_nano = wire.fixed64(key)?,
                4 => point.count = wire.fixed64(key)?,
                5 => point.sum = Some(wire.double(key)?),
                6 => {
                    let counts = wire.eights(key)?.iter();
                    let counts = counts.map(|count| u64::from_le_bytes(*count));
                    self.counts.extend(counts, &mut self.room)?;
                }
                7 => {
                    let bounds = wire.eights(key)?.iter();
                    let bounds = bounds.map(|bound| f64::from_le_bytes(*bound));
                    self.bounds.extend(bounds, &mut self.room)?;
                }
                8 => self.exemplar(&mut wire, key)?,
                9 => self.attribute(&mut wire, key)?,
                10 => point.flags = wire.uint32(key)?,
                11 => point.min = Some(wire.double(key)?),
                12 => point.max = Some(wire.double(key)?),
                _ => wire.skip(key)?,
            }
        }
        point.attributes = self.attributes.end(attributes, self.arena);
        point.exemplars = self.exemplars.end(exemplars, self.arena);
        point.bucket_counts = self.counts.end(counts, self.arena);
        point.explicit_bounds = self.bounds.end(bounds, self.arena);
        Ok(point)
    }

    pub(super) fn exponential(
        &mut self,
        mut wire: Wire<'b>,
    ) -> Result<ExponentialHistogramDataPoint<'b>, Fault> {
        let mut point = ExponentialHistogramDataPoint::default();
        let (attributes, exemplars) = (self.attributes.begin(), self.exemplars.begin());
        while let Some(key) = wire.key()? {
            match key.tag {
                1 => self.attribute(&mut wire, key)?,
                2 => point.start_time_unix_nano = wire.fixed64(key)?,
                3 => point.time_unix_nano = wire.fixed64(key)?,
                4 => point.count = wire.fixed64(key)?,
                5 => point.sum = Some(wire.double(key)?),
                6 => point.scale = wire.sint32(key)?,
                7 => point.zero_count = wire.fixed64(key)?,
                8 => self.buckets(wire.message(key)?, point.positive.get_or_insert_default())?,
                9 => self.buckets(wire.message(key)?, point.negative.get_or_insert_default())?,
                10 => point.flags = wire.uint32(key)?,
                11 => self.exemplar(&mut wire, key)?,
                12 => point.min = Some(wire.double(key)?),
                13 => point.max = Some(wire.double(key)?),
                14 => point.zero_threshold = wire.double(key)?,
                _ => wire.skip(key)?,
            }
        }
        point.attributes = self.attributes.end(attributes, self.arena);
        point.exemplars = self.exemplars.end(exemplars, self.arena);
        Ok(point)
    }

    /// Reads buckets into what an earlier part of the same message gave.
    fn buckets(&mut self, mut wire: Wire<'b>, buckets: &mut Buckets<'b>) -> Result<(), Fault> {
        let before = buckets.bucket_counts;
        let start = self.counts.resume(before, &mut self.room)?;
        while let Some(key) = wire.key()? {
            match key.tag {
                1 => buckets.offset = wire.sint32(key)?,
                2 => {
                    let mut counts = wire.varints(key)?;
                    while !counts.is_empty() {
                        self.counts.push(counts.varint()?, &mut self.room)?;
                    }
                }
                _ => wire.skip(key)?,
            }
        }
        buckets.bucket_counts = self.counts.end(start, self.arena);
        Ok(())
    }

    pub(super) fn summary(&mut self, mut wire: Wire<'b>) -> Result<SummaryDataPoint<'b>, Fault> {
        let mut point = SummaryDataPoint::default();
        let (attributes, quantiles) = (self.attributes.begin(), self.quantiles.begin());
        while let Some(key) = wire.key()? {
            match key.tag {
                2 => point.start_time_unix_nano = wire.fixed64(key)?,
                3 => point.time_unix_nano = wire.fixed64(key)?,
                4 => point.count = wire.fixed64(key)?,
                5 => point.sum = wire.double(key)?,
                6 => {
                    let quantile = quantile(wire.message(key)?)?;
                    self.quantiles.push(quantile, &mut self.room)?;
                }
                7 => self.attribute(&mut wire, key)?,
                8 => point.flags = wire.uint32(key)?,
                _ => wire.skip(key)?,
            }
        }
        point.attributes = self.attributes.end(attributes, self.arena);
        point.quantile_values = self.quantiles.end(quantiles, self.arena);
        Ok(point)
    }

    /// Adds an exemplar to the list begun last.
    fn exemplar(&mut self, wire: &mut Wire<'b>, key: Key) -> Result<(), Fault> {
        let mut wire = wire.message(key)?;
        let mut exemplar = Exemplar::default();
        let start = self.attributes.begin();
        while let Some(key) = wire.key()? {
            match key.tag {
                2 => exemplar.time_unix_nano = wire.fixed64(key)?,
                3 => exemplar.value = Some(Number::Double(wire.double(key)?)),
                4 => exemplar.span_id = wire.bytes(key)?,
                5 => exemplar.trace_id = wire.bytes(key)?,
                6 => exemplar.value = Some(Number::Int(wire.sfixed64(key)?)),
                7 => self.attribute(&mut wire, key)?,
                _ => wire.skip(key)?,
            }
        }
        exemplar.filtered_attributes = self.attributes.end(start, self.arena);
        self.exemplars.push(exemplar, &mut self.room)?;
        Ok(())
    }
}

fn quantile(mut wire: Wire<'_>) -> Result<ValueAtQuantile, Fault> {
    let mut quantile = ValueAtQuantile::default();
    while let Some(key) = wire.key()? {
        match key.tag {
            1 => quantile.quantile = wire.double(key)?,
            2 => quantile.value = wire.double(key)?,
            _ => wire.skip(key)?,
        }
    }
    Ok(quantile)
}
