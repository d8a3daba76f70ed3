//! Reads data points of every kind, and their exemplars.

use super::fault::Fault;
use super::reader::{Message, Reader};
use crate::decode::message::{
    Buckets, Exemplar, ExponentialHistogramDataPoint, HistogramDataPoint, Number, NumberDataPoint,
    SummaryDataPoint, ValueAtQuantile,
};

/// Length of a trace id, bytes.
const TRACE_ID: usize = 16;
/// Length of a span id, bytes.
const SPAN_ID: usize = 8;

impl<'a> Message<'a> for NumberDataPoint<'a> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "attributes" => self.attributes = json.messages()?,
            "startTimeUnixNano" => self.start_time_unix_nano = json.whole()?,
            "timeUnixNano" => self.time_unix_nano = json.whole()?,
            "exemplars" => self.exemplars = json.messages()?,
            "flags" => self.flags = json.whole()?,
            "asDouble" | "asInt" if json.null() => {}
            "asDouble" => self.value = Some(Number::Double(json.double()?)),
            "asInt" => self.value = Some(Number::Int(json.whole()?)),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'a> Message<'a> for HistogramDataPoint<'a> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "attributes" => self.attributes = json.messages()?,
            "startTimeUnixNano" => self.start_time_unix_nano = json.whole()?,
            "timeUnixNano" => self.time_unix_nano = json.whole()?,
            "count" => self.count = json.whole()?,
            "sum" => self.sum = json.optional_double()?,
            "bucketCounts" => self.bucket_counts = json.list(Reader::whole)?,
            "explicitBounds" => self.explicit_bounds = json.list(Reader::double)?,
            "exemplars" => self.exemplars = json.messages()?,
            "flags" => self.flags = json.whole()?,
            "min" => self.min = json.optional_double()?,
            "max" => self.max = json.optional_double()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'a> Message<'a> for ExponentialHistogramDataPoint<'a> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "attributes" => self.attributes = json.messages()?,
            "startTimeUnixNano" => self.start_time_unix_nano = json.whole()?,
            "timeUnixNano" => self.time_unix_nano = json.whole()?,
            "count" => self.count = json.whole()?,
            "sum" => self.sum = json.optional_double()?,
            "scale" => self.scale = json.whole()?,
            "zeroCount" => self.zero_count = json.whole()?,
            "positive" => self.positive = json.optional()?,
            "negative" => self.negative = json.optional()?,
            "flags" => self.flags = json.whole()?,
            "exemplars" => self.exemplars = json.messages()?,
            "min" => self.min = json.optional_double()?,
            "max" => self.max = json.optional_double()?,
            "zeroThreshold" => self.zero_threshold = json.double()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'a> Message<'a> for Buckets<'a> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "offset" => self.offset = json.whole()?,
            "bucketCounts" => self.bucket_counts = json.list(Reader::whole)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'a> Message<'a> for SummaryDataPoint<'a> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "attributes" => self.attributes = json.messages()?,
            "startTimeUnixNano" => self.start_time_unix_nano = json.whole()?,
            "timeUnixNano" => self.time_unix_nano = json.whole()?,
            "count" => self.count = json.whole()?,
            "sum" => self.sum = json.double()?,
            "quantileValues" => self.quantile_values = json.messages()?,
            "flags" => self.flags = json.whole()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'a> Message<'a> for ValueAtQuantile {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "quantile" => self.quantile = json.double()?,
            "value" => self.value = json.double()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'a> Message<'a> for Exemplar<'a> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "filteredAttributes" => self.filtered_attributes = json.messages()?,
            "timeUnixNano" => self.time_unix_nano = json.whole()?,
            "traceId" => self.trace_id = json.id(TRACE_ID)?,
            "spanId" => self.span_id = json.id(SPAN_ID)?,
            "asDouble" | "asInt" if json.null() => {}
            "asDouble" => self.value = Some(Number::Double(json.double()?)),
            "asInt" => self.value = Some(Number::Int(json.whole()?)),
            _ => return Ok(false),
        }
        Ok(true)
    }
}
