//! Labels in, which of them belong together out.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::eval::grid::Column;
use crate::labels::{Labels, METRIC_NAME};
use crate::select::node::AggregateNode;

/// A numbering of groups in order of their first member.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// The group of each member.
    pub(crate) of: Vec<usize>,
    /// The labels of each group.
    pub(crate) labels: Vec<Labels>,
}

impl Groups {
    /// Members whose labels are equal as far as `keep` says.
    pub(crate) fn new<'l>(
        members: impl Iterator<Item = &'l Labels>,
        keep: impl Fn(&str) -> bool,
    ) -> Self {
        let mut groups = Self::default();
        let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
        for labels in members {
            let kept = || labels.iter().filter(|(name, _)| keep(name));
            let mut hasher = DefaultHasher::new();
            kept().for_each(|pair| pair.hash(&mut hasher));
            let candidates = by_hash.entry(hasher.finish()).or_default();
            let known = candidates
                .iter()
                .find(|group| groups.labels[**group].iter().eq(kept()))
                .copied();
            let group = known.unwrap_or_else(|| {
                groups.labels.push(labels.filter(&keep));
                candidates.push(groups.labels.len() - 1);
                groups.labels.len() - 1
            });
            groups.of.push(group);
        }
        groups
    }

    /// The groups of an aggregation.
    pub(crate) fn of_aggregate(columns: &[Column], node: &AggregateNode) -> Self {
        let named = |name: &str| node.labels.iter().any(|label| label == name);
        let labels = columns.iter().map(|column| &column.labels);
        if node.without {
            Self::new(labels, |name| !named(name) && name != METRIC_NAME)
        } else {
            Self::new(labels, named)
        }
    }

    /// The members of each group.
    pub(crate) fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.labels.len()];
        for (member, group) in self.of.iter().enumerate() {
            members[*group].push(member);
        }
        members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_numbered_by_their_first_member() {
        let labels: Vec<Labels> = [("b", "1"), ("a", "2"), ("b", "1"), ("c", "")]
            .map(|pair| Labels::from_pairs([pair]))
            .into();
        let groups = Groups::new(labels.iter(), |name| name == "b");
        assert_eq!(groups.of, [0, 1, 0, 1]);
        assert_eq!(
            groups.labels,
            [Labels::from_pairs([("b", "1")]), Labels::empty()]
        );
        assert_eq!(groups.members(), [[0, 2], [1, 3]]);
    }
}
