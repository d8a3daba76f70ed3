//! Turns a resource and a scope into the labels that they give to each of their points.

use auth::translation::{NamingStrategy, Translation};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::{ResourceMetrics, ScopeMetrics};

use super::labels::{Given, label_name};
use super::text::label_value;

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
pub(super) fn resource_labels(metrics: &ResourceMetrics, translation: &Translation) -> Vec<Given> {
    let attributes = metrics
        .resource
        .as_ref()
        .map_or(&[][..], |resource| &resource.attributes);
    let mut labels = identity(attributes, translation);
    let escaping = escapes(translation.strategy);
    let mut promoted: Vec<&KeyValue> = attributes
        .iter()
        .filter(|attribute| is_promoted(&attribute.key, &translation.promote))
        .collect();
    promoted.sort_by(|a, b| a.key.cmp(&b.key));
    for attribute in promoted {
        // A key that cannot be a label is left on the resource: it is nobody's point that is at fault.
        let Some(name) = label_name(&attribute.key, escaping) else {
            continue;
        };
        let value = label_value(attribute.value.as_ref());
        if name == "__name__" || value.is_empty() || labels.iter().any(|label| label.name == *name)
        {
            continue;
        }
        labels.push(Given {
            name: name.into_owned(),
            value: value.into_owned(),
            replaces: false,
        });
    }
    labels.sort_by(|a, b| a.name.cmp(&b.name));
    labels
}

/// `job` from `service.namespace/service.name`, `instance` from `service.instance.id`: these replace
/// a point's own labels, since they are what keeps two senders apart.
pub(super) fn identity(attributes: &[KeyValue], translation: &Translation) -> Vec<Given> {
    let value = |key: &str| {
        let attribute = attributes
            .iter()
            .rev()
            .find(|attribute| attribute.key == key);
        attribute
            .map(|attribute| label_value(attribute.value.as_ref()))
            .unwrap_or_default()
    };
    let (namespace, name, instance) = (
        value("service.namespace"),
        value("service.name"),
        value("service.instance.id"),
    );
    let mut labels = Vec::new();
    if !name.is_empty() {
        let job = if namespace.is_empty() {
            name.into_owned()
        } else {
            format!("{namespace}/{name}")
        };
        labels.push(Given {
            name: "job".to_owned(),
            value: job,
            replaces: true,
        });
    }
    if !instance.is_empty() {
        labels.push(Given {
            name: "instance".to_owned(),
            value: instance.into_owned(),
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
pub(super) fn scope_labels(metrics: &ScopeMetrics, translation: &Translation) -> Vec<Given> {
    let Some(scope) = metrics
        .scope
        .as_ref()
        .filter(|scope| !scope.name.is_empty())
    else {
        return Vec::new();
    };
    let escaping = escapes(translation.strategy);
    let mut labels: Vec<Given> = Vec::new();
    let mut give = |name: String, value: String| {
        if !value.is_empty() {
            labels.retain(|label| label.name != name);
            labels.push(Given {
                name,
                value,
                replaces: true,
            });
        }
    };
    let mut attributes: Vec<&KeyValue> = scope.attributes.iter().collect();
    attributes.sort_by(|a, b| a.key.cmp(&b.key));
    for attribute in attributes {
        let key = format!("otel_scope_{}", attribute.key);
        if let Some(name) = label_name(&key, escaping) {
            give(
                name.into_owned(),
                label_value(attribute.value.as_ref()).into_owned(),
            );
        }
    }
    give("otel_scope_name".to_owned(), scope.name.clone());
    give("otel_scope_version".to_owned(), scope.version.clone());
    give(
        "otel_scope_schema_url".to_owned(),
        metrics.schema_url.clone(),
    );
    labels.sort_by(|a, b| a.name.cmp(&b.name));
    labels
}
