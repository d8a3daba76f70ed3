//! Reads the envelope of metrics, from the request down to the kinds of data.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, ExponentialHistogram, Gauge, Histogram, Metric, ResourceMetrics,
    ScopeMetrics, Sum, Summary,
};

use super::fault::Fault;
use super::reader::{Message, Reader};

impl Message for ExportMetricsServiceRequest {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "resourceMetrics" => self.resource_metrics = json.messages()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for ResourceMetrics {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "resource" => self.resource = json.optional()?,
            "scopeMetrics" => self.scope_metrics = json.messages()?,
            "schemaUrl" => self.schema_url = json.string()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for ScopeMetrics {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "scope" => self.scope = json.optional()?,
            "metrics" => self.metrics = json.messages()?,
            "schemaUrl" => self.schema_url = json.string()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for Metric {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        let data = match key {
            "gauge" => json.optional()?.map(Data::Gauge),
            "sum" => json.optional()?.map(Data::Sum),
            "histogram" => json.optional()?.map(Data::Histogram),
            "exponentialHistogram" => json.optional()?.map(Data::ExponentialHistogram),
            "summary" => json.optional()?.map(Data::Summary),
            _ => return plain_field(self, key, json),
        };
        if data.is_some() {
            self.data = data;
        }
        Ok(true)
    }
}

/// Reads the fields of a metric that are not its data.
fn plain_field(metric: &mut Metric, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
    match key {
        "name" => metric.name = json.string()?,
        "description" => metric.description = json.string()?,
        "unit" => metric.unit = json.string()?,
        "metadata" => metric.metadata = json.messages()?,
        _ => return Ok(false),
    }
    Ok(true)
}

impl Message for Gauge {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "dataPoints" => self.data_points = json.messages()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for Sum {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "dataPoints" => self.data_points = json.messages()?,
            "aggregationTemporality" => self.aggregation_temporality = temporality(json)?,
            "isMonotonic" => self.is_monotonic = json.boolean()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for Histogram {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "dataPoints" => self.data_points = json.messages()?,
            "aggregationTemporality" => self.aggregation_temporality = temporality(json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for ExponentialHistogram {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "dataPoints" => self.data_points = json.messages()?,
            "aggregationTemporality" => self.aggregation_temporality = temporality(json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for Summary {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "dataPoints" => self.data_points = json.messages()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn temporality(json: &mut Reader<'_>) -> Result<i32, Fault> {
    json.enumeration(|name| AggregationTemporality::from_str_name(name).map(i32::from))
}
