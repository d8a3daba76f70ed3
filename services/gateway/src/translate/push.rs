//! Walks one push from resource to point and settles what becomes of each point.

use std::collections::HashMap;

use auth::translation::Translation;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::{DataPointFlags, Metric, ScopeMetrics};

use super::identity::series_id;
use super::labels::{Given, Label, LabelSet, Rules, label_set};
use super::metadata::{Common, Metadata};
use super::names::{Suffix, metric_name};
use super::reject::{Reason, Warning};
use super::resource::{escapes, resource_labels, scope_labels};
use super::rows::{Family, Key, Rows, Shape, Slot};
use super::target_info::{self, Span};
use super::time::Window;
use super::{Context, Refusal};
use crate::decode::{ROOM_PER_BYTE, points_in};
use crate::outcome::{Tally, excerpt};

/// Where a metric came from, as its points need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'m> {
    resource: &'m [Given],
    scope: &'m [Given],
    scope_index: u32,
}

/// Where the points of one metric belong.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'m> {
    origin: Origin<'m>,
    pub(super) family: &'m Family,
}

impl<'m> Place<'m> {
    /// The place of a family that comes from the resource itself and from no scope.
    pub(super) fn of_resource(resource: &'m [Given], family: &'m Family) -> Self {
        Self {
            origin: Origin {
                resource,
                scope: &[],
                scope_index: u32::MAX,
            },
            family,
        }
    }
}

/// A push on its way to rows.
#[derive(Debug)]
pub(super) struct Push<'c> {
    pub(super) window: Window,
    pub(super) rows: Rows,
    pub(super) metadata: Metadata,
    pub(super) tally: Tally,
    context: &'c Context<'c>,
    /// Families whose points carry their scope's labels, sorted.
    with_scope: &'c [String],
    families: HashMap<String, u32>,
    scopes: HashMap<Vec<Given>, u32>,
    seen: u64,
    /// Times of the stored points of the resource at hand.
    span: Option<Span>,
    buffer: Vec<u8>,
}

impl<'c> Push<'c> {
    /// Translates everything; `with_scope` lists, sorted, the families that need scope labels.
    pub(super) fn run(
        request: &ExportMetricsServiceRequest,
        context: &'c Context<'c>,
        with_scope: &'c [String],
    ) -> Self {
        let room = context
            .tenant
            .limits
            .max_request_bytes
            .saturating_mul(ROOM_PER_BYTE);
        let mut push = Self {
            window: Window::of(context),
            rows: Rows::within(usize::try_from(room).unwrap_or(usize::MAX)),
            metadata: Metadata::default(),
            tally: Tally::expecting(u64::try_from(points_in(request)).unwrap_or(u64::MAX)),
            context,
            with_scope,
            families: HashMap::new(),
            scopes: HashMap::new(),
            seen: 0,
            span: None,
            buffer: Vec::new(),
        };
        for resource in &request.resource_metrics {
            let resource_labels = resource_labels(resource, context.translation);
            for scope in &resource.scope_metrics {
                push.scope(scope, &resource_labels);
            }
            if let Some(span) = push.span.take() {
                target_info::add(&mut push, resource, span);
                push.span = None;
            }
        }
        push
    }

    /// Families in which two scopes have a point with the same labels and time, sorted.
    pub(super) fn contested(&self) -> Vec<String> {
        let contested = |index: &u32| self.rows.contested.contains(index);
        let mut names: Vec<String> = self
            .families
            .iter()
            .filter(|(_, index)| contested(index))
            .map(|(name, _)| name.clone())
            .collect();
        names.sort_unstable();
        names
    }

    fn scope(&mut self, metrics: &ScopeMetrics, resource: &[Given]) {
        let labels = scope_labels(metrics, self.context.translation);
        let next = index(self.scopes.len());
        let scope_index = *self.scopes.entry(labels.clone()).or_insert(next);
        let origin = Origin {
            resource,
            scope: &labels,
            scope_index,
        };
        for metric in &metrics.metrics {
            self.metric(metric, &origin);
        }
    }

    /// The place of a family's points, with scope labels only where they are wanted.
    pub(super) fn place<'m>(&self, family: &'m Family, origin: &Origin<'m>) -> Place<'m> {
        let with_scope = self.context.translation.scope_labels
            || self.with_scope.binary_search(&family.name).is_ok();
        let scope = if with_scope { origin.scope } else { &[] };
        Place {
            origin: Origin { scope, ..*origin },
            family,
        }
    }

