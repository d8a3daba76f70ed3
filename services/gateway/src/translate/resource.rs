//! Turns a resource and a scope into the labels that they give to each of their points.

use auth::translation::{NamingStrategy, Translation};
use bumpalo::Bump;

use super::labels::{Given, label_name};
use super::text::label_value;
use crate::decode::message::{KeyValue, ScopeMetrics};

/// In a promotion list: every resource attribute but the volatile ones.
const ALL: &str = "*";

/// Resource attributes that `*` leaves out, because they change with each process or machine and
/// would start new series without telling them apart usefully. A key that ends in `.` stands for
/// everything below it. Naming one in the list promotes it all the same.
const VOLATILE: &[&str] = &["process.", "telemetry.", "os.", "host.ip", "host.mac"];

/// Whether names and keys are reduced to the characters of classic Prometheus names.
pub(super) fn escapes(strategy: NamingStrategy) -> bool {
    matches!(
        strategy,
        NamingStrategy::UnderscoreEscapingWithSuffixes
            | NamingStrategy::UnderscoreEscapingWithoutSuffixes
    )
}

/// `job`, `instance` and the promoted attributes of a resource, sorted by name.
pub(super) fn resource_labels<'a>(
    attributes: &[KeyValue<'a>],
    translation: &Translation,
    arena: &'a Bump,
) -> Vec<Given<'a>> {
    let mut labels = identity(attributes, translation, arena);
    let escaping = escapes(translation.strategy);
    let mut promoted: Vec<&KeyValue<'a>> = attributes
        .iter()
        .filter(|attribute| is_promoted(attribute.key, &translation.promote))
        .collect();
    promoted.sort_by(|a, b| a.key.cmp(b.key));
    for attribute in promoted {
        // A key that cannot be a label is left on the resource: it is nobody's point that is at fault.
        let Some(name) = label_name(attribute.key, escaping, arena) else {
            continue;
        };
        let value = label_value(attribute.value, arena);
        if name == "__name__" || value.is_empty() || labels.iter().any(|label| label.name == name) {
            continue;
        }
        labels.push(Given {
            name,
            value,
            replaces: false,
        });
    }
    labels.sort_by(|a, b| a.name.cmp(b.name));
    labels
}

/// `job` from `service.namespace/service.name`, `instance` from `service.instance.id`: these replace
/// a point's own labels, since they are what keeps two senders apart.
pub(super) fn identity<'a>(
    attributes: &[KeyValue<'a>],
    translation: &Translation,
    arena: &'a Bump,
) -> Vec<Given<'a>> {
    let value = |key: &str| {
        let mut attributes = attributes.iter().rev();
        let attribute = attributes.find(|attribute| attribute.key == key);
        label_value(attribute.and_then(|attribute| attribute.value), arena)
    };
    let (namespace, name, instance) = (
        value("service.namespace"),
        value("service.name"),
        value("service.instance.id"),
    );
    let mut labels = Vec::new();
    if !name.is_empty() {
        let job = if namespace.is_empty() {
            name
        } else {
            arena.alloc_str(&format!("{namespace}/{name}"))
        };
        labels.push(Given {
            name: "job",
            value: job,
            replaces: true,
        });
    }
    if !instance.is_empty() {
        labels.push(Given {
            name: "instance",
            value: instance,
            replaces: !translation.keep_point_instance,
        });
    }
    labels
}

fn is_promoted(key: &str, list: &[String]) -> bool {
    list.iter().any(|entry| entry == key)
        || (list.iter().any(|entry| entry == ALL) && !is_volatile(key))
}

fn is_volatile(key: &str) -> bool {
    VOLATILE.iter().any(|entry| {
        if entry.ends_with('.') {
            key.starts_with(entry)
        } else {
            key == *entry
        }
    })
}

/// The `otel_scope_*` labels of a scope; none when it has no name.
pub(super) fn scope_labels<'a>(
    metrics: &ScopeMetrics<'a>,
    translation: &Translation,
    arena: &'a Bump,
) -> Vec<Given<'a>> {
    let scope = &metrics.scope;
    if scope.name.is_empty() {
        return Vec::new();
    }
    let escaping = escapes(translation.strategy);
    let mut labels: Vec<Given<'a>> = Vec::new();
    let mut give = |name: &'a str, value: &'a str| {
        if !value.is_empty() {
            labels.retain(|label| label.name != name);
            labels.push(Given {
                name,
                value,
                replaces: true,
            });
        }
    };
    let mut attributes: Vec<&KeyValue<'a>> = scope.attributes.iter().collect();
    attributes.sort_by(|a, b| a.key.cmp(b.key));
    for attribute in attributes {
        let key = arena.alloc_str(&format!("otel_scope_{}", attribute.key));
        if let Some(name) = label_name(key, escaping, arena) {
            give(name, label_value(attribute.value, arena));
        }
    }
    give("otel_scope_name", scope.name);
    give("otel_scope_version", scope.version);
    give("otel_scope_schema_url", metrics.schema_url);
    labels.sort_by(|a, b| a.name.cmp(b.name));
    labels
}
