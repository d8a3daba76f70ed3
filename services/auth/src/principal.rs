//! A verified key and its tenant → what the caller may do, and permission to name the tenant in SQL.

use std::sync::Arc;

use crate::extract::Tolerance;
use crate::key::KeyClass;
use crate::record::KeyRecord;
use crate::refusal::{Reason, Refusal};
use crate::scope::Scope;
use crate::tenant::{Tenant, TenantScope};
use crate::translation::Translation;

/// Who a key stands for. Made by a directory, shared by all requests of that key.
#[derive(Clone, Debug)]
pub struct Principal {
    tenant: Arc<Tenant>,
    key: Arc<KeyRecord>,
    translation: Arc<Translation>,
}

impl Principal {
    /// What a directory makes of a record and its tenant.
    pub(crate) fn new(tenant: Arc<Tenant>, key: KeyRecord) -> Self {
        Self {
            tenant,
            translation: Arc::new(key.translation()),
            key: Arc::new(key),
        }
    }

    /// The tenant.
    #[must_use]
    pub fn tenant(&self) -> &Arc<Tenant> {
        &self.tenant
    }

    /// The key's record.
    #[must_use]
    pub fn key(&self) -> &Arc<KeyRecord> {
        &self.key
    }

    /// How this key's metrics are named.
    #[must_use]
    pub fn translation(&self) -> &Arc<Translation> {
        &self.translation
    }

    /// Whether the key may do what `wanted` names.
    ///
    /// # Errors
    /// A 403 that names the right class of key, or the missing scope.
    pub fn may(&self, wanted: Scope) -> Result<(), Refusal> {
        if !wanted.is_for(self.key.class) {
            let right = [KeyClass::Ingest, KeyClass::Query, KeyClass::Admin]
                .into_iter()
                .find(|class| wanted.is_for(*class))
                .unwrap_or(KeyClass::Admin);
            return Err(Refusal::new(
                Reason::WrongClass,
                format!(
                    "key {} is of class {}, which may not be used for {wanted}: use a key of class {} ({}…)",
                    self.key.kid,
                    self.key.class.label(),
                    right.label(),
                    right.prefix(),
                ),
            ));
        }
        if self.key.scopes.iter().any(|held| held.covers(wanted)) {
            return Ok(());
        }
        Err(Refusal::new(
            Reason::MissingScope,
            format!(
                "key {} lacks the scope {wanted}: add it to the key or use another key",
                self.key.kid
            ),
        ))
    }

    /// Permission to read this tenant's metrics.
    ///
    /// # Errors
    /// As [`Principal::may`] for [`Scope::MetricsRead`].
    pub fn scope(&self) -> Result<TenantScope, Refusal> {
        self.may(Scope::MetricsRead)?;
        Ok(TenantScope::new(self.tenant.id.clone()))
    }
}

/// One request's caller: who it is, and what had to be tolerated to find out.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Who it is.
    pub principal: Arc<Principal>,
    /// What was odd about the way the key was written; shown to the key's owner.
    pub tolerated: Vec<Tolerance>,
}
