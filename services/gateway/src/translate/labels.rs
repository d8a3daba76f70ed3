//! Turns attribute keys into label names, and the attributes of a point into its labels.

use auth::tenant::Limits;
use bumpalo::Bump;
use smallvec::SmallVec;

use super::Refusal;
use super::reject::Reason;
use super::text::label_value;
use crate::decode::message::KeyValue;
use crate::outcome::{cut, excerpt};

/// The label that holds the metric's name; no attribute may set it.
const METRIC_NAME: &str = "__name__";

/// One label of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
}

/// A label that resource or scope gives to each of their points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Given<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
    /// Whether it replaces a point's own label of that name.
    pub(super) replaces: bool,
}

/// The label name of an attribute key, by the defaults of a Prometheus server: other characters to
/// `_`, runs kept, a leading `_` gets `key` before it and a leading digit `key_`. `None` when only
/// underscores are left. Without `escaping` keys stay as they are. A name that is not the key goes to `arena`.
pub(super) fn label_name<'a>(key: &'a str, escaping: bool, arena: &'a Bump) -> Option<&'a str> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    if matches!(key.as_bytes(), [first, rest @ ..]
        if first.is_ascii_alphabetic() && (!escaping || rest.iter().all(plain)))
    {
        return Some(key);
    }
    if key.bytes().all(|byte| byte == b'_') && (!escaping || key != "_") {
        return None;
    }
    if !escaping || (key.bytes().all(|byte| plain(&byte)) && prefix(key).is_empty()) {
        return Some(key);
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
    (!name.bytes().all(|byte| byte == b'_')).then(|| &*arena.alloc_str(&name))
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
    /// For text that is in neither the body nor the resource's labels.
    pub(super) arena: &'a Bump,
}

/// The labels of one point, sorted by name, each name once, no value empty; more of them than usual go to the heap.
pub(super) type Labels<'a> = SmallVec<[Label<'a>; 16]>;

/// Makes the labels of a point in `labels`, which are empty: its attributes, then what `resource` and then `scope`
/// give it. Answers how many values were cut to the tenant's limit.
pub(super) fn label_set<'a>(
    labels: &mut Labels<'a>,
    attributes: &[KeyValue<'a>],
    resource: &[Given<'a>],
    scope: &[Given<'a>],
    rules: &Rules<'a>,
) -> Result<u64, Refusal> {
    own_labels(labels, attributes, rules)?;
    for &Given {
        name,
        value,
        replaces,
    } in resource.iter().chain(scope)
    {
        match labels.binary_search_by(|label| label.name.cmp(name)) {
            Ok(at) if replaces => labels[at].value = value,
            Ok(_) => {}
            Err(at) => labels.insert(at, Label { name, value }),
        }
    }
    bounded(labels, rules)
}

/// The labels of the attributes alone.
fn own_labels<'a>(
    labels: &mut Labels<'a>,
    attributes: &[KeyValue<'a>],
    rules: &Rules<'a>,
) -> Result<(), Refusal> {
    let text = |attribute: &KeyValue<'a>| {
        let value = label_value(attribute.value, rules.arena);
        (attribute.key, value)
    };
    named(labels, attributes.iter().map(text), rules)?;
    let increases = |labels: &[Label<'_>]| labels.is_sorted_by(|a, b| a.name < b.name);
    if !increases(labels) {
        labels.sort_unstable_by(|a, b| a.name.cmp(b.name));
        if !increases(labels) {
            // The order in which a sender lists its attributes never makes another series, not even where a key
            // comes twice, which OTLP forbids.
            let mut ordered: Vec<_> = attributes.iter().map(text).collect();
            ordered.sort_unstable();
            labels.clear();
            named(labels, ordered.into_iter(), rules)?;
            join(labels, rules.arena);
        }
    }
    labels.retain(|label| !label.value.is_empty());
    Ok(())
}

/// A label for each attribute, given as key and text, that is one.
fn named<'a>(
    labels: &mut Labels<'a>,
    attributes: impl Iterator<Item = (&'a str, &'a str)>,
    rules: &Rules<'a>,
) -> Result<(), Refusal> {
    for (key, value) in attributes {
        if key == METRIC_NAME {
            continue;
        }
        let Some(name) = label_name(key, rules.escaping, rules.arena) else {
            return Err(Refusal::new(
                Reason::InvalidLabelName,
                format!("attribute key `{}` has no usable character", excerpt(key)),
            ));
        };
        if name != METRIC_NAME {
            labels.push(Label { name, value });
        }
    }
    Ok(())
}

/// Makes one label of those that have the same name: their values with `;` between, in the order of the keys.
fn join<'a>(labels: &mut Labels<'a>, arena: &'a Bump) {
    labels.sort_by(|a, b| a.name.cmp(b.name));
    let mut joined = Labels::new();
    for same in labels.chunk_by(|a, b| a.name == b.name) {
        let skipped = same.iter().take_while(|label| label.value.is_empty());
        let values: Vec<_> = same.iter().map(|label| label.value).collect();
        let value = match values.get(skipped.count()..) {
            None | Some([]) => "",
            Some([one]) => *one,
            Some(values) => arena.alloc_str(&values.join(";")),
        };
        joined.extend(same.first().map(|label| Label { value, ..*label }));
    }
    *labels = joined;
}

/// Holds the labels against the tenant's limits; returns how many values were cut.
fn bounded<'a>(labels: &mut [Label<'a>], rules: &Rules<'a>) -> Result<u64, Refusal> {
    let limits = rules.limits;
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
                    excerpt(label.name),
                    label.name.len()
                ),
            ));
        }
        if label.value.len() > limits.max_label_value_length {
            let short = cut(label.value, limits.max_label_value_length);
            label.value = rules.arena.alloc_str(&short);
            cuts += 1;
        }
    }
    Ok(cuts)
}
