//! How a key's metrics get their Prometheus names and labels: provider profile, naming strategy,
//! promoted resource attributes.

use serde::{Deserialize, Serialize};

/// Where a key's data comes from; chooses defaults for everything else here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Cerebrium's metrics export.
    Cerebrium,
    /// Crusoe's managed forwarder or watch agent.
    Crusoe,
    /// Modal's OpenTelemetry integration.
    Modal,
    /// Cog's runtime metrics (Replicate).
    Cog,
    /// An SDK inside a Baseten model.
    Baseten,
    /// An OpenTelemetry Collector.
    OtelCollector,
    /// An OpenTelemetry SDK anywhere else.
    OtelSdk,
    /// Nothing is known.
    #[default]
    Generic,
}

/// The four naming strategies of Prometheus' `otlp.translation_strategy`, by the same names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NamingStrategy {
    /// Underscores for other characters; unit and type suffixes.
    #[default]
    UnderscoreEscapingWithSuffixes,
    /// Underscores for other characters; nothing appended.
    UnderscoreEscapingWithoutSuffixes,
    /// Names byte for byte; unit and type suffixes.
    #[serde(rename = "NoUTF8EscapingWithSuffixes")]
    NoUtf8EscapingWithSuffixes,
    /// Names byte for byte.
    NoTranslation,
}

/// What `translate` needs to know about the key that pushed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches that people set by name"
)]
pub struct Translation {
    /// How names are made.
    pub strategy: NamingStrategy,
    /// Whether gauges with unit `1` get `_ratio` (only strategies with suffixes).
    pub add_ratio: bool,
    /// Resource attributes that become labels; `*` means all but the volatile ones.
    pub promote: Vec<String>,
    /// Whether every series carries `otel_scope_*` labels; otherwise only where two scopes of one push
    /// would collide.
    pub scope_labels: bool,
    /// Whether a data point's own `instance` label wins over `service.instance.id`.
    pub keep_point_instance: bool,
    /// Whether DCGM's blank values (2^63 in metrics named `DCGM_…`) are left out.
    pub drop_dcgm_blanks: bool,
}

/// Resource attributes promoted when a key does not say otherwise.
pub const DEFAULT_PROMOTE: &[&str] = &[
    "project_id",
    "app_id",
    "app_name",
    "region",
    "BT_MODEL_ID",
    "BT_MODEL_DEPLOYMENT_ID",
    "cog.process.role",
    "crusoe_org_id",
    "crusoe_project_id",
    "crusoe_vm_id",
    "crusoe_vm_name",
    "crusoe_cluster_id",
    "deployment.environment.name",
    "k8s.cluster.name",
    "k8s.namespace.name",
];

impl Translation {
    /// The defaults of a profile.
    #[must_use]
    pub fn of(profile: Profile) -> Self {
        let mut translation = Self {
            strategy: NamingStrategy::UnderscoreEscapingWithSuffixes,
            add_ratio: true,
            promote: DEFAULT_PROMOTE.iter().map(ToString::to_string).collect(),
            scope_labels: false,
            keep_point_instance: false,
            drop_dcgm_blanks: false,
        };
        match profile {
            Profile::Cerebrium => translation.add_ratio = false,
            Profile::Crusoe => {
                translation.strategy = NamingStrategy::UnderscoreEscapingWithoutSuffixes;
                translation.keep_point_instance = true;
                translation.drop_dcgm_blanks = true;
            }
            Profile::Modal
            | Profile::Cog
            | Profile::Baseten
            | Profile::OtelCollector
            | Profile::OtelSdk
            | Profile::Generic => {}
        }
        translation
    }
}

impl Default for Translation {
    fn default() -> Self {
        Self::of(Profile::Generic)
    }
}
