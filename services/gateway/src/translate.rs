//! Turns a decoded metrics request into the rows that ClickHouse stores.
//!
//! Pure: no I/O, no clock, nothing async. The same request in the same [`Context`] always gives the
//! same rows.

mod reject;
mod push;
mod family;
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
mod metadata;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use self::push::Push;
pub use self::reject::{Reason, Warning};
use crate::batch::Batch;
use crate::decode::message::Request;
pub use crate::known::Fingerprint;
use crate::known::Known;
use crate::outcome::Tally;
use auth::tenant::Tenant;
use auth::translation::Translation;
use bumpalo::Bump;

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
    /// A row per point, one per distinct (metric, id, day) of them that was not known, one per metric family of
    /// them that was not known.
    pub batch: Batch,
    /// What to [remember](Known::remember) once the batch is stored.
    pub fresh: Vec<Fingerprint>,
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
///
/// No rows are made of series and metadata that are `known` as stored.
#[must_use]
pub fn translate(request: &Request<'_>, context: &Context<'_>, known: &Known) -> TranslatedBatch {
    let arena = Bump::new();
    let push = Push::run(request, context, known, &arena, &[]);
    let contested = push.contested();
    if contested.is_empty() || context.translation.scope_labels {
        return batch(push);
    }
    batch(Push::run(request, context, known, &arena, &contested))
}

fn batch(push: Push<'_>) -> TranslatedBatch {
    let (context, known) = (push.context, push.known);
    let Push {
        rows,
        metadata,
        families,
        tally,
        ..
    } = push;
    let mut fresh = rows.series.fresh;
    let metadata = metadata.fresh(&families, context, known, &mut fresh);
    TranslatedBatch {
        batch: Batch {
            tenant: context.tenant.id.as_str().to_owned(),
            ret_days: context.tenant.limits.retention_days,
            names: families.into_names(),
            samples: rows.samples,
            histograms: rows.histograms,
            series: rows.series.rows,
            metadata,
        },
        fresh,
        tally: tally.close(),
    }
}
