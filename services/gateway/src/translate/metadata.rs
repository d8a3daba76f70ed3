//! Collects type, unit and help of the metric families of a push.

use std::collections::HashMap;

use auth::translation::NamingStrategy;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use schemas::rows::MetadataRow;

use super::resource::escapes;
use super::units::UnitWords;
use crate::outcome::cut;

/// One row per family, in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub(super) rows: Vec<MetadataRow>,
    by_family: HashMap<u32, usize>,
}

/// What every metadata row of a push has in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Common<'a> {
    pub(super) tenant: &'a str,
    pub(super) strategy: NamingStrategy,
    /// Longest help and unit, bytes.
    pub(super) longest: usize,
    /// Time of arrival, seconds since the epoch.
    pub(super) updated: u32,
}

impl Metadata {
    /// Sets the row of the family with this index and name; of conflicting metrics the last one wins.
    pub(super) fn set(
        &mut self,
        family: &super::rows::Family,
        metric: &Metric,
        kind: &str,
        common: &Common<'_>,
    ) {
        let words = UnitWords::of(&metric.unit);
        let words = if escapes(common.strategy) {
            words.escaped()
        } else {
            words
        };
        let row = MetadataRow {
            tenant: common.tenant.to_owned(),
            family: family.name.clone(),
            kind: kind.to_owned(),
            unit: cut(&words.joined(), common.longest),
            help: cut(&metric.description, common.longest),
            updated: common.updated,
        };
        match self.by_family.get(&family.index) {
            Some(at) => self.rows[*at] = row,
            None => {
                self.by_family.insert(family.index, self.rows.len());
                self.rows.push(row);
            }
        }
    }
}
