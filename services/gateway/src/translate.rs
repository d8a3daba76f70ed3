//! Turns a decoded metrics request into the rows that ClickHouse stores.
//!
//! Pure: no I/O, no clock, nothing async. The same request in the same [`Context`] always gives the
//! same rows.

mod reject;
mod push;
mod kinds;
mod time;
mod names;
mod units;
mod resource;
mod labels;
mod text;
mod identity;
mod number;
mod histogram;
mod target_info;
mod rows;
pub(crate) mod weight;
mod metadata;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use auth::tenant::Tenant;
use auth::translation::Translation;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use schemas::rows::{HistogramRow, MetadataRow, SampleRow, SeriesRow};

use self::push::Push;
pub use self::reject::{Reason, Warning};
use crate::outcome::Tally;

/// Whose request it is and when it came.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Owner of the rows; its limits bound labels and times.
    pub tenant: &'a Tenant,
    /// How the key that pushed wants its names and labels.
    pub translation: &'a Translation,
    /// Time of arrival, milliseconds since the epoch.
    pub now_ms: i64,
}

/// The rows of one request and what became of each of its points.
#[derive(Debug, PartialEq)]
pub struct TranslatedBatch {
    /// Gauges and sums, one row a point.
    pub samples: Vec<SampleRow>,
    /// Histogram points.
    pub histograms: Vec<HistogramRow>,
    /// One row per distinct (metric, id, day) of the points above.
    pub series: Vec<SeriesRow>,
    /// One row per metric family of the points above.
    pub metadata: Vec<MetadataRow>,
    /// Every point of the request, counted once.
    pub tally: Tally,
}

/// Why one point is not stored.
#[derive(Debug)]
struct Refusal {
    reason: Reason,
    detail: Cow<'static, str>,
}

impl Refusal {
    fn new(reason: Reason, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            reason,
            detail: detail.into(),
        }
    }
}

/// Translates a request, point by point: a bad point never fails its neighbours.
///
/// Scope labels are left out unless the key asks for them. Where that makes two scopes of the request
/// write the same series at the same time, the request is gone through once more with scope labels
/// on the metrics concerned.
#[must_use]
#[expect(
    clippy::needless_pass_by_value,
    reason = "a stage consumes what it was given"
)]
pub fn translate(request: ExportMetricsServiceRequest, context: &Context<'_>) -> TranslatedBatch {
    let push = Push::run(&request, context, &[]);
    let contested = push.contested();
    if contested.is_empty() || context.translation.scope_labels {
        return batch(push);
    }
    batch(Push::run(&request, context, &contested))
}

fn batch(push: Push<'_>) -> TranslatedBatch {
    let Push {
        rows,
        metadata,
        tally,
        ..
    } = push;
    TranslatedBatch {
        samples: rows.samples,
        histograms: rows.histograms,
        series: rows.series,
        metadata: metadata.rows,
        tally: tally.close(),
    }
}
