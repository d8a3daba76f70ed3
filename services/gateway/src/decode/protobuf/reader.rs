//! Reads the envelope of metrics, from the request down to the kinds of data.

use bumpalo::Bump;

use super::wire::{Fault, Key, Wire};
use crate::decode::list::{Lists, Room};
use crate::decode::message::{
    Data, Exemplar, ExponentialHistogramDataPoint, HistogramDataPoint, KeyValue, Metric,
    NumberDataPoint, Request, ResourceMetrics, ScopeMetrics, SummaryDataPoint, Value,
    ValueAtQuantile,
};

/// Everything that is being read.
#[derive(Debug)]
pub(super) struct Reader<'b> {
    pub(super) arena: &'b Bump,
    pub(super) room: Room,
    resources: Lists<ResourceMetrics<'b>>,
    scopes: Lists<ScopeMetrics<'b>>,
    metrics: Lists<Metric<'b>>,
    pub(super) numbers: Lists<NumberDataPoint<'b>>,
    pub(super) histograms: Lists<HistogramDataPoint<'b>>,
    pub(super) exponentials: Lists<ExponentialHistogramDataPoint<'b>>,
    pub(super) summaries: Lists<SummaryDataPoint<'b>>,
    pub(super) quantiles: Lists<ValueAtQuantile>,
    pub(super) exemplars: Lists<Exemplar<'b>>,
    pub(super) attributes: Lists<KeyValue<'b>>,
    pub(super) values: Lists<Option<Value<'b>>>,
    pub(super) counts: Lists<u64>,
    pub(super) bounds: Lists<f64>,
}

/// The data of a metric as far as it was read; the points are in the lists.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Part {
    /// The field that holds it; 0 for none yet.
    tag: u32,
    temporality: i32,
    is_monotonic: bool,
}

const GAUGE: u32 = 5;
const SUM: u32 = 7;
const HISTOGRAM: u32 = 9;
const EXPONENTIAL: u32 = 10;
const SUMMARY: u32 = 11;

impl<'b> Reader<'b> {
    /// Reads into `arena`, which may get `room` bytes of elements of lists.
    pub(super) fn new(arena: &'b Bump, room: u64) -> Self {
        Self {
            arena,
            room: Room::of(room),
            resources: Lists::default(),
            scopes: Lists::default(),
            metrics: Lists::default(),
            numbers: Lists::default(),
            histograms: Lists::default(),
            exponentials: Lists::default(),
            summaries: Lists::default(),
            quantiles: Lists::default(),
            exemplars: Lists::default(),
            attributes: Lists::default(),
            values: Lists::default(),
            counts: Lists::default(),
            bounds: Lists::default(),
        }
    }

