//! Rows in the order of their table's key → its columns, in one block.

use super::merge::{Point, Row, Words};
use super::native::Block;
use crate::batch::{Batch, Histogram, Sample};

const TIME: &str = "DateTime64(3, 'UTC')";

impl Point for Sample {
    fn of(batch: &Batch) -> &[Self] {
        &batch.samples
    }

    fn key(&self) -> (u32, u64, i64) {
        (self.name, self.id, self.ts)
    }

    fn bytes(&self) -> usize {
        48
    }

    fn block(rows: &[Row<'_, Self>], words: &Words<'_>) -> Vec<u8> {
        let mut block = begin(8, rows, words);
        let points = || rows.iter().map(|row| row.point);
        block
            .column("value", "Float64")
            .numbers(points().map(|point| point.value.to_le_bytes()));
        block
            .column("start_ts", TIME)
            .numbers(points().map(|point| point.start_ts.to_le_bytes()));
        block.into_bytes()
    }
}

impl Point for Histogram {
    fn of(batch: &Batch) -> &[Self] {
        &batch.histograms
    }

    fn key(&self) -> (u32, u64, i64) {
        (self.name, self.id, self.ts)
    }

    fn bytes(&self) -> usize {
        128 + 8 * (self.pos.len() + self.neg.len())
    }

    fn block(rows: &[Row<'_, Self>], words: &Words<'_>) -> Vec<u8> {
        let points = || rows.iter().map(|row| row.point);
        let mut block = begin(18, rows, words);
        block
            .column("start_ts", TIME)
            .numbers(points().map(|point| point.start_ts.to_le_bytes()));
        block
            .column("count", "UInt64")
            .numbers(points().map(|point| point.count.to_le_bytes()));
        let float = "Nullable(Float64)";
        block
            .column("sum", float)
            .floats_or_null(points().map(|point| point.sum));
        block
            .column("min", float)
            .floats_or_null(points().map(|point| point.min));
        block
            .column("max", float)
            .floats_or_null(points().map(|point| point.max));
        block
            .column("scale", "Int8")
            .numbers(points().map(|point| point.scale.to_le_bytes()));
        let threshold = points().map(|point| point.zero_threshold.to_le_bytes());
        block.column("zero_threshold", "Float64").numbers(threshold);
        block
            .column("zero_count", "UInt64")
            .numbers(points().map(|point| point.zero_count.to_le_bytes()));
        block
            .column("pos_offset", "Int32")
            .numbers(points().map(|point| point.pos_offset.to_le_bytes()));
        block
            .column("pos", "Array(UInt64)")
            .arrays(points().map(|point| point.pos.as_slice()));
        block
            .column("neg_offset", "Int32")
            .numbers(points().map(|point| point.neg_offset.to_le_bytes()));
        block
            .column("neg", "Array(UInt64)")
            .arrays(points().map(|point| point.neg.as_slice()));
        block.into_bytes()
    }
}

/// The columns that both tables begin with.
fn begin<R: Point>(columns: usize, rows: &[Row<'_, R>], words: &Words<'_>) -> Block {
    // The rows, and some for names and dictionaries.
    let room = rows.iter().fold(4096, |sum, row| sum + row.point.bytes());
    let mut block = Block::new(columns, rows.len(), room);
    let word = "LowCardinality(String)";
    block
        .column("tenant", word)
        .words(&words.tenants, rows.iter().map(|row| row.tenant));
    block
        .column("metric", word)
        .words(&words.metrics, rows.iter().map(|row| row.metric));
    block
        .column("b", "DateTime('UTC')")
        .numbers(rows.iter().map(|row| row.b.to_le_bytes()));
    let keys = || rows.iter().map(|row| row.point.key());
    block
        .column("id", "UInt64")
        .numbers(keys().map(|(_, id, _)| id.to_le_bytes()));
    block
        .column("ts", TIME)
        .numbers(keys().map(|(_, _, ts)| ts.to_le_bytes()));
    block
        .column("ret_days", "UInt16")
        .numbers(rows.iter().map(|row| row.ret_days.to_le_bytes()));
    block
}
