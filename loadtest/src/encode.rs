//! Pushes of a scenario → request bodies, made before the clock starts.

use std::io::Write as _;

use anyhow::{Context, bail};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    Gauge, Histogram, HistogramDataPoint, Metric as OtlpMetric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum, metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message as _;

use crate::plan::{Layout, Push};
use crate::scenario::{Metric, Observed, Pair, Scenario, Source, Value};

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: i32 = 2;
/// Nanoseconds in a millisecond.
const NANOS: u64 = 1_000_000;

/// The bodies of a run, by push number.
#[derive(Debug)]
pub(crate) struct Bodies {
    /// As they are sent.
    pub(crate) sent: Vec<Bytes>,
    /// Size before compression, all together.
    pub(crate) plain_bytes: u64,
}

impl Bodies {
    /// Size as sent, all together.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.sent.iter().map(|body| size(body.len())).sum()
    }
}

fn size(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Bodies that one core has made, each with its size before compression.
type Share = Vec<(Bytes, u64)>;

/// Makes every body of the run, on all cores.
///
/// # Errors
/// When they need more than `most` bytes together.
pub(crate) fn bodies(scenario: &Scenario, most: u64) -> anyhow::Result<Bodies> {
    let pushes = scenario.plan.pushes();
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = most / size(workers);
    let step = size(workers);
    let parts: Vec<anyhow::Result<Share>> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..step)
            .map(|first| {
                scope.spawn(move || some(scenario, (first..pushes).step_by(workers), share))
            })
            .collect();
        started
            .into_iter()
            .map(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|_| bail!("making bodies failed"))
            })
            .collect()
    });
    let mut parts = parts
        .into_iter()
        .map(|part| part.map(Vec::into_iter))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut made = Bodies {
        sent: Vec::new(),
        plain_bytes: 0,
    };
    for worker in (0..workers).cycle() {
        let Some((body, plain)) = parts.get_mut(worker).and_then(Iterator::next) else {
            break;
        };
        made.sent.push(body);
        made.plain_bytes += plain;
    }
    Ok(made)
}

/// The bodies of some pushes, `most` bytes at most.
fn some(
    scenario: &Scenario,
    numbers: impl Iterator<Item = u64>,
    most: u64,
) -> anyhow::Result<Share> {
    let mut made = Vec::new();
    let mut held = 0;
    for number in numbers {
        let plain = encode(scenario, scenario.plan.push(number));
        let plain_size = size(plain.len());
        let body = if scenario.plan.gzip {
            compress(&plain)?
        } else {
            plain
        };
        held += size(body.len());
        if held > most {
            bail!(
                "the run's bodies need more memory than --max-bodies-mib allows: use fewer --rounds, a shorter \
                 --duration, or allow more"
            );
        }
        made.push((Bytes::from(body), plain_size));
    }
    Ok(made)
}

/// As exporters compress.
fn compress(plain: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::with_capacity(plain.len() / 8), Compression::default());
    out.write_all(plain).context("cannot compress")?;
    out.finish().context("cannot compress")
}

/// One push as OTLP protobuf, not compressed.
pub(crate) fn encode(scenario: &Scenario, push: Push) -> Vec<u8> {
    let sources: Vec<Source> = scenario
        .plan
        .apps_of(push.forwarder)
        .map(|app| scenario.source(app, push.round))
        .collect();
    let time = nanos(scenario.plan.time(push.round));
    let together = match scenario.plan.layout {
        Layout::PerApp => 1,
        Layout::Grouped => sources.len().max(1),
    };
    let request = ExportMetricsServiceRequest {
        resource_metrics: sources
            .chunks(together)
            .map(|sources| resource(scenario, sources, time))
            .collect(),
    };
    request.encode_to_vec()
}

/// Sources that share a resource: the first one's.
fn resource(scenario: &Scenario, sources: &[Source], time: u64) -> ResourceMetrics {
    let attributes = sources.first().map(|source| scenario.resource(source));
    let (name, version) = scenario.scope();
    let metrics = (0..)
        .zip(scenario.metrics())
        .map(|(number, metric)| metric_of(scenario, (number, metric), sources, time))
        .collect();
    ResourceMetrics {
        resource: Some(Resource {
            attributes: pairs(attributes.unwrap_or_default()),
            ..Resource::default()
        }),
        scope_metrics: vec![ScopeMetrics {
            scope: Some(InstrumentationScope {
                name: name.to_owned(),
                version: version.to_owned(),
                ..InstrumentationScope::default()
            }),
            metrics,
            schema_url: String::new(),
        }],
        schema_url: String::new(),
    }
}

fn metric_of(
    scenario: &Scenario,
    (number, metric): (u32, &Metric),
    sources: &[Source],
    time: u64,
) -> OtlpMetric {
    let mut numbers = Vec::new();
    let mut histograms = Vec::new();
    for source in sources {
        for variant in 0..metric.variants {
            let attributes = pairs(scenario.attributes(source, metric, variant));
            let start = nanos(source.born_ms);
            let value = match scenario.value(number, source, variant) {
                Value::Histogram(observed) => {
                    histograms.push(histogram(attributes, (start, time), observed));
                    continue;
                }
                Value::Integer(value) => number_data_point::Value::AsInt(value),
                Value::Double(value) => number_data_point::Value::AsDouble(value),
            };
            numbers.push(NumberDataPoint {
                attributes,
                start_time_unix_nano: if metric.is_counter() { start } else { 0 },
                time_unix_nano: time,
                value: Some(value),
                ..NumberDataPoint::default()
            });
        }
    }
    let data = if metric.bounds().is_some() {
        metric::Data::Histogram(Histogram {
            data_points: histograms,
            aggregation_temporality: CUMULATIVE,
        })
    } else if metric.is_counter() {
        metric::Data::Sum(Sum {
            data_points: numbers,
            aggregation_temporality: CUMULATIVE,
            is_monotonic: true,
        })
    } else {
        metric::Data::Gauge(Gauge {
            data_points: numbers,
        })
    };
    OtlpMetric {
        name: metric.name.to_owned(),
        description: metric.description.to_owned(),
        unit: metric.unit.to_owned(),
        metadata: Vec::new(),
        data: Some(data),
    }
}

