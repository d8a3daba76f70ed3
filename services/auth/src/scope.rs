//! What a key may do: single permissions, and roles that bundle them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::key::KeyClass;

/// A permission, or a role that stands for several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// Push metrics. Grafana's name for the same is accepted.
    #[serde(rename = "metrics:write", alias = "MetricsPublisher")]
    MetricsWrite,
    /// Push logs.
    #[serde(rename = "logs:write")]
    LogsWrite,
    /// Query metrics.
    #[serde(rename = "metrics:read")]
    MetricsRead,
    /// Query logs.
    #[serde(rename = "logs:read")]
    LogsRead,
    /// See how much was used.
    #[serde(rename = "usage:read")]
    UsageRead,
    /// See keys, without secrets.
    #[serde(rename = "keys:read")]
    KeysRead,
    /// Make, change and revoke keys.
    #[serde(rename = "keys:write")]
    KeysWrite,
    /// See limits.
    #[serde(rename = "limits:read")]
    LimitsRead,
    /// Change plan limits.
    #[serde(rename = "limits:write")]
    LimitsWrite,
    /// Make, change and suspend tenants.
    #[serde(rename = "tenants:write")]
    TenantsWrite,
    /// See who changed what.
    #[serde(rename = "audit:read")]
    AuditRead,
    /// Role: push metrics and logs.
    #[serde(rename = "ingest")]
    Ingest,
    /// Role: query metrics and logs, see usage.
    #[serde(rename = "query")]
    Query,
    /// Role: everything inside one tenant.
    #[serde(rename = "tenant-admin")]
    TenantAdmin,
    /// Role: everything, in every tenant.
    #[serde(rename = "operator")]
    Operator,
}

impl Scope {
    /// The name in requests and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MetricsWrite => "metrics:write",
            Self::LogsWrite => "logs:write",
            Self::MetricsRead => "metrics:read",
            Self::LogsRead => "logs:read",
            Self::UsageRead => "usage:read",
            Self::KeysRead => "keys:read",
            Self::KeysWrite => "keys:write",
            Self::LimitsRead => "limits:read",
            Self::LimitsWrite => "limits:write",
            Self::TenantsWrite => "tenants:write",
            Self::AuditRead => "audit:read",
            Self::Ingest => "ingest",
            Self::Query => "query",
            Self::TenantAdmin => "tenant-admin",
            Self::Operator => "operator",
        }
    }

    /// Whether a holder of `self` holds `wanted` too, and so may grant it.
    #[must_use]
    pub fn covers(self, wanted: Self) -> bool {
        if self == wanted {
            return true;
        }
        match self {
            Self::Ingest => matches!(wanted, Self::MetricsWrite | Self::LogsWrite),
            Self::Query => matches!(wanted, Self::MetricsRead | Self::LogsRead | Self::UsageRead),
            Self::TenantAdmin => !matches!(
                wanted,
                Self::LimitsWrite | Self::TenantsWrite | Self::Operator
            ),
            Self::Operator => true,
            _ => false,
        }
    }

    /// Whether keys of `class` are for this permission. An admin key can grant everything that it holds,
    /// but data is pushed and read with keys made for that: an admin key in a third party's form is a
    /// mistake that should show.
    #[must_use]
    pub const fn is_for(self, class: KeyClass) -> bool {
        match self {
            Self::MetricsWrite | Self::LogsWrite | Self::Ingest => {
                matches!(class, KeyClass::Ingest)
            }
            Self::MetricsRead | Self::LogsRead | Self::Query => matches!(class, KeyClass::Query),
            Self::UsageRead => matches!(class, KeyClass::Query | KeyClass::Admin),
            Self::KeysRead
            | Self::KeysWrite
            | Self::LimitsRead
            | Self::LimitsWrite
            | Self::TenantsWrite
            | Self::AuditRead
            | Self::TenantAdmin
            | Self::Operator => matches!(class, KeyClass::Admin),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_cover_what_they_bundle_and_nothing_else() {
        assert!(Scope::Ingest.covers(Scope::LogsWrite));
        assert!(!Scope::Ingest.covers(Scope::MetricsRead));
        assert!(Scope::Query.covers(Scope::UsageRead));
        assert!(!Scope::Query.covers(Scope::KeysRead));
        assert!(Scope::TenantAdmin.covers(Scope::Ingest));
        assert!(!Scope::TenantAdmin.covers(Scope::LimitsWrite));
        assert!(!Scope::TenantAdmin.covers(Scope::Operator));
        assert!(Scope::Operator.covers(Scope::TenantsWrite));
        assert!(!Scope::MetricsWrite.covers(Scope::Ingest));
    }

    #[test]
    fn names_are_the_serialized_names_and_the_alias_is_read() {
        for scope in [Scope::MetricsWrite, Scope::TenantAdmin, Scope::AuditRead] {
            assert_eq!(
                serde_json::to_value(scope).unwrap(),
                serde_json::json!(scope.as_str())
            );
        }
        let alias: Scope = serde_json::from_str("\"MetricsPublisher\"").unwrap();
        assert_eq!(alias, Scope::MetricsWrite);
        assert!(serde_json::from_str::<Scope>("\"metrics:delete\"").is_err());
    }
}
