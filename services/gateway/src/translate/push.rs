//! Walks one push from resource to point and settles what becomes of each point.

use std::borrow::Cow;
use std::collections::HashMap;

use auth::translation::Translation;
use bumpalo::Bump;
use foldhash::fast::RandomState;
use opentelemetry_proto::tonic::metrics::v1::DataPointFlags;

use super::family::{Families, Family};
use super::labels::{Given, Label, Labels, Rules, label_set};
use super::metadata::{About, Metadata};
use super::names::{Suffix, metric_name};
use super::reject::{Reason, Warning};
use super::resource::{escapes, resource_labels, scope_labels};
use super::rows::{Key, Rows, Shape, Slot};
use super::target_info::{self, Span};
use super::time::Window;
use super::{Context, Refusal};
use crate::decode::message::{KeyValue, Metric, Request, ScopeMetrics};
use crate::decode::{ROOM_PER_BYTE, points_in};
use crate::known::Known;
use crate::outcome::{Tally, excerpt};

/// Most room that is made for points before the first of them is looked at.
const EXPECTED_POINTS: usize = 1 << 16;

/// Where a metric came from, as its points need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'m> {
    resource: &'m [Given<'m>],
    scope: &'m [Given<'m>],
    scope_index: u32,
}

/// Where the points of one metric belong.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'m> {
    origin: Origin<'m>,
    pub(super) family: Family,
}

impl<'m> Place<'m> {
    /// The place of a family that comes from the resource itself and from no scope.
    pub(super) fn of_resource(resource: &'m [Given<'m>], family: Family) -> Self {
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

/// What makes the row of a point; answers how many label values were cut. Text of the point alone may go to the
/// arena.
pub(super) type Add<'c, P> = fn(&mut Push<'c>, &Place<'_>, &P, &Bump) -> Result<u64, Refusal>;

/// A push on its way to rows.
#[derive(Debug)]
pub(super) struct Push<'c> {
    pub(super) window: Window,
    pub(super) rows: Rows<'c>,
    pub(super) families: Families<'c>,
    pub(super) metadata: Metadata<'c>,
    pub(super) tally: Tally,
    pub(super) context: &'c Context<'c>,
    pub(super) known: &'c Known,
    /// For text that resources and scopes give to their points.
    pub(super) arena: &'c Bump,
    /// Families whose points carry their scope's labels, sorted.
    with_scope: &'c [String],
    scopes: HashMap<Vec<Given<'c>>, u32, RandomState>,
    /// Whether no other scope can collide with a scope: there is only one.
    one_scope: bool,
    seen: u64,
    /// Times of the stored points of the resource at hand.
    span: Option<Span>,
}

impl<'c> Push<'c> {
    /// Translates everything; `with_scope` lists, sorted, the families that need scope labels.
    pub(super) fn run(
        request: &Request<'c>,
        context: &'c Context<'c>,
        known: &'c Known,
        arena: &'c Bump,
        with_scope: &'c [String],
    ) -> Self {
        let mut push = Self::new(request, context, known, arena, with_scope);
        for resource in request.resource_metrics {
            let attributes = resource.attributes;
            let labels = resource_labels(attributes, context.translation, arena);
            for scope in resource.scope_metrics {
                push.scope(scope, &labels);
            }
            if let Some(span) = push.span.take() {
                target_info::add(&mut push, attributes, span);
                push.span = None;
            }
        }
        push
    }

    fn new(
        request: &Request<'c>,
        context: &'c Context<'c>,
        known: &'c Known,
        arena: &'c Bump,
        with_scope: &'c [String],
    ) -> Self {
        let tenant = context.tenant;
        let room = tenant.limits.max_request_bytes;
        let room = usize::try_from(room.saturating_mul(ROOM_PER_BYTE)).unwrap_or(usize::MAX);
        let points = points_in(request);
        let scopes = request
            .resource_metrics
            .iter()
            .map(|resource| resource.scope_metrics.len());
        Self {
            window: Window::of(context),
            rows: Rows::within(room, known, points.min(EXPECTED_POINTS)),
            families: Families::of(known.tenant(tenant.id.as_str())),
            metadata: Metadata::default(),
            tally: Tally::expecting(u64::try_from(points).unwrap_or(u64::MAX)),
            context,
            known,
            arena,
            with_scope,
            scopes: HashMap::default(),
            one_scope: scopes.sum::<usize>() == 1 && !context.translation.scope_labels,
            seen: 0,
            span: None,
        }
    }

    /// Families in which two scopes have a point with the same labels and time, sorted.
    pub(super) fn contested(&self) -> Vec<String> {
        let contested = self.rows.contested.iter();
        let mut names: Vec<String> = contested
            .map(|index| self.families.get(*index).to_owned())
            .collect();
        names.sort_unstable();
        names
    }

