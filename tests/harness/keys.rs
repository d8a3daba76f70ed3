//! Tenants and keys that a test wants → the directory file that `sluice up` starts with.

use std::path::{Path, PathBuf};

use auth::directory::fixed::{FixedDirectory, NewKey};
use auth::key::KeyClass;
use auth::record::KeyRecord;
use auth::scope::Scope;
use auth::tenant::{Limits, Tenant, TenantId};
use auth::translation::{NamingStrategy, Profile, Translation};
use jiff::Timestamp;

/// A tenant's two keys.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Slug of the tenant.
    pub tenant: String,
    /// Pushes.
    pub ingest: String,
    /// Asks.
    pub query: String,
}

/// `DIR/directory.json` while it is being filled.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    directory: FixedDirectory,
}

impl Directory {
    /// An empty directory for the data folder `data`, which is made.
    ///
    /// # Panics
    /// When the folder cannot be made.
    #[must_use]
    pub fn create(data: &Path) -> Self {
        std::fs::create_dir_all(data).expect("cannot make the data folder");
        Self {
            path: data.join("directory.json"),
            directory: FixedDirectory::new().expect("random numbers"),
        }
    }

    /// Writes the file.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn save(&self) {
        self.directory
            .save(&self.path)
            .expect("cannot write the directory");
    }

    /// Adds a tenant on plan `unlimited` whose id is `ten_` and its slug, with a generic ingest key and
    /// a query key.
    pub fn tenant(&mut self, slug: &str) -> Keys {
        self.tenant_from(slug, Profile::Generic)
    }

    /// The same, with an ingest key of `profile`.
    pub fn tenant_from(&mut self, slug: &str, profile: Profile) -> Keys {
        self.limited_tenant(slug, Limits::unlimited());
        Keys {
            tenant: slug.to_owned(),
            ingest: self.ingest(slug, profile),
            query: self.key(slug, KeyClass::Query, Scope::Query, Profile::Generic),
        }
    }

    /// Adds a tenant with `limits` and no keys.
    ///
    /// # Panics
    /// When the slug is taken.
    pub fn limited_tenant(&mut self, slug: &str, limits: Limits) {
        self.directory
            .add_tenant(Tenant {
                id: id(slug),
                slug: slug.to_owned(),
                plan: "unlimited".to_owned(),
                suspended: false,
                limits,
            })
            .expect("a new slug");
    }

    /// An ingest key for data of `profile`.
    pub fn ingest(&mut self, slug: &str, profile: Profile) -> String {
        self.key(slug, KeyClass::Ingest, Scope::Ingest, profile)
    }

    /// An ingest key that names metrics by `strategy`.
    pub fn ingest_naming(&mut self, slug: &str, strategy: NamingStrategy) -> String {
        let key = self.ingest(slug, Profile::Generic);
        self.change(&key, |record| {
            record.translation = Some(Translation {
                strategy,
                ..Translation::of(Profile::Generic)
            });
        });
        key
    }

    /// A key of any class with one scope.
    ///
    /// # Panics
    /// When the tenant is unknown or the scope is not for the class.
    pub fn key(&mut self, slug: &str, class: KeyClass, scope: Scope, profile: Profile) -> String {
        let new = NewKey {
            tenant: id(slug),
            name: format!("{}-{scope}", class.label()),
            class,
            scopes: vec![scope],
            profile,
        };
        let key = self.directory.issue(new, Timestamp::now()).expect("a key");
        key.expose_once().to_owned()
    }

    /// Changes the record of `key`.
    ///
    /// # Panics
    /// When there is no such key.
    pub fn change(&mut self, key: &str, change: impl FnOnce(&mut KeyRecord)) {
        let (_, kid) = auth::key::inspect(key).expect("a whole key");
        self.directory
            .change_key(&kid, change)
            .expect("a known key");
    }
}

fn id(slug: &str) -> TenantId {
    TenantId::new(&format!("ten_{slug}"))
}
