//! Defaults, file, environment and flags → the settings of every role, with ports and paths resolved.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::bootstrap::Urls;
use crate::cli::ServiceArgs;
use crate::exit::{Exit, Failure};

/// The reference file, compiled in.
const DEFAULTS: &str = include_str!("../../../deploy/config/sluice.toml");

/// `clickhouse.url` as the reference file gives it.
const DEFAULT_CLICKHOUSE: &str = "http://127.0.0.1:8123/";

/// Ports of roles that this version reserves and later versions open.
const OTLP_GRPC_PORT: u16 = 4317;
const CONTROL_PORT: u16 = 8080;

/// Every setting of the process.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Folder for everything durable on this machine.
    pub(crate) data_dir: PathBuf,
    /// Added to every port.
    pub(crate) port_offset: u16,
    /// Log form and filter.
    pub(crate) log: runtime::logging::Config,
    /// Admin port.
    pub(crate) admin: runtime::admin::Config,
    /// Where ClickHouse is.
    pub(crate) clickhouse: schemas::connect::Config,
    /// What `up` runs besides gateway and query.
    pub(crate) up: Up,
    /// The engine that `up` and `clickhouse` run.
    pub(crate) embedded: embedded::Config,
    /// Where keys are looked up.
    pub(crate) auth: Auth,
    /// The gateway.
    pub(crate) gateway: gateway::Config,
    /// The query service.
    pub(crate) query: query::Config,
}

/// `[up]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Up {
    /// Whether `sluice up` runs ClickHouse itself; otherwise it uses the server at `clickhouse.url`.
    pub(crate) embedded_clickhouse: bool,
}

/// `[auth]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Auth {
    /// File of tenants and keys; empty: `directory.json` in the data folder.
    pub(crate) directory: PathBuf,
}

/// Flags that override settings; only those given are merged.
#[derive(Serialize)]
struct Flags<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    data_dir: Option<&'a PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    port_offset: Option<u16>,
}

impl Config {
    /// Loads the settings and moves every port by the offset.
    ///
    /// # Errors
    /// A [`Failure`] with [`Exit::Config`] whose text names key and source.
    pub(crate) fn load(args: &ServiceArgs) -> Result<Self, Failure> {
        let flags = Flags {
            data_dir: args.data_dir.as_ref(),
            port_offset: args.port_offset,
        };
        let mut config: Self = runtime::config::load(DEFAULTS, args.config.as_deref(), flags)
            .map_err(|error| Failure::new(Exit::Config, error))?;
        config
            .move_ports()
            .map_err(|error| Failure::new(Exit::Config, error))?;
        let gateway = config.gateway.check();
        gateway.map_err(|error| Failure::new(Exit::Config, error))?;
        if config.embedded.data_dir.as_os_str().is_empty() {
            config.embedded.data_dir = config.data_dir.join("clickhouse");
        }
        if config.gateway.spool.dir.as_os_str().is_empty() {
            config.gateway.spool.dir = config.data_dir.join("spool");
        }
        if config.auth.directory.as_os_str().is_empty() {
            config.auth.directory = config.data_dir.join("directory.json");
        }
        Ok(config)
    }

    /// The file that tells a person about the demo tenant.
    #[must_use]
    pub(crate) fn credentials_file(&self) -> PathBuf {
        self.data_dir.join("credentials.json")
    }

    fn move_ports(&mut self) -> anyhow::Result<()> {
        let offset = self.port_offset;
        let listeners = [
            ("admin.listen", &mut self.admin.listen),
            ("embedded.listen", &mut self.embedded.listen),
            ("gateway.listen", &mut self.gateway.listen),
            ("query.listen", &mut self.query.listen),
        ];
        for (key, address) in listeners {
            address.set_port(moved(key, address.port(), offset)?);
        }
        // A server that somebody named is where it is; the default follows the engine beside it.
        if self.clickhouse.url.as_str() == DEFAULT_CLICKHOUSE {
            let port = self.embedded.listen.port();
            self.clickhouse
                .url
                .set_port(Some(port))
                .map_err(|()| anyhow::anyhow!("clickhouse.url takes no port"))?;
        }
        Ok(())
    }

