//! Settings → a ClickHouse client.

use clickhouse::Client;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use url::Url;

/// Where ClickHouse is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// HTTP interface, `http://host:8123`.
    pub url: Url,
    /// Database that holds the tables; `sluice migrate` creates it.
    pub database: String,
    /// User, where the server wants one.
    pub user: String,
    /// Its password.
    pub password: SecretString,
}

/// A client for `config`. Nothing is sent yet.
#[must_use]
pub fn client(config: &Config) -> Client {
    server(config).with_database(&config.database)
}

/// A client that names no database: for the statement that creates it, and for asking whether the
/// server answers at all.
#[must_use]
pub fn server(config: &Config) -> Client {
    let mut client = Client::default().with_url(config.url.as_str());
    if !config.user.is_empty() {
        client = client
            .with_user(&config.user)
            .with_password(config.password.expose_secret());
    }
    client
}

/// Whether ClickHouse answers a trivial query.
///
/// # Errors
/// The client's error: unreachable, refused, or not ClickHouse.
pub async fn ping(client: &Client) -> clickhouse::error::Result<()> {
    client.query("SELECT 1").fetch_one::<u8>().await.map(drop)
}