    /// Reads the outermost message.
    pub(super) fn request(&mut self, mut wire: Wire<'b>) -> Result<Request<'b>, Fault> {
        while let Some(key) = wire.key()? {
            match key.tag {
                1 => {
                    let metrics = self.resource_metrics(wire.message(key)?)?;
                    self.resources.push(metrics, &mut self.room)?;
                }
                _ => wire.skip(key)?,
            }
        }
        Ok(Request {
            resource_metrics: self.resources.end(0, self.arena),
        })
    }

    fn resource_metrics(&mut self, mut wire: Wire<'b>) -> Result<ResourceMetrics<'b>, Fault> {
        let mut metrics = ResourceMetrics::default();
        let start = self.scopes.begin();
        while let Some(key) = wire.key()? {
            match key.tag {
                1 => self.resource(wire.message(key)?, &mut metrics.attributes)?,
                2 => {
                    let scope = self.scope_metrics(wire.message(key)?)?;
                    self.scopes.push(scope, &mut self.room)?;
                }
                3 => drop(wire.text(key)?),
                _ => wire.skip(key)?,
            }
        }
        metrics.scope_metrics = self.scopes.end(start, self.arena);
        Ok(metrics)
    }

    fn scope_metrics(&mut self, mut wire: Wire<'b>) -> Result<ScopeMetrics<'b>, Fault> {
        let mut metrics = ScopeMetrics::default();
        let start = self.metrics.begin();
        while let Some(key) = wire.key()? {
            match key.tag {
                1 => self.scope(wire.message(key)?, &mut metrics.scope)?,
                2 => {
                    let metric = self.metric(wire.message(key)?)?;
                    self.metrics.push(metric, &mut self.room)?;
                }
                3 => metrics.schema_url = wire.text(key)?,
                _ => wire.skip(key)?,
            }
        }
        metrics.metrics = self.metrics.end(start, self.arena);
        Ok(metrics)
    }

    fn metric(&mut self, mut wire: Wire<'b>) -> Result<Metric<'b>, Fault> {
        let mut metric = Metric::default();
        let mut part = Part::default();
        while let Some(key) = wire.key()? {
            match key.tag {
                1 => metric.name = wire.text(key)?,
                2 => metric.description = wire.text(key)?,
                3 => metric.unit = wire.text(key)?,
                GAUGE | SUM | HISTOGRAM | EXPONENTIAL | SUMMARY => {
                    let data = wire.message(key)?;
                    if part.tag != key.tag {
                        // Of data of several types the last counts; of the same type, all of it.
                        self.forget_points();
                        part = Part {
                            tag: key.tag,
                            ..Part::default()
                        };
                    }
                    self.data(data, &mut part)?;
                }
                12 => {
                    let start = self.attributes.begin();
                    self.attribute(&mut wire, key)?;
                    self.attributes.forget(start);
                }
                _ => wire.skip(key)?,
            }
        }
        metric.data = self.ended(part);
        Ok(metric)
    }

    /// Reads data of any type into the part of it that was read before.
    fn data(&mut self, mut wire: Wire<'b>, part: &mut Part) -> Result<(), Fault> {
        while let Some(key) = wire.key()? {
            match (part.tag, key.tag) {
                (_, 1) => self.point(&mut wire, key, part.tag)?,
                (SUM | HISTOGRAM | EXPONENTIAL, 2) => part.temporality = wire.int32(key)?,
                (SUM, 3) => part.is_monotonic = wire.boolean(key)?,
                _ => wire.skip(key)?,
            }
        }
        Ok(())
    }

    /// Reads a point of data in field `of`.
    fn point(&mut self, wire: &mut Wire<'b>, key: Key, of: u32) -> Result<(), Fault> {
        let point = wire.message(key)?;
        match of {
            HISTOGRAM => {
                let point = self.histogram(point)?;
                self.histograms.push(point, &mut self.room)?;
            }
            EXPONENTIAL => {
                let point = self.exponential(point)?;
                self.exponentials.push(point, &mut self.room)?;
            }
            SUMMARY => {
                let point = self.summary(point)?;
                self.summaries.push(point, &mut self.room)?;
            }
            _ => {
                let point = self.number(point)?;
                self.numbers.push(point, &mut self.room)?;
            }
        }
        Ok(())
    }

    /// The data of the metric at hand, whose points are all that the lists have.
    fn ended(&mut self, part: Part) -> Option<Data<'b>> {
        let Part {
            tag,
            temporality,
            is_monotonic,
        } = part;
        let arena = self.arena;
        Some(match tag {
            GAUGE => Data::Gauge(self.numbers.end(0, arena)),
            SUM => Data::Sum {
                points: self.numbers.end(0, arena),
                temporality,
                is_monotonic,
            },
            HISTOGRAM => Data::Histogram {
                points: self.histograms.end(0, arena),
                temporality,
            },
            EXPONENTIAL => Data::ExponentialHistogram {
                points: self.exponentials.end(0, arena),
                temporality,
            },
            SUMMARY => Data::Summary(self.summaries.end(0, arena)),
            _ => return None,
        })
    }

    fn forget_points(&mut self) {
        self.numbers.forget(0);
        self.histograms.forget(0);
        self.exponentials.forget(0);
        self.summaries.forget(0);
    }
}
