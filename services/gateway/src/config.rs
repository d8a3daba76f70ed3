//! The gateway's settings and their defaults.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use auth::extract::HeaderNames;
use bytesize::ByteSize;
use serde::{Deserialize, Serialize};

use crate::spool;

/// Settings of section `gateway`. Every bound of the gateway that is not a tenant's own is here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Address of OTLP/HTTP.
    pub listen: SocketAddr,
    /// Largest body as sent, before decompression; a larger one is answered 413.
    pub max_wire_bytes: ByteSize,
    /// How long a body may take to arrive; a slower one is answered 408.
    #[serde(with = "humantime_serde")]
    pub body_timeout: Duration,
    /// How many requests and bytes may be in work; one more is answered 503 or 429.
    pub in_flight: InFlight,
    /// What was accepted and is not in ClickHouse yet.
    pub spool: spool::Config,
    /// How long the INSERTs of one segment may take; they are made again after that.
    #[serde(with = "humantime_serde")]
    pub insert_timeout: Duration,
    /// How many series and days are remembered as stored; a forgotten one is stored again.
    pub known_series: u64,
    /// How long pushes in work may take to finish when the gateway stops.
    #[serde(with = "humantime_serde")]
    pub shutdown_grace: Duration,
    /// Headers that are read for credentials.
    pub credentials: HeaderNames,
    /// Origins whose pages may push; `*` is any.
    pub cors_origins: Vec<String>,
}

/// Bounds on work at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InFlight {
    /// Requests of all tenants; one more is answered 503.
    pub requests: usize,
    /// Bytes of decompressed bodies of all tenants; more are answered 503.
    pub bytes: ByteSize,
    /// Requests of one tenant; one more is answered 429.
    pub tenant_requests: usize,
    /// Bytes of decompressed bodies of one tenant; more are answered 429.
    pub tenant_bytes: ByteSize,
}

/// A setting with which the gateway would not work.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("configuration key gateway.{key}: {what}")]
pub struct Unusable {
    key: &'static str,
    what: String,
}

impl Config {
    /// Looks for settings that can be read and cannot work.
    ///
    /// # Errors
    /// [`Unusable`] naming the first of them and what to write instead.
    pub fn check(&self) -> Result<(), Unusable> {
        let in_flight = &self.in_flight;
        for (key, nothing) in [
            ("max_wire_bytes", self.max_wire_bytes.as_u64() == 0),
            ("body_timeout", self.body_timeout.is_zero()),
            ("insert_timeout", self.insert_timeout.is_zero()),
            ("in_flight.requests", in_flight.requests == 0),
            ("in_flight.bytes", in_flight.bytes.as_u64() == 0),
            ("in_flight.tenant_requests", in_flight.tenant_requests == 0),
            (
                "in_flight.tenant_bytes",
                in_flight.tenant_bytes.as_u64() == 0,
            ),
        ] {
            if nothing {
                let what = "0 would refuse every push; write more".to_owned();
                return Err(Unusable { key, what });
            }
        }
        if let Err((key, what)) = self.spool.check() {
            return Err(Unusable {
                key: "spool",
                what: format!("{key}: {what}"),
            });
        }
        if let Some(name) = self.credentials.impossible() {
            let what = format!("{name:?} is no name of a header; write letters, digits and `-`");
            let key = "credentials";
            return Err(Unusable { key, what });
        }
        let strange = |origin: &&String| *origin != "*" && !origin.contains("://");
        if let Some(origin) = self.cors_origins.iter().find(strange) {
            let what =
                format!("{origin:?} is no origin; write \"*\" or one like \"https://example.com\"");
            let key = "cors_origins";
            return Err(Unusable { key, what });
        }
        Ok(())
    }
}

impl Default for InFlight {
    fn default() -> Self {
        Self {
            requests: 1024,
            bytes: ByteSize::mib(512),
            tenant_requests: 512,
            tenant_bytes: ByteSize::mib(128),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 4318)),
            max_wire_bytes: ByteSize::mib(64),
            body_timeout: Duration::from_secs(30),
            in_flight: InFlight::default(),
            spool: spool::Config::default(),
            insert_timeout: Duration::from_secs(60),
            known_series: 2_000_000,
            shutdown_grace: Duration::from_secs(25),
            credentials: HeaderNames::default(),
            cors_origins: vec!["*".to_owned()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_work_are_named_with_what_to_write() {
        assert_eq!(Config::default().check(), Ok(()));
        for (text, told) in [
            (
                r#"{"max_wire_bytes":0}"#,
                "configuration key gateway.max_wire_bytes: 0 would refuse every push",
            ),
            (r#"{"body_timeout":"0s"}"#, "gateway.body_timeout: 0 would"),
            (
                r#"{"in_flight":{"requests":0}}"#,
                "gateway.in_flight.requests: 0",
            ),
            (
                r#"{"credentials":{"key":["api key"]}}"#,
                "gateway.credentials: \"api key\" is no name of a header",
            ),
            (
                r#"{"cors_origins":["example.com"]}"#,
                "gateway.cors_origins: \"example.com\" is no origin",
            ),
        ] {
            let config: Config = serde_json::from_str(text).unwrap();
            let fault = config.check().unwrap_err().to_string();
            assert!(fault.contains(told), "{fault}");
        }
    }

    #[test]
    fn settings_read_back_as_written_and_unknown_ones_are_refused() {
        let text = serde_json::to_string(&Config::default()).unwrap();
        assert_eq!(
            serde_json::from_str::<Config>(&text).unwrap(),
            Config::default()
        );
        let own: Config = serde_json::from_str(
            r#"{"max_wire_bytes":"1 MiB","body_timeout":"5s","in_flight":{"requests":7}}"#,
        )
        .unwrap();
        assert_eq!(own.max_wire_bytes, ByteSize::mib(1));
        assert_eq!(own.body_timeout, Duration::from_secs(5));
        assert_eq!(
            (own.in_flight.requests, own.in_flight.tenant_requests),
            (7, 512)
        );
        assert!(serde_json::from_str::<Config>(r#"{"max_bytes":1}"#).is_err());
    }
}
