//! Credentials files, keys files or single options → where to push and ask, and as whom.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::cli::TargetArgs;

/// How a store names metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Names {
    /// Units and `_total` are appended.
    #[default]
    Suffixed,
    /// Names are kept and only escaped, as keys of profile `crusoe` do.
    Kept,
}

/// One tenant.
#[derive(Clone, Debug)]
pub(crate) struct Tenant {
    /// Slug.
    pub(crate) name: String,
    /// Keys that push; empty where no credentials are needed.
    pub(crate) ingest: Vec<SecretString>,
    /// Key that asks.
    pub(crate) query: Option<SecretString>,
}

/// A store under test.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Where pushes go: a whole URL.
    pub(crate) push_url: String,
    /// Base of the Prometheus API, without `/api`.
    pub(crate) query_url: String,
    /// Base of ClickHouse's HTTP interface, where known.
    pub(crate) clickhouse_url: Option<String>,
    /// At least one.
    pub(crate) tenants: Vec<Tenant>,
    /// How metrics are named there.
    pub(crate) names: Names,
}

/// Addresses, as in `credentials.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Urls {
    /// OTLP over HTTP, no path.
    pub(crate) otlp_http: String,
    /// PromQL, no path.
    pub(crate) prometheus: String,
    /// ClickHouse's HTTP interface.
    pub(crate) clickhouse: String,
}

/// What is read of `credentials.json`.
#[derive(Debug, Deserialize)]
struct Credentials {
    tenant: String,
    ingest_key: SecretString,
    query_key: SecretString,
    urls: Urls,
}

/// A file made by `loadtest prepare`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeysFile {
    urls: Urls,
    names: Names,
    tenants: Vec<KeysOfTenant>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeysOfTenant {
    tenant: String,
    ingest_keys: Vec<SecretString>,
    query_key: SecretString,
}

impl Target {
    /// The target that the options name.
    ///
    /// # Errors
    /// When a file cannot be read or an address or key is missing.
    pub(crate) fn of(options: &TargetArgs) -> anyhow::Result<Self> {
        let mut target = if let Some(file) = &options.keys {
            of_keys(read(file)?)
        } else if options.credentials.is_empty() {
            of_options(options)?
        } else {
            of_credentials(&options.credentials)?
        };
        if let Some(url) = &options.url {
            target.push_url = push_url(url);
        }
        if let Some(url) = &options.query_url {
            url.trim_end_matches('/').clone_into(&mut target.query_url);
        }
        if let Some(names) = options.names {
            target.names = names;
        }
        ensure!(
            target
                .tenants
                .iter()
                .all(|tenant| !tenant.ingest.is_empty()),
            "every tenant needs an ingest key"
        );
        Ok(target)
    }

    /// How many tenants there are.
    pub(crate) fn tenant_count(&self) -> u32 {
        u32::try_from(self.tenants.len()).unwrap_or(u32::MAX)
    }
}

/// `/v1/metrics` below a base; an address that has a path already is kept.
fn push_url(url: &str) -> String {
    let base = url.trim_end_matches('/');
    if base.ends_with("/v1/metrics") {
        base.to_owned()
    } else {
        format!("{base}/v1/metrics")
    }
}

fn of_options(options: &TargetArgs) -> anyhow::Result<Target> {
    let (Some(url), false) = (&options.url, options.key.is_empty()) else {
        bail!("where to push? give --credentials FILE, --keys FILE, or --url and --key");
    };
    Ok(Target {
        push_url: push_url(url),
        query_url: options.query_url.clone().unwrap_or_default(),
        clickhouse_url: None,
        tenants: vec![Tenant {
            name: options.tenant.clone(),
            ingest: options
                .key
                .iter()
                .map(|key| SecretString::from(key.clone()))
                .collect(),
            query: options.query_key.clone().map(SecretString::from),
        }],
        names: Names::default(),
    })
}

fn of_credentials(files: &[std::path::PathBuf]) -> anyhow::Result<Target> {
    let mut target: Option<Target> = None;
    for file in files {
        let found: Credentials = read(file)?;
        let tenant = Tenant {
            name: found.tenant,
            ingest: vec![found.ingest_key],
            query: Some(found.query_key),
        };
        match &mut target {
            Some(target) => target.tenants.push(tenant),
            None => target = Some(at(&found.urls, vec![tenant], Names::default())),
        }
    }
    target.context("no credentials file was given")
}

fn of_keys(file: KeysFile) -> Target {
    let tenants = file.tenants.into_iter().map(|tenant| Tenant {
        name: tenant.tenant,
        ingest: tenant.ingest_keys,
        query: Some(tenant.query_key),
    });
    at(&file.urls, tenants.collect(), file.names)
}

fn at(urls: &Urls, tenants: Vec<Tenant>, names: Names) -> Target {
    Target {
        push_url: push_url(&urls.otlp_http),
        query_url: urls.prometheus.trim_end_matches('/').to_owned(),
        clickhouse_url: Some(urls.clickhouse.clone()),
        tenants,
        names,
    }
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> anyhow::Result<T> {
    let text = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_slice(&text)
        .with_context(|| format!("{} does not hold what it should", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const URLS: &str = r#"{"otlp_http":"http://h:1","otlp_grpc":"http://h:2","prometheus":"http://h:3","control":"http://h:4","clickhouse":"http://h:5"}"#;

    fn write(name: &str, text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        (folder, file)
    }

    #[test]
    fn a_credentials_file_is_a_whole_target() {
        let (_folder, file) = write(
            "credentials.json",
            &format!(
                r#"{{"tenant":"demo","ingest_key":"i","query_key":"q","tenant_admin_key":"a","operator_key":"o","urls":{URLS}}}"#
            ),
        );
        let options = TargetArgs {
            credentials: vec![file],
            ..TargetArgs::default()
        };
        let target = Target::of(&options).unwrap();
        assert_eq!(target.push_url, "http://h:1/v1/metrics");
        assert_eq!(target.query_url, "http://h:3");
        assert_eq!(target.tenants[0].name, "demo");
        assert_eq!(target.names, Names::Suffixed);
    }

    #[test]
    fn a_keys_file_has_many_tenants_with_many_keys() {
        let (_folder, file) = write(
            "keys.json",
            r#"{"urls":{"otlp_http":"http://h:1","prometheus":"http://h:3","clickhouse":"http://h:5"},"names":"kept","tenants":[
                {"tenant":"a","ingest_keys":["1","2"],"query_key":"q"},{"tenant":"b","ingest_keys":["3"],"query_key":"q"}]}"#,
        );
        let options = TargetArgs {
            keys: Some(file),
            ..TargetArgs::default()
        };
        let target = Target::of(&options).unwrap();
        assert_eq!(
            (target.tenant_count(), target.tenants[0].ingest.len()),
            (2, 2)
        );
        assert_eq!(target.names, Names::Kept);
    }

    #[test]
    fn without_a_key_nothing_is_pushed() {
        let options = TargetArgs {
            url: Some("http://h:1".to_owned()),
            ..TargetArgs::default()
        };
        assert!(
            Target::of(&options)
                .unwrap_err()
                .to_string()
                .contains("--credentials")
        );
    }
}
