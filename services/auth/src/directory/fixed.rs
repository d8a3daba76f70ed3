//! One JSON file of tenants and key records → a directory that needs nobody else.

use std::collections::HashMap;
use std::io::{ErrorKind, Write};
use std::net::IpAddr;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::judge::{judge, unknown};
use super::{Answer, KeyDirectory};
use crate::key::{KeyClass, KeyId, PlainKey, PresentedKey};
use crate::principal::Principal;
use crate::record::{KeyRecord, KeyStatus};
use crate::refusal::Refusal;
use crate::scope::Scope;
use crate::tenant::{Tenant, TenantId};
use crate::translation::Profile;
use crate::verifier::Pepper;

/// Why the file could not be read, written or added to.
#[derive(Debug, thiserror::Error)]
pub enum FixedError {
    /// The file could not be read or written.
    #[error("cannot {doing} {}", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is not what this version writes.
    #[error("{} is not a key directory", path.display())]
    Format {
        /// Which file.
        path: PathBuf,
        /// Where and what.
        source: serde_json::Error,
    },
    /// Records contradict each other.
    #[error("{0}")]
    Contradiction(String),
    /// No random numbers.
    #[error("the operating system gives no random numbers")]
    Random(#[from] getrandom::Error),
}

/// What to make a key for.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// Whose key it will be.
    pub tenant: TenantId,
    /// Name for people.
    pub name: String,
    /// What it is for.
    pub class: KeyClass,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// Where its data will come from.
    pub profile: Profile,
}

/// Tenants and keys, all in memory, written to one file on request.
#[derive(Debug)]
pub struct FixedDirectory {
    pepper: Pepper,
    tenants: Vec<Arc<Tenant>>,
    keys: HashMap<KeyId, Arc<Principal>>,
}

/// The file, as read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    pepper: SecretString,
    tenants: Vec<Tenant>,
    keys: Vec<KeyRecord>,
}

/// The file, as written.
#[derive(Serialize)]
struct Storing<'a> {
    pepper: &'a str,
    tenants: Vec<&'a Tenant>,
    keys: Vec<&'a KeyRecord>,
}

/// `pepper_version` of every record here: the file has one pepper.
const PEPPER_VERSION: u32 = 1;

