//! The closed list of reasons why a point is refused or changed, each with what to do about it.

/// Why a point was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// A sum or histogram with delta temporality.
    DeltaTemporality,
    /// A sum or histogram that does not say its temporality.
    UnspecifiedTemporality,
    /// A number point without a value.
    NoValue,
    /// No timestamp.
    TimestampZero,
    /// A timestamp before the tenant's window.
    TooOld,
    /// A timestamp after the tenant's window.
    TooFarInFuture,
    /// A metric name of which nothing is left.
    InvalidMetricName,
    /// A metric name over the tenant's limit.
    MetricNameTooLong,
    /// An attribute name of which nothing is left.
    InvalidLabelName,
    /// A label name over the tenant's limit.
    LabelNameTooLong,
    /// More labels than the tenant's limit.
    TooManyLabels,
    /// Numbers of bounds and bucket counts that do not fit.
    BucketMismatch,
    /// Bounds that do not increase or are not finite.
    InvalidBounds,
    /// A kind of metric that is not stored yet.
    UnsupportedType,
    /// A point beyond the tenant's limit per request.
    TooManyItems,
    /// A point whose rows would take more memory than a push may.
    RowsTooLarge,
    /// Another series of the same push has the same id.
    IdCollision,
}

impl Reason {
    /// Every reason, in the order of the enum.
    pub const ALL: [Self; 17] = [
        Self::DeltaTemporality,
        Self::UnspecifiedTemporality,
        Self::NoValue,
        Self::TimestampZero,
        Self::TooOld,
        Self::TooFarInFuture,
        Self::InvalidMetricName,
        Self::MetricNameTooLong,
        Self::InvalidLabelName,
        Self::LabelNameTooLong,
        Self::TooManyLabels,
        Self::BucketMismatch,
        Self::InvalidBounds,
        Self::UnsupportedType,
        Self::TooManyItems,
        Self::RowsTooLarge,
        Self::IdCollision,
    ];

    /// The stable name in metrics, usage rows and answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DeltaTemporality => "delta_temporality",
            Self::UnspecifiedTemporality => "unspecified_temporality",
            Self::NoValue => "no_value",
            Self::TimestampZero => "timestamp_zero",
            Self::TooOld => "too_old",
            Self::TooFarInFuture => "too_far_in_future",
            Self::InvalidMetricName => "invalid_metric_name",
            Self::MetricNameTooLong => "metric_name_too_long",
            Self::InvalidLabelName => "invalid_label_name",
            Self::LabelNameTooLong => "label_name_too_long",
            Self::TooManyLabels => "too_many_labels",
            Self::BucketMismatch => "bucket_mismatch",
            Self::InvalidBounds => "invalid_bounds",
            Self::UnsupportedType => "unsupported_type",
            Self::TooManyItems => "too_many_items",
            Self::RowsTooLarge => "rows_too_large",
            Self::IdCollision => "id_collision",
        }
    }

    /// What the sender can do about it.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::DeltaTemporality => {
                "export cumulative values (OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=cumulative, \
                 or the collector's deltatocumulative processor)"
            }
            Self::UnspecifiedTemporality => {
                "set aggregationTemporality to 2 (cumulative) on sums and histograms"
            }
            Self::NoValue => "set asInt or asDouble on every number point",
            Self::TimestampZero => "set timeUnixNano on every point",
            Self::TooOld => "send points sooner, or ask for a longer max_past",
            Self::TooFarInFuture => "correct the sender's clock",
            Self::InvalidMetricName => {
                "give the metric a name with at least one letter or digit from ASCII"
            }
            Self::MetricNameTooLong => "shorten the metric name",
            Self::InvalidLabelName => {
                "give the attribute a key with at least one letter or digit from ASCII"
            }
            Self::LabelNameTooLong => "shorten the attribute key",
            Self::TooManyLabels => "send fewer attributes, or promote fewer resource attributes",
            Self::BucketMismatch => {
                "send one more bucketCounts than explicitBounds, or neither of them"
            }
            Self::InvalidBounds => "send explicitBounds that are finite and strictly increasing",
            Self::UnsupportedType => "send gauges, sums or histograms with explicit bounds",
            Self::TooManyItems => "send smaller batches (send_batch_max_size in a collector)",
            Self::RowsTooLarge => {
                "send smaller batches, shorter attribute values, or promote fewer resource attributes"
            }
            Self::IdCollision => "change any label of one of the two series",
        }
    }
}

/// What was changed in a point that was stored all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Warning {
    /// A label value over the tenant's limit was cut.
    LabelValueCut,
    /// A histogram's count is not the sum of its buckets; both are stored as they came.
    CountDiffers,
    /// A value that means "not known" was left out.
    SentinelDropped,
}

impl Warning {
    /// Every warning, in the order of the enum.
    pub const ALL: [Self; 3] = [
        Self::LabelValueCut,
        Self::CountDiffers,
        Self::SentinelDropped,
    ];

    /// The stable name in metrics, usage rows and answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LabelValueCut => "label_value_cut",
            Self::CountDiffers => "count_differs",
            Self::SentinelDropped => "sentinel_dropped",
        }
    }

    /// What was done, and what the sender can do about it.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::LabelValueCut => "long label values were cut and end in `...`: send shorter ones",
            Self::CountDiffers => {
                "the histogram's count is not the sum of its bucketCounts: correct the exporter"
            }
            Self::SentinelDropped => {
                "values that stand for `not known` are left out; nothing, unless they were meant"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_in_snake_case() {
        let mut names: Vec<_> = Reason::ALL.iter().map(|reason| reason.name()).collect();
        names.extend(Warning::ALL.iter().map(|warning| warning.name()));
        let count = names.len();
        assert!(
            names
                .iter()
                .all(|name| name.bytes().all(|b| b == b'_' || b.is_ascii_lowercase()))
        );
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
