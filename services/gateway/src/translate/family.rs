//! Names of metrics → families, each with a number that stands for its name within the push.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::names::Suffix;
use crate::known::{Fingerprint, TenantPrint};

/// A metric family of the push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Family {
    /// Place of its name among those of the push.
    pub(super) index: u32,
    /// What the prints of its rows are made of.
    pub(super) print: Fingerprint,
}

/// What a metric says of itself that its name is made of.
pub(super) type Words<'r> = (&'r str, &'r str, Suffix);

/// Most pushes have fewer families than this.
const USUAL: usize = 32;

/// The families so far.
#[derive(Debug)]
pub(super) struct Families<'c> {
    tenant: TenantPrint,
    names: Vec<String>,
    /// The index by the print of the name, which is as good as the name.
    by_print: HashMap<Fingerprint, u32, RandomState>,
    /// The same metric comes with each resource: its name is made once.
    by_words: HashMap<Words<'c>, Family, RandomState>,
}

impl<'c> Families<'c> {
    /// No families yet.
    pub(super) fn of(tenant: TenantPrint) -> Self {
        Self {
            tenant,
            names: Vec::with_capacity(USUAL),
            by_print: HashMap::with_capacity_and_hasher(USUAL, RandomState::default()),
            by_words: HashMap::with_capacity_and_hasher(USUAL, RandomState::default()),
        }
    }

    /// The family of a metric, if it was made before.
    pub(super) fn of_words(&self, words: &Words<'c>) -> Option<Family> {
        self.by_words.get(words).copied()
    }

    /// Notes that a metric is of this family.
    pub(super) fn note(&mut self, words: Words<'c>, family: Family) {
        self.by_words.insert(words, family);
    }

    /// The family of a name, the same for the whole push.
    pub(super) fn intern(&mut self, name: Cow<'_, str>) -> Family {
        let print = self.tenant.family(&name);
        // A push never has 2^32 of anything.
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let index = *self.by_print.entry(print).or_insert(next);
        if index == next {
            self.names.push(name.into_owned());
        }
        Family { index, print }
    }

    /// The Prometheus name of a family.
    pub(super) fn name(&self, family: Family) -> &str {
        self.get(family.index)
    }

    /// The name of the family with this index.
    pub(super) fn get(&self, index: u32) -> &str {
        let name = usize::try_from(index)
            .ok()
            .and_then(|index| self.names.get(index));
        name.map(String::as_str).unwrap_or_default()
    }

    /// All names by index.
    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }
}
