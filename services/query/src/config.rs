//! Settings of the query service, with their defaults.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytesize::ByteSize;
use serde::{Deserialize, Serialize};

/// How the query service listens and what one query may cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Address of the Prometheus HTTP API.
    pub listen: SocketAddr,
    /// How far an instant selector looks back where the request does not say.
    #[serde(with = "humantime_serde")]
    pub lookback: Duration,
    /// Longest that a query may take, waiting included; a request may ask for less.
    #[serde(with = "humantime_serde")]
    pub timeout: Duration,
    /// Most samples that a query may hold at one time, read or computed.
    pub max_samples: usize,
    /// Most series that one query may read.
    pub max_series: usize,
    /// Most selectors of one query that differ; each is looked up by a statement of its own.
    pub max_selectors: usize,
    /// Most points per series that a range query may ask for, less one.
    pub max_points: u32,
    /// Most bytes that one query may read from ClickHouse.
    pub max_bytes: ByteSize,
    /// How many queries run at once.
    pub concurrency: Concurrency,
    /// The memory of series and their labels.
    pub catalogue: Catalogue,
    /// How long queries in flight may take to finish when the service stops.
    #[serde(with = "humantime_serde")]
    pub shutdown_grace: Duration,
}

/// How many queries run at once, and how many may wait for their turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Concurrency {
    /// Queries of one tenant that run at once.
    pub per_tenant: usize,
    /// Queries of one tenant that may wait; one more is answered 429.
    pub per_tenant_queue: usize,
    /// Queries of all tenants that run at once.
    pub total: usize,
    /// Queries of all tenants that may wait; one more is answered 503.
    pub total_queue: usize,
}

/// How long and how much of the series catalogue is remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Catalogue {
    /// How long the labels of a metric are used before they are read again; a new series is visible
    /// after at most this long.
    #[serde(with = "humantime_serde")]
    pub ttl: Duration,
    /// Memory for all remembered labels.
    pub max_bytes: ByteSize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 9090)),
            lookback: Duration::from_secs(5 * 60),
            timeout: Duration::from_secs(2 * 60),
            max_samples: 50_000_000,
            max_series: 500_000,
            max_selectors: 500,
            max_points: 11_000,
            max_bytes: ByteSize::gib(4),
            concurrency: Concurrency::default(),
            catalogue: Catalogue::default(),
            shutdown_grace: Duration::from_secs(10),
        }
    }
}

impl Default for Concurrency {
    fn default() -> Self {
        Self {
            per_tenant: 20,
            per_tenant_queue: 200,
            total: 64,
            total_queue: 1000,
        }
    }
}

impl Default for Catalogue {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(1),
            max_bytes: ByteSize::mib(256),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_refused() {
        let text = serde_json::from_str::<Config>(r#"{"lokback":"5m"}"#)
            .unwrap_err()
            .to_string();
        assert!(text.contains("lokback"), "{text}");
    }

    #[test]
    fn durations_and_sizes_are_written_with_units() {
        let config: Config = serde_json::from_str(
            r#"{"lookback":"90s","max_bytes":"8 MiB","catalogue":{"ttl":"3s"},"concurrency":{"per_tenant":2}}"#,
        )
        .unwrap();
        assert_eq!(config.lookback, Duration::from_secs(90));
        assert_eq!(config.max_bytes, ByteSize::mib(8));
        assert_eq!(
            config.catalogue,
            Catalogue {
                ttl: Duration::from_secs(3),
                ..Catalogue::default()
            }
        );
        assert_eq!(config.concurrency.per_tenant, 2);
        assert_eq!(config.timeout, Config::default().timeout);
    }
}
