//! Label pairs in, an ordered label set out: the identity of a series.

use std::sync::Arc;

use crate::number::quote;

/// The label that carries a metric's name.
pub const METRIC_NAME: &str = "__name__";

/// Whether the label describes the metric itself (name, type, unit) rather than one of its series.
pub(crate) fn is_metadata(name: &str) -> bool {
    matches!(name, METRIC_NAME | "__type__" | "__unit__")
}

/// A name and a value.
pub(crate) type Pair = (Arc<str>, Arc<str>);

/// A set of labels, sorted by name, without duplicates and without empty values (an empty value means
/// the label is absent, as everywhere in Prometheus). Cheap to clone. Ordering is Prometheus' own:
/// pair by pair, name before value, a prefix before what extends it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Labels(Arc<[Pair]>);

impl Labels {
    /// The set without labels.
    #[must_use]
    pub fn empty() -> Self {
        Self(Arc::from([]))
    }

    /// Sorts the pairs, drops empty values; of a repeated name the last one wins.
    #[must_use]
    pub fn from_pairs<N, V>(pairs: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<Arc<str>>,
        V: Into<Arc<str>>,
    {
        let mut pairs: Vec<Pair> = pairs
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        pairs.sort_by(|left, right| left.0.cmp(&right.0));
        // `dedup_by` keeps the first of a run, so the later value is moved forward before it goes.
        pairs.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        pairs.retain(|(_, value)| !value.is_empty());
        Self(pairs.into())
    }

    /// The value of `name`, or `""` where the label is absent.
    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        self.0
            .binary_search_by(|(key, _)| (**key).cmp(name))
            .map_or("", |at| &self.0[at].1)
    }

    /// The value of `__name__`, or `""`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.get(METRIC_NAME)
    }

    /// The pairs in order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Arc<str>)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// How many labels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no labels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The labels for which `keep` holds.
    #[must_use]
    pub fn filter(&self, mut keep: impl FnMut(&str) -> bool) -> Self {
        Self(
            self.0
                .iter()
                .filter(|(name, _)| keep(name))
                .cloned()
                .collect(),
        )
    }

    /// The labels without name, type and unit of the metric.
    #[must_use]
    pub(crate) fn without_metadata(&self) -> Self {
        if self.0.iter().any(|(name, _)| is_metadata(name)) {
            self.filter(|name| !is_metadata(name))
        } else {
            self.clone()
        }
    }

    /// The labels that two sides of a binary operator have to agree on: those named with `on`, else
    /// all but those named and the metric's name.
    #[must_use]
    pub(crate) fn matching(&self, on: bool, names: &[String]) -> Self {
        self.filter(|name| joins(on, names, name))
    }

    /// The hash that `limit_ratio` samples by: xxHash64 of names and values, each with its length
    /// in front, as Prometheus' servers store label sets.
    pub(crate) fn hash64(&self) -> u64 {
        let mut bytes = Vec::with_capacity(128);
        for (name, value) in self.iter() {
            for text in [name, value] {
                let [low, mid, high, ..] = text.len().to_le_bytes();
                if text.len() < 255 {
                    bytes.push(low);
                } else {
                    bytes.extend([255, low, mid, high]);
                }
                bytes.extend_from_slice(text.as_bytes());
            }
        }
        xxhash_rust::xxh64::xxh64(&bytes, 0)
    }

    /// The same labels with `name` set to `value` (removed where `value` is empty).
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut pairs: Vec<_> = self
            .0
            .iter()
            .filter(|(key, _)| &**key != name)
            .cloned()
            .collect();
        if !value.is_empty() {
            let at = pairs.partition_point(|(key, _)| **key < *name);
            pairs.insert(at, (name.into(), value.into()));
        }
        Self(pairs.into())
    }
}

impl Default for Labels {
    fn default() -> Self {
        Self::empty()
    }
}

/// Whether a label counts when two sides are matched.
pub(crate) fn joins(on: bool, names: &[String], name: &str) -> bool {
    let named = names.iter().any(|one| one == name);
    if on {
        named
    } else {
        !named && name != METRIC_NAME
    }
}

/// Prometheus' own rendering, as its error texts show it: `{__name__="name", a="b"}`.
impl std::fmt::Display for Labels {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("{")?;
        for (position, (name, value)) in self.iter().enumerate() {
            if position > 0 {
                out.write_str(", ")?;
            }
            if is_plain(name) {
                out.write_str(name)?;
            } else {
                out.write_str(&quote(name))?;
            }
            write!(out, "={}", quote(value))?;
        }
        out.write_str("}")
    }
}

/// Whether a label's name needs no quotes.
fn is_plain(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_repeated_name_wins_and_empty_values_vanish() {
        let labels =
            Labels::from_pairs([("b", "1"), ("a", "x"), ("b", "2"), ("c", "1"), ("c", "")]);
        assert_eq!(labels, Labels::from_pairs([("a", "x"), ("b", "2")]));
        assert_eq!(labels.get("c"), "");
    }

    #[test]
    fn with_replaces_inserts_in_order_and_removes() {
        let labels = Labels::from_pairs([("a", "1"), ("c", "3")]);
        assert_eq!(
            labels.with("b", "2"),
            Labels::from_pairs([("a", "1"), ("b", "2"), ("c", "3")])
        );
        assert_eq!(labels.with("a", ""), Labels::from_pairs([("c", "3")]));
    }

    #[test]
    fn display_quotes_values_and_unusual_names() {
        let labels = Labels::from_pairs([("__name__", "m"), ("a.b", "x\"y")]);
        assert_eq!(labels.to_string(), r#"{__name__="m", "a.b"="x\"y"}"#);
    }

    #[test]
    fn matching_labels_never_include_the_name_unless_asked() {
        let labels = Labels::from_pairs([("__name__", "m"), ("a", "1"), ("b", "2")]);
        assert_eq!(
            labels.matching(false, &["a".into()]),
            Labels::from_pairs([("b", "2")])
        );
        assert_eq!(
            labels.matching(true, &["a".into()]),
            Labels::from_pairs([("a", "1")])
        );
    }

    #[test]
    fn the_sampling_hash_is_that_of_prometheus_encoding() {
        // Length 1 "a", length 1 "b": the four bytes 01 61 01 62.
        let labels = Labels::from_pairs([("a", "b")]);
        assert_eq!(
            labels.hash64(),
            xxhash_rust::xxh64::xxh64(&[1, b'a', 1, b'b'], 0)
        );
    }
}
