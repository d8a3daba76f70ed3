//! From request headers to a tenant: what a key looks like, who it belongs to, what it may do.
//!
//! The path of a request head: [`extract::credential`] reads the headers → [`key::PresentedKey`] is
//! checked for shape → a [`directory::KeyDirectory`] answers with a [`principal::Principal`] or a
//! [`refusal::Refusal`] → the service asks it for a [`tenant::TenantScope`].

pub mod tenant;
pub mod translation;
