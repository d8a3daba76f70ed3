//! Collects type, unit and help of the metric families of a push.

use super::Context;
use super::family::{Families, Family};
use super::resource::escapes;
use super::units::UnitWords;
use crate::batch;
use crate::known::{Fingerprint, Known};
use crate::outcome::cut;

/// What is said of each family, by index of the family.
#[derive(Debug, Default)]
pub(super) struct Metadata<'r>(Vec<Option<(Family, About<'r>)>>);

/// What a metric says of its family.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'r> {
    /// Prometheus type word.
    pub(super) kind: &'static str,
    /// As sent.
    pub(super) unit: &'r str,
    pub(super) help: &'r str,
}

impl<'r> Metadata<'r> {
    /// Sets what is said of a family; of conflicting metrics the last one wins.
    pub(super) fn set(&mut self, family: Family, about: About<'r>) {
        let Ok(index) = usize::try_from(family.index) else {
            return;
        };
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        self.0[index] = Some((family, about));
    }

    /// The rows that are not stored yet, and their prints to `fresh`.
    pub(super) fn fresh(
        self,
        families: &Families<'_>,
        context: &Context<'_>,
        known: &Known,
        fresh: &mut Vec<Fingerprint>,
    ) -> Vec<batch::Metadata> {
        let day = schemas::rows::day_of(context.now_ms);
        let mut rows = Vec::new();
        for (family, about) in self.0.into_iter().flatten() {
            let print = family
                .print
                .metadata(about.kind, about.unit, about.help, day);
            if !known.has(print) {
                fresh.push(print);
                rows.push(row(families.name(family), &about, context));
            }
        }
        rows
    }
}

fn row(family: &str, about: &About<'_>, context: &Context<'_>) -> batch::Metadata {
    let words = UnitWords::of(about.unit);
    let words = if escapes(context.translation.strategy) {
        words.escaped()
    } else {
        words
    };
    let longest = context.tenant.limits.max_label_value_length;
    batch::Metadata {
        family: family.to_owned(),
        kind: about.kind.to_owned(),
        unit: cut(&words.joined(), longest),
        help: cut(about.help, longest),
        updated: u32::try_from(context.now_ms / 1000).unwrap_or_default(),
    }
}
