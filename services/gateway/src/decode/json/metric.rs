//! Reads the envelope of metrics, from the request down to the kinds of data.

use opentelemetry_proto::tonic::metrics::v1::AggregationTemporality;

use super::fault::Fault;
use super::reader::{Message, Reader};
use crate::decode::message::{Data, KeyValue, Metric, Request, ResourceMetrics, ScopeMetrics};

impl<'a> Message<'a> for Request<'a> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "resourceMetrics" => self.resource_metrics = json.messages()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'a> Message<'a> for ResourceMetrics<'a> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "resource" => self.attributes = json.resource()?,
            "scopeMetrics" => self.scope_metrics = json.messages()?,
            "schemaUrl" => drop(json.string()?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'a> Message<'a> for ScopeMetrics<'a> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "scope" => self.scope = json.message()?,
            "metrics" => self.metrics = json.messages()?,
            "schemaUrl" => self.schema_url = json.string()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'a> Message<'a> for Metric<'a> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        let data = match key {
            "gauge" => json.optional()?.map(|Gauge(points)| Data::Gauge(points)),
            "sum" => json.optional()?.map(Sum::into_data),
            "histogram" => json.optional()?.map(|histogram: Histogram<'a, _>| {
                let (points, temporality) = (histogram.points, histogram.temporality);
                Data::Histogram {
                    points,
                    temporality,
                }
            }),
            "exponentialHistogram" => json.optional()?.map(|histogram: Histogram<'a, _>| {
                let (points, temporality) = (histogram.points, histogram.temporality);
                Data::ExponentialHistogram {
                    points,
                    temporality,
                }
            }),
            "summary" => json.optional()?.map(|Gauge(points)| Data::Summary(points)),
            _ => return plain_field(self, key, json),
        };
        if data.is_some() {
            self.data = data;
        }
        Ok(true)
    }
}

/// Reads the fields of a metric that are not its data.
fn plain_field<'a>(
    metric: &mut Metric<'a>,
    key: &str,
    json: &mut Reader<'a>,
) -> Result<bool, Fault> {
    match key {
        "name" => metric.name = json.string()?,
        "description" => metric.description = json.string()?,
        "unit" => metric.unit = json.string()?,
        "metadata" => drop(json.messages::<KeyValue<'_>>()?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// A gauge or a summary: points alone.
struct Gauge<'a, P>(&'a [P]);

impl<P> Default for Gauge<'_, P> {
    fn default() -> Self {
        Self(&[])
    }
}

impl<'a, P: Message<'a> + Copy> Message<'a> for Gauge<'a, P> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "dataPoints" => self.0 = json.messages()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A histogram of either kind: points, and since when they count.
struct Histogram<'a, P> {
    points: &'a [P],
    temporality: i32,
}

impl<P> Default for Histogram<'_, P> {
    fn default() -> Self {
        Self {
            points: &[],
            temporality: 0,
        }
    }
}

impl<'a, P: Message<'a> + Copy> Message<'a> for Histogram<'a, P> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "dataPoints" => self.points = json.messages()?,
            "aggregationTemporality" => self.temporality = temporality(json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A sum: a histogram of numbers, and whether it never falls.
struct Sum<'a, P> {
    inner: Histogram<'a, P>,
    is_monotonic: bool,
}

impl<P> Default for Sum<'_, P> {
    fn default() -> Self {
        Self {
            inner: Histogram::default(),
            is_monotonic: false,
        }
    }
}

impl<'a> Sum<'a, crate::decode::message::NumberDataPoint<'a>> {
    fn into_data(self) -> Data<'a> {
        Data::Sum {
            points: self.inner.points,
            temporality: self.inner.temporality,
            is_monotonic: self.is_monotonic,
        }
    }
}

impl<'a, P: Message<'a> + Copy> Message<'a> for Sum<'a, P> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "isMonotonic" => self.is_monotonic = json.boolean()?,
            _ => return self.inner.field(key, json),
        }
        Ok(true)
    }
}

fn temporality(json: &mut Reader<'_>) -> Result<i32, Fault> {
    json.enumeration(|name| AggregationTemporality::from_str_name(name).map(i32::from))
}
