//! From request headers to a tenant: what a key looks like, who it belongs to, what it may do.
//!
//! The path of a request head: [`extract::credential`] reads the headers → [`key::PresentedKey`] is
//! checked for shape → a [`directory::KeyDirectory`] answers with a [`principal::Principal`] or a
//! [`refusal::Refusal`] → the service asks it for a [`tenant::TenantScope`].
//! [`directory::authenticate`] walks the first three steps.

pub mod extract;
pub mod key;
pub mod verifier;
pub mod scope;
pub mod record;
pub mod directory;
pub mod refusal;
pub mod principal;
pub mod tenant;
pub mod translation;