impl FixedDirectory {
    /// An empty directory with a new pepper.
    ///
    /// # Errors
    /// [`FixedError::Random`].
    pub fn new() -> Result<Self, FixedError> {
        Ok(Self {
            pepper: Pepper::generate()?,
            tenants: Vec::new(),
            keys: HashMap::new(),
        })
    }

    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`FixedError`] when it is missing, not in the format, contradictory, or readable by other users:
    /// it holds the pepper.
    pub fn load(path: &Path) -> Result<Self, FixedError> {
        let failed = |doing| {
            move |source| FixedError::File {
                doing,
                path: path.to_owned(),
                source,
            }
        };
        let mode = std::fs::metadata(path)
            .map_err(failed("read"))?
            .permissions()
            .mode();
        if mode & 0o077 != 0 {
            return Err(FixedError::Contradiction(format!(
                "{} can be read by other users (mode {:o}) and holds secrets: chmod 600 it",
                path.display(),
                mode & 0o777
            )));
        }
        let text = SecretString::from(std::fs::read_to_string(path).map_err(failed("read"))?);
        let stored: Stored =
            serde_json::from_str(text.expose_secret()).map_err(|source| FixedError::Format {
                path: path.to_owned(),
                source,
            })?;
        let pepper = Pepper::from_hex(&stored.pepper, PEPPER_VERSION)
            .map_err(|source| FixedError::Contradiction(format!("pepper: {source}")))?;
        let mut directory = Self {
            pepper,
            tenants: Vec::new(),
            keys: HashMap::new(),
        };
        for tenant in stored.tenants {
            directory.add_tenant(tenant)?;
        }
        for record in stored.keys {
            directory.add_key(record)?;
        }
        Ok(directory)
    }

    /// Writes the file at `path` with mode 0600: whole, or not at all.
    ///
    /// # Errors
    /// [`FixedError::File`].
    pub fn save(&self, path: &Path) -> Result<(), FixedError> {
        let mut keys: Vec<&KeyRecord> = self.keys.values().map(|who| &**who.key()).collect();
        keys.sort_by(|left, right| left.kid.cmp(&right.kid));
        let storing = Storing {
            pepper: self.pepper.hex().expose_secret(),
            tenants: self.tenants.iter().map(AsRef::as_ref).collect(),
            keys,
        };
        let text = serde_json::to_vec_pretty(&storing).map_err(|source| FixedError::Format {
            path: path.to_owned(),
            source,
        })?;
        write_private(path, &text).map_err(|source| FixedError::File {
            doing: "write",
            path: path.to_owned(),
            source,
        })
    }

    /// Adds a tenant.
    ///
    /// # Errors
    /// [`FixedError::Contradiction`] when another tenant answers to its id or slug, or its limits cannot hold.
    pub fn add_tenant(&mut self, tenant: Tenant) -> Result<(), FixedError> {
        tenant.limits.check().map_err(|why| {
            FixedError::Contradiction(format!("limits of tenant {}: {why}", tenant.id))
        })?;
        let taken = self
            .tenants
            .iter()
            .any(|known| known.answers_to(tenant.id.as_str()) || known.answers_to(&tenant.slug));
        if taken {
            return Err(FixedError::Contradiction(format!(
                "there is a tenant with the id {} or the slug {} already",
                tenant.id, tenant.slug
            )));
        }
        self.tenants.push(Arc::new(tenant));
        Ok(())
    }

    /// Makes a key; the caller shows it to its owner, here only the verifier stays.
    ///
    /// # Errors
    /// [`FixedError::Contradiction`] for an unknown tenant or a scope that keys of this class cannot use.
    pub fn issue(&mut self, new: NewKey, now: Timestamp) -> Result<PlainKey, FixedError> {
        if let Some(scope) = new.scopes.iter().find(|scope| !scope.is_for(new.class)) {
            return Err(FixedError::Contradiction(format!(
                "scope {scope} is not for keys of class {}",
                new.class.label()
            )));
        }
        let key = PlainKey::generate(new.class)?;
        self.add_key(KeyRecord {
            kid: key.kid().clone(),
            tenant: new.tenant,
            name: new.name,
            class: new.class,
            scopes: new.scopes,
            profile: new.profile,
            translation: None,
            verifier: self.pepper.verifier(key.as_presented()),
            pepper_version: self.pepper.version(),
            status: KeyStatus::Active,
            created_at: now,
            expires_at: None,
            revoked_at: None,
            allowed_cidrs: Vec::new(),
        })?;
        Ok(key)
    }

    /// Changes a key's record; `change` gets a copy, which replaces the record.
    ///
    /// # Errors
    /// [`FixedError::Contradiction`] for an unknown key or tenant.
    pub fn change_key(
        &mut self,
        kid: &KeyId,
        change: impl FnOnce(&mut KeyRecord),
    ) -> Result<(), FixedError> {
        let known = self
            .keys
            .remove(kid)
            .ok_or_else(|| FixedError::Contradiction(format!("there is no key {kid}")))?;
        let mut record = KeyRecord::clone(known.key());
        change(&mut record);
        let added = self.add_key(record);
        if added.is_err() {
            self.keys.insert(kid.clone(), known);
        }
        added
    }

    /// The tenants, in the order they were added.
    #[must_use]
    pub fn tenants(&self) -> &[Arc<Tenant>] {
        &self.tenants
    }

    fn add_key(&mut self, record: KeyRecord) -> Result<(), FixedError> {
        let owner = self.tenants.iter().find(|known| known.id == record.tenant);
        let Some(tenant) = owner.map(Arc::clone) else {
            return Err(FixedError::Contradiction(format!(
                "key {} belongs to tenant {}, which is not there",
                record.kid, record.tenant
            )));
        };
        if self.keys.contains_key(&record.kid) {
            return Err(FixedError::Contradiction(format!(
                "there is a key {} already",
                record.kid
            )));
        }
        self.keys
            .insert(record.kid.clone(), Arc::new(Principal::new(tenant, record)));
        Ok(())
    }

    fn look_up(
        &self,
        key: &PresentedKey,
        claimed: Option<&str>,
        peer: IpAddr,
        now: Timestamp,
    ) -> Result<Arc<Principal>, Refusal> {
        let principal = self.keys.get(key.kid()).ok_or_else(unknown)?;
        let record = principal.key();
        let same = record.verifier.matches(&self.pepper.verifier(key));
        if !same || record.pepper_version != self.pepper.version() {
            return Err(unknown());
        }
        judge(principal, claimed, peer, now)?;
        Ok(Arc::clone(principal))
    }
}

impl KeyDirectory for FixedDirectory {
    fn verify<'a>(
        &'a self,
        key: &'a PresentedKey,
        claimed: Option<&'a str>,
        peer: IpAddr,
        now: Timestamp,
    ) -> Answer<'a> {
        Box::pin(std::future::ready(self.look_up(key, claimed, peer, now)))
    }
}

/// Writes beside the target and renames, so that a reader sees the old file or the new one.
fn write_private(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    match std::fs::remove_file(&beside) {
        Err(failure) if failure.kind() != ErrorKind::NotFound => return Err(failure),
        _ => {}
    }
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)?;
    file.write_all(text)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)
}

#[cfg(test)]
mod tests;