fn histogram(
    attributes: Vec<KeyValue>,
    (start, time): (u64, u64),
    observed: Observed,
) -> HistogramDataPoint {
    HistogramDataPoint {
        attributes,
        start_time_unix_nano: start,
        time_unix_nano: time,
        count: observed.count,
        sum: Some(observed.sum),
        bucket_counts: observed.counts,
        explicit_bounds: observed.bounds.to_vec(),
        min: observed.extremes.map(|(min, _)| min),
        max: observed.extremes.map(|(_, max)| max),
        ..HistogramDataPoint::default()
    }
}

fn pairs(pairs: Vec<Pair>) -> Vec<KeyValue> {
    pairs
        .into_iter()
        .map(|(key, value)| KeyValue {
            key: key.to_owned(),
            value: Some(AnyValue {
                value: Some(any_value::Value::StringValue(value)),
            }),
            ..KeyValue::default()
        })
        .collect()
}

fn nanos(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or(0) * NANOS
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::plan::Provider;
    use crate::plan::tests::small;

    fn decoded(scenario: &Scenario, push: Push) -> ExportMetricsServiceRequest {
        ExportMetricsServiceRequest::decode(&*encode(scenario, push)).unwrap()
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        for provider in [Provider::Cerebrium, Provider::Crusoe, Provider::Sdk] {
            let make = || bodies(&Scenario::new(small(provider)), u64::MAX).unwrap();
            let (one, two) = (make(), make());
            assert_eq!(one.sent, two.sent);
            assert_eq!(one.sent.len(), 12);
        }
    }

    #[test]
    fn bodies_stand_in_the_order_of_their_numbers() {
        let scenario = Scenario::new(small(Provider::Cerebrium));
        let made = bodies(&scenario, u64::MAX).unwrap();
        for (number, body) in (0..).zip(&made.sent) {
            let mut plain = Vec::new();
            flate2::read::GzDecoder::new(&**body)
                .read_to_end(&mut plain)
                .unwrap();
            assert_eq!(plain, encode(&scenario, scenario.plan.push(number)));
        }
    }

    #[test]
    fn a_push_has_the_points_that_the_scenario_says() {
        for provider in [Provider::Cerebrium, Provider::Crusoe, Provider::Sdk] {
            let scenario = Scenario::new(small(provider));
            let push = Push {
                round: 1,
                forwarder: 1,
            };
            let mut points = 0;
            for resource in decoded(&scenario, push).resource_metrics {
                for metric in &resource.scope_metrics[0].metrics {
                    points += match metric.data.as_ref().unwrap() {
                        metric::Data::Gauge(gauge) => gauge.data_points.len(),
                        metric::Data::Sum(sum) => sum.data_points.len(),
                        metric::Data::Histogram(histogram) => histogram.data_points.len(),
                        other => panic!("{other:?}"),
                    };
                }
            }
            assert_eq!(u64::try_from(points).unwrap(), scenario.weigh(push).0);
        }
    }

    #[test]
    fn a_histogram_point_is_whole() {
        let scenario = Scenario::new(small(Provider::Cerebrium));
        let request = decoded(
            &scenario,
            Push {
                round: 2,
                forwarder: 0,
            },
        );
        let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
        let metric = metrics
            .iter()
            .find(|metric| metric.name.ends_with("execution_time_ms"))
            .unwrap();
        let Some(metric::Data::Histogram(histogram)) = &metric.data else {
            panic!("a histogram");
        };
        let point = &histogram.data_points[0];
        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
        assert_eq!(point.bucket_counts.iter().sum::<u64>(), point.count);
        assert!(point.start_time_unix_nano < point.time_unix_nano);
        assert_eq!(histogram.aggregation_temporality, CUMULATIVE);
    }

    #[test]
    fn the_grouped_layout_has_one_resource_and_the_same_points() {
        let mut plan = small(Provider::Cerebrium);
        plan.layout = Layout::Grouped;
        let request = decoded(
            &Scenario::new(plan),
            Push {
                round: 0,
                forwarder: 0,
            },
        );
        assert_eq!(request.resource_metrics.len(), 1);
        let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
        assert_eq!(metrics.len(), 13);
        let Some(metric::Data::Gauge(gauge)) = &metrics[0].data else {
            panic!("a gauge");
        };
        assert_eq!(gauge.data_points.len(), 2);
    }

    #[test]
    fn bodies_that_need_too_much_memory_are_refused() {
        let scenario = Scenario::new(small(Provider::Cerebrium));
        let refused = bodies(&scenario, 1000).unwrap_err().to_string();
        assert!(refused.contains("--max-bodies-mib"), "{refused}");
    }
}