    /// Runs `add` for each point and settles it; returns whether any was accepted.
    pub(super) fn each<P>(
        &mut self,
        metric: &Metric,
        place: &Place<'_>,
        points: &[P],
        add: impl Fn(&mut Self, &Place<'_>, &P) -> Result<u64, Refusal>,
    ) -> bool {
        let most = self.context.tenant.limits.max_items_per_request;
        let before = self.tally.accepted();
        for point in points {
            let outcome = if self.seen >= most {
                Err(Refusal::new(
                    Reason::TooManyItems,
                    format!("limit {most} points per request"),
                ))
            } else {
                add(self, place, point)
            };
            self.seen += 1;
            self.settle(metric, outcome);
        }
        self.tally.accepted() > before
    }

    /// Counts a point: accepted with that many label values cut, or refused.
    fn settle(&mut self, metric: &Metric, outcome: Result<u64, Refusal>) {
        match outcome {
            Ok(0) => self.tally.accept(),
            Ok(cut) => {
                self.tally.accept();
                let detail = || format!("{cut} label values were too long");
                self.tally
                    .warn(Warning::LabelValueCut, 1, &metric.name, detail);
            }
            Err(Refusal { reason, detail }) => {
                self.tally
                    .reject(reason, 1, &metric.name, || detail.into_owned());
            }
        }
    }

    /// The family of a metric with points; rejects them all when it cannot have a name.
    pub(super) fn family(
        &mut self,
        metric: &Metric,
        suffix: Suffix,
        points: usize,
    ) -> Option<Family> {
        if points == 0 {
            return None;
        }
        let translation = self.context.translation;
        let suffix = if suffix == Suffix::Ratio && !translation.add_ratio {
            Suffix::Unit
        } else {
            suffix
        };
        let name = metric_name(&metric.name, &metric.unit, suffix, translation.strategy);
        let Some(name) = name else {
            let detail = format!("name `{}` has no usable character", excerpt(&metric.name));
            self.reject_all(
                metric,
                Refusal::new(Reason::InvalidMetricName, detail),
                points,
            );
            return None;
        };
        let longest = self.context.tenant.limits.max_label_name_length;
        if name.len() > longest {
            let detail = format!(
                "its Prometheus name has {} bytes, limit {longest}",
                name.len()
            );
            self.reject_all(
                metric,
                Refusal::new(Reason::MetricNameTooLong, detail),
                points,
            );
            return None;
        }
        Some(self.intern(name))
    }

    /// The family of a name, the same for the whole push.
    pub(super) fn intern(&mut self, name: String) -> Family {
        let next = index(self.families.len());
        let index = match self.families.get(&name) {
            Some(index) => *index,
            None => *self.families.entry(name.clone()).or_insert(next),
        };
        Family { name, index }
    }

    /// Rejects all points of a metric.
    pub(super) fn reject_all(&mut self, metric: &Metric, refusal: Refusal, points: usize) {
        let points = u64::try_from(points).unwrap_or(u64::MAX);
        self.seen = self.seen.saturating_add(points);
        self.tally.reject(refusal.reason, points, &metric.name, || {
            refusal.detail.into_owned()
        });
    }

    /// Writes the metadata row of a family.
    pub(super) fn describe(&mut self, family: &Family, metric: &Metric, kind: &str) {
        let common = Common {
            tenant: self.context.tenant.id.as_str(),
            strategy: self.context.translation.strategy,
            longest: self.context.tenant.limits.max_label_value_length,
            updated: u32::try_from(self.context.now_ms / 1000).unwrap_or_default(),
        };
        self.metadata.set(family, metric, kind, &common);
    }

    /// How the labels of this push are made.
    pub(super) fn rules(&self) -> Rules<'c> {
        Rules {
            limits: &self.context.tenant.limits,
            escaping: escapes(self.context.translation.strategy),
        }
    }

    /// The labels of one point.
    pub(super) fn labels<'p>(
        &self,
        place: &Place<'p>,
        attributes: &'p [KeyValue],
    ) -> Result<LabelSet<'p>, Refusal> {
        label_set(
            attributes,
            place.origin.resource,
            place.origin.scope,
            &self.rules(),
        )
    }

    /// The series id of a point, and where its row goes.
    pub(super) fn slot(
        &mut self,
        place: &Place<'_>,
        shape: Shape<'_>,
        labels: &[Label<'_>],
        ts: i64,
    ) -> Result<(u64, Slot), Refusal> {
        let id = series_id(labels, shape.kind, shape.bounds, &mut self.buffer);
        let (metric, scope) = (place.family, place.origin.scope_index);
        let key = Key {
            metric,
            shape,
            labels,
            id,
            ts,
            scope,
        };
        let slot = self.rows.slot(self.tenant_id(), &key)?;
        self.span = Some(Span::with(self.span, ts));
        Ok((id, slot))
    }

    /// What the key that pushed wants.
    pub(super) fn translation(&self) -> &'c Translation {
        self.context.translation
    }

    /// Owner of the rows.
    pub(super) fn tenant_id(&self) -> &'c str {
        self.context.tenant.id.as_str()
    }

    /// Days to keep the rows.
    pub(super) fn ret_days(&self) -> u16 {
        self.context.tenant.limits.retention_days
    }
}

/// Whether a point only says that its series has ended.
pub(super) fn has_no_recorded_value(flags: u32) -> bool {
    let mask = DataPointFlags::NoRecordedValueMask as u32;
    flags & mask != 0
}

/// Position in a map of this push as a short number; a push never has 2^32 of anything.
fn index(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
