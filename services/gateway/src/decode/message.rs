//! OTLP's messages of metrics, borrowed from a body and its arena; the fields are named as in OTLP.
//!
//! Everything is a slice, so that a push of thousands of points is a handful of allocations and is given up in
//! one. Left out is what nothing is made of: numbers of dropped attributes, entity references, metadata of
//! metrics and what only profiles have.

/// `ExportMetricsServiceRequest`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Request<'b> {
    /// The resources, each with its metrics.
    pub resource_metrics: &'b [ResourceMetrics<'b>],
}

/// The metrics of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResourceMetrics<'b> {
    /// Attributes of the resource, none when there is no resource.
    pub attributes: &'b [KeyValue<'b>],
    /// The scopes, each with its metrics.
    pub scope_metrics: &'b [ScopeMetrics<'b>],
}

/// The metrics of a scope.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScopeMetrics<'b> {
    /// The scope, empty when there is none.
    pub scope: Scope<'b>,
    /// The metrics.
    pub metrics: &'b [Metric<'b>],
    /// Schema of the scope's metrics.
    pub schema_url: &'b str,
}

/// `InstrumentationScope`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scope<'b> {
    /// Name of what made the metrics.
    pub name: &'b str,
    /// Its version.
    pub version: &'b str,
    /// What else is said of it.
    pub attributes: &'b [KeyValue<'b>],
}

/// A metric.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metric<'b> {
    /// Name as sent.
    pub name: &'b str,
    /// Description as sent.
    pub description: &'b str,
    /// Unit as sent, in UCUM's notation where senders keep to it.
    pub unit: &'b str,
    /// Points, `None` for a metric without a type.
    pub data: Option<Data<'b>>,
}

/// The points of a metric by its type. `temporality` is the number of an `AggregationTemporality`, which may be
/// one that OTLP does not have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Data<'b> {
    /// Values that go up and down.
    Gauge(&'b [NumberDataPoint<'b>]),
    /// Sums.
    Sum {
        /// The points.
        points: &'b [NumberDataPoint<'b>],
        /// Since when it sums up.
        temporality: i32,
        /// Whether it never falls.
        is_monotonic: bool,
    },
    /// Histograms with explicit bounds.
    Histogram {
        /// The points.
        points: &'b [HistogramDataPoint<'b>],
        /// Since when it counts.
        temporality: i32,
    },
    /// Histograms with exponential buckets.
    ExponentialHistogram {
        /// The points.
        points: &'b [ExponentialHistogramDataPoint<'b>],
        /// Since when it counts.
        temporality: i32,
    },
    /// Quantiles.
    Summary(&'b [SummaryDataPoint<'b>]),
}

/// A number, of a point or an exemplar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// `as_double`.
    Double(f64),
    /// `as_int`.
    Int(i64),
}

/// A point of a gauge or a sum. Times are nanoseconds since the epoch, 0 where not given, here and below.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NumberDataPoint<'b> {
    /// What tells the point from others of the metric.
    pub attributes: &'b [KeyValue<'b>],
    /// When a sum started.
    pub start_time_unix_nano: u64,
    /// When the point was taken.
    pub time_unix_nano: u64,
    /// Measurements behind the value.
    pub exemplars: &'b [Exemplar<'b>],
    /// Bits of `DataPointFlags`.
    pub flags: u32,
    /// The value.
    pub value: Option<Number>,
}

/// A point of a histogram with explicit bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HistogramDataPoint<'b> {
    /// What tells the point from others of the metric.
    pub attributes: &'b [KeyValue<'b>],
    /// When the histogram started.
    pub start_time_unix_nano: u64,
    /// When the point was taken.
    pub time_unix_nano: u64,
    /// Number of observations.
    pub count: u64,
    /// Sum of observations.
    pub sum: Option<f64>,
    /// Observations by bucket, not cumulative.
    pub bucket_counts: &'b [u64],
    /// Upper bounds of the buckets but the last.
    pub explicit_bounds: &'b [f64],
    /// Measurements behind the counts.
    pub exemplars: &'b [Exemplar<'b>],
    /// Bits of `DataPointFlags`.
    pub flags: u32,
    /// Smallest observation.
    pub min: Option<f64>,
    /// Greatest observation.
    pub max: Option<f64>,
}

/// A point of a histogram with exponential buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExponentialHistogramDataPoint<'b> {
    /// What tells the point from others of the metric.
    pub attributes: &'b [KeyValue<'b>],
    /// When the histogram started.
    pub start_time_unix_nano: u64,
    /// When the point was taken.
    pub time_unix_nano: u64,
    /// Number of observations.
    pub count: u64,
    /// Sum of observations.
    pub sum: Option<f64>,
    /// Resolution of the buckets.
    pub scale: i32,
    /// Observations in the zero bucket.
    pub zero_count: u64,
    /// Buckets of positive observations, where given.
    pub positive: Option<Buckets<'b>>,
    /// Buckets of negative observations, where given.
    pub negative: Option<Buckets<'b>>,
    /// Bits of `DataPointFlags`.
    pub flags: u32,
    /// Measurements behind the counts.
    pub exemplars: &'b [Exemplar<'b>],
    /// Smallest observation.
    pub min: Option<f64>,
    /// Greatest observation.
    pub max: Option<f64>,
    /// Width of the zero bucket.
    pub zero_threshold: f64,
}

/// Exponential buckets of one sign.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Buckets<'b> {
    /// Index of the first.
    pub offset: i32,
    /// Observations by bucket.
    pub bucket_counts: &'b [u64],
}

/// A point of a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SummaryDataPoint<'b> {
    /// What tells the point from others of the metric.
    pub attributes: &'b [KeyValue<'b>],
    /// When the summary started.
    pub start_time_unix_nano: u64,
    /// When the point was taken.
    pub time_unix_nano: u64,
    /// Number of observations.
    pub count: u64,
    /// Sum of observations.
    pub sum: f64,
    /// Values by quantile.
    pub quantile_values: &'b [ValueAtQuantile],
    /// Bits of `DataPointFlags`.
    pub flags: u32,
}

/// A quantile of a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ValueAtQuantile {
    /// Between 0 and 1.
    pub quantile: f64,
    /// The observation there.
    pub value: f64,
}

/// A measurement behind a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exemplar<'b> {
    /// Attributes of the measurement that the point does not have.
    pub filtered_attributes: &'b [KeyValue<'b>],
    /// When it was taken.
    pub time_unix_nano: u64,
    /// The measurement.
    pub value: Option<Number>,
    /// Span in which it was taken; empty when there was none.
    pub span_id: &'b [u8],
    /// Trace in which it was taken; empty when there was none.
    pub trace_id: &'b [u8],
}

/// An attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KeyValue<'b> {
    /// Its key.
    pub key: &'b str,
    /// Its value, `None` where there is none or it is not set.
    pub value: Option<Value<'b>>,
}

/// A value of an attribute that is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'b> {
    /// Text.
    String(&'b str),
    /// Truth.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Double(f64),
    /// Values, some of which may not be set.
    Array(&'b [Option<Self>]),
    /// Attributes by key.
    Kvlist(&'b [KeyValue<'b>]),
    /// Bytes.
    Bytes(&'b [u8]),
}
