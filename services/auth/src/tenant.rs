//! Who owns data: tenants, their limits, and the permission to name one in a query.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A tenant's stable id, as stored in every row (`ten_…`; the demo tenant is `demo`).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TenantId(Arc<str>);

impl TenantId {
    /// Takes an id from the directory as it is.
    #[must_use]
    pub fn new(id: &str) -> Self {
        Self(id.into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TenantId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", &*self.0)
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A tenant as the directory knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tenant {
    /// Stable id.
    pub id: TenantId,
    /// Name that people write in headers and URLs; equal to the id or an alias of it.
    pub slug: String,
    /// Plan name: `standard` or `unlimited` until control offers more.
    pub plan: String,
    /// A suspended tenant's keys are known but refused with 403.
    #[serde(default)]
    pub suspended: bool,
    /// Bounds on what it may push and ask.
    #[serde(default)]
    pub limits: Limits,
}

impl Tenant {
    /// Whether `name`, as written by a client, means this tenant.
    #[must_use]
    pub fn answers_to(&self, name: &str) -> bool {
        self.id.as_str() == name || self.slug == name
    }
}

/// The bounds that hold for one tenant, already merged from defaults and plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Largest push after decompression, bytes.
    pub max_request_bytes: u64,
    /// Most data points in one push.
    pub max_items_per_request: u64,
    /// Most labels on one series.
    pub max_labels_per_series: usize,
    /// Longest label or metric name, bytes.
    pub max_label_name_length: usize,
    /// Longest label value, bytes; longer ones are cut.
    pub max_label_value_length: usize,
    /// How far in the future a point may lie.
    #[serde(with = "seconds")]
    pub max_future: Duration,
    /// How far in the past a point may lie.
    #[serde(with = "seconds")]
    pub max_past: Duration,
    /// Days that data is kept.
    pub retention_days: u16,
    /// Whether lists of labels and series, and selectors without an exact metric name, show histograms in
    /// both views: `X_bucket`, `X_count`, `X_sum` and the native `X`.
    pub list_both_histogram_views: bool,
}

/// Durations as whole seconds, the way the directory stores them.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Duration, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_u64(value.as_secs())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
        u64::deserialize(input).map(Duration::from_secs)
    }
}

/// Longest retention, days. Rows go when their time plus their retention is past, a `DateTime` that ends
/// in the year 2106: a longer retention would wrap round and drop rows at once.
pub const MAX_RETENTION_DAYS: u16 = 20_000;

impl Limits {
    /// Whether these limits can hold.
    ///
    /// # Errors
    /// A sentence that names the field and its bound.
    pub fn check(&self) -> Result<(), String> {
        if self.retention_days == 0 || self.retention_days > MAX_RETENTION_DAYS {
            return Err(format!(
                "retention_days is {}, but must be from 1 to {MAX_RETENTION_DAYS}",
                self.retention_days
            ));
        }
        Ok(())
    }

    /// Limits of plan `standard`.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            max_request_bytes: 16 << 20,
            max_items_per_request: 100_000,
            max_labels_per_series: 40,
            max_label_name_length: 1024,
            max_label_value_length: 2048,
            max_future: Duration::from_secs(10 * 60),
            max_past: Duration::from_secs(7 * 24 * 3600),
            retention_days: 30,
            list_both_histogram_views: false,
        }
    }

    /// Limits of plan `unlimited`: room for any honest push, still bounded.
    #[must_use]
    pub fn unlimited() -> Self {
        Self {
            max_request_bytes: 64 << 20,
            max_items_per_request: 1_000_000,
            ..Self::standard()
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::standard()
    }
}

/// Permission to name one tenant in SQL. Only an authenticated request yields one, so a query on data
/// cannot be written without saying whose data it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantScope(TenantId);

impl TenantScope {
    /// Made by `crate::principal::Principal::scope` only.
    pub(crate) fn new(tenant: TenantId) -> Self {
        Self(tenant)
    }

    /// The tenant whose rows may be read.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.0
    }
}
