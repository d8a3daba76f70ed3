//! Turns attribute keys into label names, and the attributes of a point into its labels.

use std::borrow::Cow;

use auth::tenant::Limits;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use smallvec::SmallVec;

use super::Refusal;
use super::reject::Reason;
use super::text::label_value;
use crate::outcome::{cut, excerpt};

/// The label that holds the metric's name; no attribute may set it.
const METRIC_NAME: &str = "__name__";

/// One label of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) value: Cow<'a, str>,
}

/// A label that resource or scope gives to each of their points.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Given {
    pub(super) name: String,
    pub(super) value: String,
    /// Whether it replaces a point's own label of that name.
    pub(super) replaces: bool,
}

/// The label name of an attribute key, by the defaults of a Prometheus server: other characters to
/// `_`, runs kept, a leading `_` gets `key` before it and a leading digit `key_`. `None` when only
/// underscores are left. Without `escaping` keys stay as they are.
pub(super) fn label_name(key: &str, escaping: bool) -> Option<Cow<'_, str>> {
    if key.bytes().all(|byte| byte == b'_') && (!escaping || key != "_") {
        return None;
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !escaping || (key.bytes().all(plain) && prefix(key).is_empty()) {
        return Some(Cow::Borrowed(key));
    }
    let clean: String = key
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '_'
            }
        })
        .collect();
    let name = [prefix(&clean), &clean].concat();
    (!name.bytes().all(|byte| byte == b'_')).then_some(Cow::Owned(name))
}

fn prefix(name: &str) -> &'static str {
    match name.as_bytes() {
        [b'0'..=b'9', ..] => "key_",
        [b'_', b'_', ..] => "",
        [b'_', ..] => "key",
        _ => "",
    }
}

/// What the labels of every point of a push are made with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    pub(super) limits: &'a Limits,
    pub(super) escaping: bool,
}

/// Labels of one point; more of them than usual go to the heap.
pub(super) type Labels<'a> = SmallVec<[Label<'a>; 16]>;

/// The labels of one point, sorted by name, each name once, no value empty.
#[derive(Debug)]
pub(super) struct LabelSet<'a> {
    pub(super) labels: Labels<'a>,
    /// Values that were cut to the tenant's limit.
    pub(super) cut: u64,
}

/// Builds the labels of a point: its attributes, then what `resource` and then `scope` give it.
pub(super) fn label_set<'a>(
    attributes: &'a [KeyValue],
    resource: &'a [Given],
    scope: &'a [Given],
    rules: &Rules<'_>,
) -> Result<LabelSet<'a>, Refusal> {
    let mut labels = own_labels(attributes, rules)?;
    for given in resource.iter().chain(scope) {
        let place = labels.binary_search_by(|label| (*label.name).cmp(given.name.as_str()));
        match place {
            Ok(at) if given.replaces => labels[at].value = Cow::Borrowed(&given.value),
            Ok(_) => {}
            Err(at) => labels.insert(
                at,
                Label {
                    name: Cow::Borrowed(&given.name),
                    value: Cow::Borrowed(&given.value),
                },
            ),
        }
    }
    let cut = bounded(&mut labels, rules.limits)?;
    Ok(LabelSet { labels, cut })
}

/// The labels of the attributes alone.
fn own_labels<'a>(attributes: &'a [KeyValue], rules: &Rules<'_>) -> Result<Labels<'a>, Refusal> {
    let mut labels = named(attributes.iter(), rules)?;
    let increases = |labels: &[Label<'_>]| labels.is_sorted_by(|a, b| a.name < b.name);
    if !increases(&labels) {
        labels.sort_by(|a, b| a.name.cmp(&b.name));
        if !increases(&labels) {
            labels = joined(attributes, rules)?;
        }
    }
    labels.retain(|label| !label.value.is_empty());
    Ok(labels)
}

/// A label for each attribute that is one.
fn named<'a>(
    attributes: impl Iterator<Item = &'a KeyValue>,
    rules: &Rules<'_>,
) -> Result<Labels<'a>, Refusal> {
    let mut labels = Labels::new();
    for attribute in attributes {
        if attribute.key == METRIC_NAME {
            continue;
        }
        let Some(name) = label_name(&attribute.key, rules.escaping) else {
            return Err(Refusal::new(
                Reason::InvalidLabelName,
                format!(
                    "attribute key `{}` has no usable character",
                    excerpt(&attribute.key)
                ),
            ));
        };
        if name != METRIC_NAME {
            labels.push(Label {
                name,
                value: label_value(attribute.value.as_ref()),
            });
        }
    }
    Ok(labels)
}

/// The labels of attributes of which some become the same name: their values are joined with `;` in the
/// order of the keys.
fn joined<'a>(attributes: &'a [KeyValue], rules: &Rules<'_>) -> Result<Labels<'a>, Refusal> {
    let mut labels = named(in_key_order(attributes).into_iter(), rules)?;
    labels.sort_by(|a, b| a.name.cmp(&b.name));
    labels.dedup_by(|later, first| {
        let same = later.name == first.name;
        if same && first.value.is_empty() {
            first.value = std::mem::take(&mut later.value);
        } else if same {
            let joined = first.value.to_mut();
            joined.push(';');
            joined.push_str(&later.value);
        }
        same
    });
    Ok(labels)
}

/// The attributes by key; a key that comes twice (which OTLP forbids) by value as well, so that the
/// order in which a sender lists them never makes another series.
fn in_key_order(attributes: &[KeyValue]) -> Vec<&KeyValue> {
    let mut ordered: Vec<&KeyValue> = attributes.iter().collect();
    ordered.sort_by(|a, b| {
        a.key
            .cmp(&b.key)
            .then_with(|| label_value(a.value.as_ref()).cmp(&label_value(b.value.as_ref())))
    });
    ordered
}

/// Holds the labels against the tenant's limits; returns how many values were cut.
fn bounded(labels: &mut [Label<'_>], limits: &Limits) -> Result<u64, Refusal> {
    let most = limits.max_labels_per_series;
    if labels.len() > most {
        return Err(Refusal::new(
            Reason::TooManyLabels,
            format!("{} labels, limit {most}", labels.len()),
        ));
    }
    let mut cuts = 0;
    for label in labels {
        let longest = limits.max_label_name_length;
        if label.name.len() > longest {
            return Err(Refusal::new(
                Reason::LabelNameTooLong,
                format!(
                    "label `{}` has {} bytes, limit {longest}",
                    excerpt(&label.name),
                    label.name.len()
                ),
            ));
        }
        if label.value.len() > limits.max_label_value_length {
            label.value = Cow::Owned(cut(&label.value, limits.max_label_value_length));
            cuts += 1;
        }
    }
    Ok(cuts)
}
