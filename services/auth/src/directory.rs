//! A presented key → whom it stands for, or why it stands for nobody.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use http::HeaderMap;
use jiff::Timestamp;

use crate::extract::{self, HeaderNames};
use crate::key::PresentedKey;
use crate::principal::{Caller, Principal};
use crate::refusal::Refusal;

pub mod fixed;
mod judge;

/// An answer that may take a while. Directories that hold everything in memory answer at once; the
/// future is there for secrets that need argon2.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Arc<Principal>, Refusal>> + Send + 'a>>;

/// Knows tenants and keys.
pub trait KeyDirectory: fmt::Debug + Send + Sync {
    /// Whom `key` stands for. `claimed` is the tenant that the request named, if any; `peer` is where it
    /// came from; `now` decides about expiry.
    ///
    /// An unknown key and a wrong secret get the same refusal; that a key was revoked or has expired is
    /// told only to somebody who has the secret.
    fn verify<'a>(
        &'a self,
        key: &'a PresentedKey,
        claimed: Option<&'a str>,
        peer: IpAddr,
        now: Timestamp,
    ) -> Answer<'a>;
}

/// Reads the credential out of `headers` and asks `directory` about it.
///
/// # Errors
/// A [`Refusal`] fit to be shown to the caller.
pub async fn authenticate(
    directory: &dyn KeyDirectory,
    headers: &HeaderMap,
    names: &HeaderNames,
    peer: IpAddr,
    now: Timestamp,
) -> Result<Caller, Refusal> {
    let credential = extract::credential(headers, names)?;
    let principal = directory
        .verify(&credential.key, credential.tenant.as_deref(), peer, now)
        .await?;
    Ok(Caller {
        principal,
        tolerated: credential.tolerated,
    })
}
