//! What is kept about a key: everything but the key.

use std::net::IpAddr;

use ipnet::IpNet;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::key::{KeyClass, KeyId};
use crate::scope::Scope;
use crate::tenant::TenantId;
use crate::translation::{Profile, Translation};
use crate::verifier::Verifier;

/// Whether a key works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyStatus {
    /// It works.
    #[default]
    Active,
    /// It will never work again.
    Revoked,
    /// It does not work for now.
    Suspended,
}

/// One key as the directory knows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyRecord {
    /// Public id.
    pub kid: KeyId,
    /// Whose key it is.
    pub tenant: TenantId,
    /// Name given by whoever made it.
    pub name: String,
    /// What it is for.
    pub class: KeyClass,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// Where its data comes from.
    #[serde(default)]
    pub profile: Profile,
    /// How its metrics are named, where that differs from the profile's defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translation: Option<Translation>,
    /// What a presented key is compared with.
    pub verifier: Verifier,
    /// The pepper that `verifier` was made with.
    pub pepper_version: u32,
    /// Whether it works.
    #[serde(default)]
    pub status: KeyStatus,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it no longer works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
    /// Networks that it may be used from; empty means anywhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_cidrs: Vec<IpNet>,
}

impl KeyRecord {
    /// How its metrics are named.
    #[must_use]
    pub fn translation(&self) -> Translation {
        self.translation
            .clone()
            .unwrap_or_else(|| Translation::of(self.profile))
    }

    /// Whether it may be used from `peer`. An IPv4 address written as IPv6 is that IPv4 address.
    #[must_use]
    pub fn allows(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        self.allowed_cidrs.is_empty() || self.allowed_cidrs.iter().any(|net| net.contains(&peer))
    }
}
