//! An empty data folder → the tenant `demo`, its keys, and the file that tells a person about them.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use auth::directory::fixed::{FixedDirectory, NewKey};
use auth::key::KeyClass;
use auth::scope::Scope;
use auth::tenant::{Limits, Tenant, TenantId};
use auth::translation::Profile;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Id and slug of the first tenant.
const DEMO: &str = "demo";

/// Where the roles of one installation listen; bases without a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Urls {
    /// OTLP/HTTP; exporters append `/v1/metrics`.
    pub(crate) otlp_http: String,
    /// OTLP/gRPC.
    pub(crate) otlp_grpc: String,
    /// Prometheus HTTP API; Grafana's data source URL.
    pub(crate) prometheus: String,
    /// Admin REST.
    pub(crate) control: String,
    /// ClickHouse's HTTP interface.
    pub(crate) clickhouse: String,
}

/// `credentials.json`: the only place where the demo tenant's keys stand in full.
#[derive(Serialize, Deserialize)]
struct Credentials {
    tenant: String,
    ingest_key: String,
    query_key: String,
    tenant_admin_key: String,
    operator_key: String,
    urls: Urls,
}

/// Loads the directory at `path`, or makes it with the demo tenant; then brings `credentials` up to
/// date with `urls`. Keys and tenants of an existing directory are left as they are.
///
/// # Errors
/// When a file cannot be read or written, or does not hold what it should.
pub(crate) fn directory(
    path: &Path,
    credentials: &Path,
    urls: &Urls,
) -> anyhow::Result<FixedDirectory> {
    if path.exists() {
        let directory = FixedDirectory::load(path)?;
        refresh(credentials, urls)?;
        return Ok(directory);
    }
    if credentials.exists() {
        bail!(
            "{} is there, {} is not: the keys in the first would not work; move it away to start afresh, \
             or put the second back",
            credentials.display(),
            path.display()
        );
    }
    let mut directory = FixedDirectory::new()?;
    directory.add_tenant(Tenant {
        id: TenantId::new(DEMO),
        slug: DEMO.to_owned(),
        plan: "unlimited".to_owned(),
        suspended: false,
        limits: Limits::unlimited(),
    })?;
    let made = Credentials {
        tenant: DEMO.to_owned(),
        ingest_key: issue(
            &mut directory,
            "demo-ingest",
            KeyClass::Ingest,
            Scope::Ingest,
        )?,
        query_key: issue(&mut directory, "demo-query", KeyClass::Query, Scope::Query)?,
        tenant_admin_key: issue(
            &mut directory,
            "demo-admin",
            KeyClass::Admin,
            Scope::TenantAdmin,
        )?,
        operator_key: issue(&mut directory, "operator", KeyClass::Admin, Scope::Operator)?,
        urls: urls.clone(),
    };
    // Credentials first: a directory whose keys nobody knows could not be recovered.
    write_private(credentials, &made)?;
    if let Err(error) = directory.save(path) {
        std::fs::remove_file(credentials).context("cannot take back the credentials file")?;
        return Err(error.into());
    }
    Ok(directory)
}

fn issue(
    directory: &mut FixedDirectory,
    name: &str,
    class: KeyClass,
    scope: Scope,
) -> anyhow::Result<String> {
    let new = NewKey {
        tenant: TenantId::new(DEMO),
        name: name.to_owned(),
        class,
        scopes: vec![scope],
        profile: Profile::Generic,
    };
    Ok(directory
        .issue(new, Timestamp::now())?
        .expose_once()
        .to_owned())
}

/// Writes the present addresses into an existing credentials file; without one, nothing is to be done:
/// the keys cannot be read back from their verifiers.
///
/// # Errors
/// When the file cannot be read or written, or is not a credentials file.
pub(crate) fn refresh(path: &Path, urls: &Urls) -> anyhow::Result<()> {
    if !path.exists() {
        tracing::warn!(
            "{} is gone; its keys still work, but only who copied them knows them",
            path.display()
        );
        return Ok(());
    }
    let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut known: Credentials = serde_json::from_slice(&text)
        .with_context(|| format!("{} is not a credentials file", path.display()))?;
    if known.urls == *urls {
        return Ok(());
    }
    known.urls = urls.clone();
    write_private(path, &known)
}

/// Writes `path` with mode 0600, whole or not at all.
fn write_private(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let beside = PathBuf::from(name);
    let written = (|| {
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&beside)?;
        file.write_all(&serde_json::to_vec_pretty(value)?)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    })();
    written.with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn urls(port: u16) -> Urls {
        let at = |port: u16| format!("http://127.0.0.1:{port}");
        Urls {
            otlp_http: at(port),
            otlp_grpc: at(port + 1),
            prometheus: at(port + 2),
            control: at(port + 3),
            clickhouse: at(port + 4),
        }
    }

    fn read(path: &Path) -> Credentials {
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn the_first_start_makes_keys_and_later_starts_keep_them_and_refresh_the_urls() {
        let folder = tempfile::tempdir().unwrap();
        let (directory_file, file) = (
            folder.path().join("directory.json"),
            folder.path().join("credentials.json"),
        );
        directory(&directory_file, &file, &urls(1000)).unwrap();
        let first = read(&file);
        assert_eq!(
            std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(first.tenant, "demo");
        assert!(first.ingest_key.starts_with("slci_") && first.operator_key.starts_with("slca_"));

        directory(&directory_file, &file, &urls(2000)).unwrap();
        let second = read(&file);
        assert_eq!(second.ingest_key, first.ingest_key);
        assert_eq!(second.urls, urls(2000));
    }

    #[test]
    fn credentials_without_their_directory_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (directory_file, file) = (
            folder.path().join("directory.json"),
            folder.path().join("credentials.json"),
        );
        directory(&directory_file, &file, &urls(1000)).unwrap();
        std::fs::remove_file(&directory_file).unwrap();
        let text = directory(&directory_file, &file, &urls(1000))
            .unwrap_err()
            .to_string();
        assert!(text.contains("directory.json is not"), "{text}");
    }
}