    fn scope(&mut self, metrics: &ScopeMetrics<'c>, resource: &[Given<'c>]) {
        let (labels, scope_index) = if self.one_scope {
            (Vec::new(), 0)
        } else {
            let labels = scope_labels(metrics, self.context.translation, self.arena);
            let next = u32::try_from(self.scopes.len()).unwrap_or(u32::MAX);
            let index = *self.scopes.entry(labels.clone()).or_insert(next);
            (labels, index)
        };
        let origin = Origin {
            resource,
            scope: &labels,
            scope_index,
        };
        for metric in metrics.metrics {
            self.metric(metric, &origin);
        }
    }

    /// The place of a family's points, with scope labels only where they are wanted.
    pub(super) fn place<'m>(&self, family: Family, origin: &Origin<'m>) -> Place<'m> {
        let with_scope = self.context.translation.scope_labels
            || (!self.with_scope.is_empty() && {
                let name = self.families.name(family);
                self.with_scope
                    .binary_search_by(|with| with.as_str().cmp(name))
                    .is_ok()
            });
        let scope = if with_scope { origin.scope } else { &[] };
        Place {
            origin: Origin { scope, ..*origin },
            family,
        }
    }

    /// Runs `add` for each point and settles it; returns whether any was accepted.
    pub(super) fn each<P>(
        &mut self,
        metric: &Metric<'_>,
        place: &Place<'_>,
        points: &[P],
        add: Add<'c, P>,
    ) -> bool {
        let mut scratch = Bump::new();
        let most = self.context.tenant.limits.max_items_per_request;
        let before = self.tally.accepted();
        for point in points {
            let outcome = if self.seen >= most {
                Err(Refusal::new(
                    Reason::TooManyItems,
                    format!("limit {most} points per request"),
                ))
            } else {
                add(self, place, point, &scratch)
            };
            if scratch.allocated_bytes() > 0 {
                scratch.reset();
            }
            self.seen += 1;
            self.settle(metric, outcome);
        }
        self.tally.accepted() > before
    }

    /// Counts a point: accepted with that many label values cut, or refused.
    fn settle(&mut self, metric: &Metric<'_>, outcome: Result<u64, Refusal>) {
        match outcome {
            Ok(0) => self.tally.accept(),
            Ok(cut) => {
                self.tally.accept();
                let detail = || format!("{cut} label values were too long");
                self.tally
                    .warn(Warning::LabelValueCut, 1, metric.name, detail);
            }
            Err(Refusal { reason, detail }) => {
                self.tally
                    .reject(reason, 1, metric.name, || detail.into_owned());
            }
        }
    }

    /// The family of a metric with points; rejects them all when it cannot have a name.
    pub(super) fn family(
        &mut self,
        metric: &Metric<'c>,
        suffix: Suffix,
        points: usize,
    ) -> Option<Family> {
        if points == 0 {
            return None;
        }
        let words = (metric.name, metric.unit, suffix);
        if let Some(family) = self.families.of_words(&words) {
            return Some(family);
        }
        match self.name(metric, suffix) {
            Ok(name) => {
                let family = self.families.intern(name);
                self.families.note(words, family);
                Some(family)
            }
            Err(refusal) => {
                self.reject_all(metric, refusal, points);
                None
            }
        }
    }

    /// The Prometheus name of a metric.
    fn name(&self, metric: &Metric<'c>, suffix: Suffix) -> Result<Cow<'c, str>, Refusal> {
        let translation = self.context.translation;
        let suffix = if suffix == Suffix::Ratio && !translation.add_ratio {
            Suffix::Unit
        } else {
            suffix
        };
        let name = metric_name(metric.name, metric.unit, suffix, translation.strategy);
        let Some(name) = name else {
            let detail = format!("name `{}` has no usable character", excerpt(metric.name));
            return Err(Refusal::new(Reason::InvalidMetricName, detail));
        };
        let longest = self.context.tenant.limits.max_label_name_length;
        if name.len() > longest {
            let bytes = name.len();
            let detail = format!("its Prometheus name has {bytes} bytes, limit {longest}");
            return Err(Refusal::new(Reason::MetricNameTooLong, detail));
        }
        Ok(name)
    }

    /// Rejects all points of a metric.
    pub(super) fn reject_all(&mut self, metric: &Metric<'_>, refusal: Refusal, points: usize) {
        let points = u64::try_from(points).unwrap_or(u64::MAX);
        self.seen = self.seen.saturating_add(points);
        self.tally.reject(refusal.reason, points, metric.name, || {
            refusal.detail.into_owned()
        });
    }

    /// Notes what a metric says of its family.
    pub(super) fn describe(&mut self, family: Family, metric: &Metric<'c>, kind: &'static str) {
        let about = About {
            kind,
            unit: metric.unit,
            help: metric.description,
        };
        self.metadata.set(family, about);
    }

    /// Counts a point of a family that is stored with a change or a doubt.
    pub(super) fn warn(
        &mut self,
        warning: Warning,
        family: Family,
        detail: impl FnOnce() -> String,
    ) {
        self.tally
            .warn(warning, 1, self.families.name(family), detail);
    }

    /// How the labels of this push are made.
    pub(super) fn rules<'p>(&self, arena: &'p Bump) -> Rules<'p>
    where
        'c: 'p,
    {
        Rules {
            arena,
            limits: &self.context.tenant.limits,
            escaping: escapes(self.context.translation.strategy),
        }
    }

    /// The labels of one point.
    pub(super) fn labels<'p>(
        &self,
        labels: &mut Labels<'p>,
        place: &Place<'p>,
        attributes: &[KeyValue<'p>],
        scratch: &'p Bump,
    ) -> Result<u64, Refusal>
    where
        'c: 'p,
    {
        let Origin {
            resource, scope, ..
        } = place.origin;
        label_set(labels, attributes, resource, scope, &self.rules(scratch))
    }

    /// The series id of a point, and where its row goes.
    pub(super) fn slot(
        &mut self,
        place: &Place<'_>,
        shape: Shape<'_>,
        labels: &[Label<'_>],
        ts: i64,
    ) -> Result<(u64, Slot), Refusal> {
        let found = self.rows.slot(&Key {
            family: place.family,
            shape,
            labels,
            ts,
            scope: place.origin.scope_index,
        })?;
        self.span = Some(Span::with(self.span, ts));
        Ok(found)
    }

    /// What the key that pushed wants.
    pub(super) fn translation(&self) -> &'c Translation {
        self.context.translation
    }
}

/// Whether a point only says that its series has ended.
pub(super) fn has_no_recorded_value(flags: u32) -> bool {
    let mask = DataPointFlags::NoRecordedValueMask as u32;
    flags & mask != 0
}
