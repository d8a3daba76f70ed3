//! A number of tenants and keys → a data folder's directory, and the keys in a file for `--keys`.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::{Context, ensure};
use auth::directory::fixed::{FixedDirectory, NewKey};
use auth::key::KeyClass;
use auth::scope::Scope;
use auth::tenant::{Limits, Tenant, TenantId};
use auth::translation::Profile;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cli::PrepareArgs;
use crate::plan::Provider;
use crate::target::{Names, Urls};

/// Name of the keys file in the data folder.
pub(crate) const KEYS_FILE: &str = "loadtest-keys.json";

/// Makes both files.
///
/// # Errors
/// When the folder has a directory already, or a file cannot be written.
pub(crate) fn prepare(args: &PrepareArgs) -> anyhow::Result<(String, bool)> {
    let path = args.folder.join("directory.json");
    ensure!(
        !path.exists(),
        "{} is there already: choose an empty data folder",
        path.display()
    );
    std::fs::create_dir_all(&args.folder)
        .with_context(|| format!("cannot make {}", args.folder.display()))?;
    let mut directory = FixedDirectory::new()?;
    let tenants = (0..args.tenants)
        .map(|number| tenant(&mut directory, number, args))
        .collect::<anyhow::Result<Vec<Value>>>()?;
    let urls = urls(args.port_offset)?;
    let names = if args.profile == Provider::Crusoe {
        Names::Kept
    } else {
        Names::Suffixed
    };
    let keys = args.folder.join(KEYS_FILE);
    // Keys first: a directory whose keys nobody knows is worth nothing.
    write_private(
        &keys,
        &json!({ "urls": urls, "names": names, "tenants": tenants }),
    )?;
    directory.save(&path)?;
    let text = format!(
        "directory  {}\nkeys       {}\n",
        path.display(),
        keys.display()
    );
    Ok((text, true))
}

fn tenant(
    directory: &mut FixedDirectory,
    number: u32,
    args: &PrepareArgs,
) -> anyhow::Result<Value> {
    let slug = format!("load-{number}");
    let id = TenantId::new(&format!("ten_load{number}"));
    directory.add_tenant(Tenant {
        id: id.clone(),
        slug: slug.clone(),
        plan: "unlimited".to_owned(),
        suspended: false,
        limits: Limits::unlimited(),
    })?;
    let profile = match args.profile {
        Provider::Cerebrium => Profile::Cerebrium,
        Provider::Crusoe => Profile::Crusoe,
        Provider::Sdk => Profile::OtelSdk,
    };
    let mut issue = |name: String, class, scope, profile| -> anyhow::Result<String> {
        let new = NewKey {
            tenant: id.clone(),
            name,
            class,
            scopes: vec![scope],
            profile,
        };
        Ok(directory
            .issue(new, Timestamp::now())?
            .expose_once()
            .to_owned())
    };
    let ingest = (0..args.keys)
        .map(|key| {
            issue(
                format!("ingest-{key}"),
                KeyClass::Ingest,
                Scope::Ingest,
                profile,
            )
        })
        .collect::<anyhow::Result<Vec<String>>>()?;
    let query = issue(
        "query".to_owned(),
        KeyClass::Query,
        Scope::Query,
        Profile::Generic,
    )?;
    Ok(json!({ "tenant": slug, "ingest_keys": ingest, "query_key": query }))
}

/// Where `sluice up` listens with this offset.
///
/// # Errors
/// When a port would be beyond 65535.
pub(crate) fn urls(offset: u16) -> anyhow::Result<Urls> {
    let at = |port: u16| {
        let port = port
            .checked_add(offset)
            .context("--port-offset is too large")?;
        anyhow::Ok(format!("http://127.0.0.1:{port}"))
    };
    Ok(Urls {
        otlp_http: at(4318)?,
        prometheus: at(9090)?,
        clickhouse: at(8123)?,
    })
}

fn write_private(path: &Path, value: &Value) -> anyhow::Result<()> {
    let written = (|| {
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        file.write_all(&serde_json::to_vec_pretty(value)?)?;
        anyhow::Ok(())
    })();
    written.with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::TargetArgs;
    use crate::target::Target;

    fn arguments(folder: &Path, profile: Provider) -> PrepareArgs {
        PrepareArgs {
            folder: folder.to_owned(),
            tenants: 3,
            keys: 2,
            profile,
            port_offset: 1000,
        }
    }

    #[test]
    fn the_keys_file_is_a_target_and_the_directory_knows_its_tenants() {
        let folder = tempfile::tempdir().unwrap();
        prepare(&arguments(folder.path(), Provider::Crusoe)).unwrap();
        let options = TargetArgs {
            keys: Some(folder.path().join(KEYS_FILE)),
            ..TargetArgs::default()
        };
        let target = Target::of(&options).unwrap();
        assert_eq!(target.push_url, "http://127.0.0.1:5318/v1/metrics");
        assert_eq!((target.tenant_count(), target.names), (3, Names::Kept));
        assert!(target.tenants.iter().all(|tenant| tenant.ingest.len() == 2));
        let directory = FixedDirectory::load(&folder.path().join("directory.json")).unwrap();
        assert_eq!(directory.tenants().len(), 3);
    }

    #[test]
    fn a_folder_that_has_a_directory_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        prepare(&arguments(folder.path(), Provider::Cerebrium)).unwrap();
        assert!(prepare(&arguments(folder.path(), Provider::Cerebrium)).is_err());
    }
}
