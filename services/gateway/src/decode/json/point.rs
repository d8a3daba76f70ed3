//! Reads data points of every kind, and their exemplars.

use opentelemetry_proto::tonic::metrics::v1::exponential_histogram_data_point::Buckets;
use opentelemetry_proto::tonic::metrics::v1::summary_data_point::ValueAtQuantile;
use opentelemetry_proto::tonic::metrics::v1::{
    Exemplar, ExponentialHistogramDataPoint, HistogramDataPoint, NumberDataPoint, SummaryDataPoint,
    exemplar, number_data_point,
};

use super::fault::Fault;
use super::reader::{Message, Reader};

/// Length of a trace id, bytes.
const TRACE_ID: usize = 16;
/// Length of a span id, bytes.
const SPAN_ID: usize = 8;

impl Message for NumberDataPoint {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "attributes" => self.attributes = json.messages()?,
            "startTimeUnixNano" => self.start_time_unix_nano = json.whole()?,
            "timeUnixNano" => self.time_unix_nano = json.whole()?,
            "exemplars" => self.exemplars = json.messages()?,
            "flags" => self.flags = json.whole()?,
            "asDouble" | "asInt" if json.null() => {}
            "asDouble" => self.value = Some(number_data_point::Value::AsDouble(json.double()?)),
            "asInt" => self.value = Some(number_data_point::Value::AsInt(json.whole()?)),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for HistogramDataPoint {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
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

impl Message for ExponentialHistogramDataPoint {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
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

impl Message for Buckets {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "offset" => self.offset = json.whole()?,
            "bucketCounts" => self.bucket_counts = json.list(Reader::whole)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for SummaryDataPoint {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
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

impl Message for ValueAtQuantile {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "quantile" => self.quantile = json.double()?,
            "value" => self.value = json.double()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for Exemplar {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "filteredAttributes" => self.filtered_attributes = json.messages()?,
            "timeUnixNano" => self.time_unix_nano = json.whole()?,
            "traceId" => self.trace_id = json.id(TRACE_ID)?,
            "spanId" => self.span_id = json.id(SPAN_ID)?,
            "asDouble" | "asInt" if json.null() => {}
            "asDouble" => self.value = Some(exemplar::Value::AsDouble(json.double()?)),
            "asInt" => self.value = Some(exemplar::Value::AsInt(json.whole()?)),
            _ => return Ok(false),
        }
        Ok(true)
    }
}
