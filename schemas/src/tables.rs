//! Table names, one constant each.

/// Float samples: gauges, sums, the parts of summaries.
pub const SAMPLES: &str = "samples";
/// Whole histogram points.
pub const HISTOGRAMS: &str = "histograms";
/// One row per series and day: labels, kind, bounds.
pub const SERIES: &str = "series";
/// Which values a label has, by metric and day (filled by a materialized view from [`SERIES`]).
pub const LABEL_VALUES: &str = "label_values";
/// Type, unit and help of a metric family.
pub const METADATA: &str = "metadata";
/// Which migrations have been applied.
pub const MIGRATIONS: &str = "schema_migrations";