    /// The addresses that clients use, given what was bound.
    ///
    /// # Errors
    /// When the offset leads past the last port.
    pub(crate) fn urls(
        &self,
        otlp_http: SocketAddr,
        prometheus: SocketAddr,
    ) -> anyhow::Result<Urls> {
        let local = |port: u16| format!("http://127.0.0.1:{port}");
        Ok(Urls {
            otlp_http: base(otlp_http),
            otlp_grpc: local(moved(
                "the OTLP/gRPC port",
                OTLP_GRPC_PORT,
                self.port_offset,
            )?),
            prometheus: base(prometheus),
            control: local(moved("the control port", CONTROL_PORT, self.port_offset)?),
            clickhouse: self
                .clickhouse
                .url
                .as_str()
                .trim_end_matches('/')
                .to_owned(),
        })
    }
}

/// A base URL that reaches `address` from this machine.
fn base(address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        return format!("http://127.0.0.1:{}", address.port());
    }
    format!("http://{address}")
}

/// `port` moved by `offset`; 0 ("any free port") stays 0.
fn moved(key: &str, port: u16, offset: u16) -> anyhow::Result<u16> {
    if port == 0 {
        return Ok(0);
    }
    port.checked_add(offset).ok_or_else(|| {
        anyhow::anyhow!("port_offset {offset} moves {key} (port {port}) past port 65535")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(offset: u16) -> ServiceArgs {
        ServiceArgs {
            config: None,
            data_dir: Some("/data".into()),
            port_offset: Some(offset),
            check_config: false,
        }
    }

    #[test]
    fn the_built_in_reference_is_a_valid_configuration_with_the_documented_ports() {
        let config = Config::load(&args(0))
            .map_err(|failure| failure.error)
            .unwrap();
        assert_eq!(config.gateway.listen.port(), 4318);
        assert_eq!(config.query.listen.port(), 9090);
        assert_eq!(config.admin.listen.port(), 9464);
        assert_eq!(config.embedded.listen.port(), 8123);
        assert_eq!(config.embedded.data_dir, PathBuf::from("/data/clickhouse"));
        assert_eq!(config.auth.directory, PathBuf::from("/data/directory.json"));
    }

    #[test]
    fn an_offset_moves_every_port() {
        let config = Config::load(&args(1000))
            .map_err(|failure| failure.error)
            .unwrap();
        assert_eq!(config.gateway.listen.port(), 5318);
        assert_eq!(config.query.listen.port(), 10090);
        assert_eq!(config.admin.listen.port(), 10464);
        assert_eq!(config.embedded.listen.port(), 9123);
        assert_eq!(config.clickhouse.url.as_str(), "http://127.0.0.1:9123/");
        let urls = config
            .urls(config.gateway.listen, config.query.listen)
            .unwrap();
        assert_eq!(urls.otlp_grpc, "http://127.0.0.1:5317");
        assert_eq!(urls.control, "http://127.0.0.1:9080");
        assert_eq!(urls.clickhouse, "http://127.0.0.1:9123");
    }

    #[test]
    fn an_offset_leaves_a_clickhouse_that_somebody_named_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sluice.toml");
        std::fs::write(&file, "[clickhouse]\nurl = \"http://db:8123\"\n").unwrap();
        let config = Config::load(&ServiceArgs {
            config: Some(file),
            ..args(1000)
        })
        .map_err(|failure| failure.error);
        assert_eq!(config.unwrap().clickhouse.url.as_str(), "http://db:8123/");
    }

    #[test]
    fn an_offset_past_the_last_port_is_refused() {
        let text = Config::load(&args(60_000)).unwrap_err().error.to_string();
        assert!(text.contains("past port 65535"), "{text}");
    }
}
