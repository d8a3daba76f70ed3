//! Request headers → the one credential they carry, whatever form it was written in.

use std::borrow::Cow;

use http::HeaderMap;
use serde::{Deserialize, Serialize};

use crate::key::PresentedKey;
use crate::refusal::{Reason, Refusal};

mod authorization;
mod value;

use value::{Written, parse_key};

/// Two headers that together are a credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderPair {
    /// Header that names the tenant.
    pub instance: String,
    /// Header that holds the key.
    pub key: String,
}

/// Which headers are read besides `Authorization`; a list, so that users of other services can keep
/// what they have configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HeaderNames {
    /// Tenant and key in two headers.
    pub pairs: Vec<HeaderPair>,
    /// `tenant/key` in one header.
    pub combined: Vec<String>,
    /// The key alone.
    pub key: Vec<String>,
}

impl Default for HeaderNames {
    fn default() -> Self {
        let pair = |instance: &str, key: &str| HeaderPair {
            instance: instance.to_owned(),
            key: key.to_owned(),
        };
        Self {
            pairs: vec![
                pair("X-Sluice-Instance", "X-API-Key"),
                pair("X-OODLE-INSTANCE", "X-API-KEY"),
            ],
            combined: vec![
                "X-Sluice-Instance-Api-Key".to_owned(),
                "X-OODLE-INSTANCE-API-KEY".to_owned(),
            ],
            key: vec!["api-key".to_owned(), "x-otlp-api-key".to_owned()],
        }
    }
}

impl HeaderNames {
    /// Every header that is read, for CORS.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let pairs = self
            .pairs
            .iter()
            .flat_map(|pair| [pair.instance.as_str(), pair.key.as_str()]);
        let single = self.combined.iter().chain(&self.key).map(String::as_str);
        ["Authorization"].into_iter().chain(pairs).chain(single)
    }

    /// A name that no header can have, if there is one.
    #[must_use]
    pub fn impossible(&self) -> Option<&str> {
        self.all()
            .find(|name| http::HeaderName::from_bytes(name.as_bytes()).is_err())
    }

    /// The forms that are accepted, as a list for people.
    fn forms(&self) -> String {
        let mut forms = vec![
            "\"Authorization: Basic base64(tenant:key)\"".to_owned(),
            "\"Authorization: Bearer key\"".to_owned(),
        ];
        forms.extend(
            self.pairs
                .iter()
                .map(|pair| format!("\"{}: tenant\" with \"{}: key\"", pair.instance, pair.key)),
        );
        forms.extend(
            self.combined
                .iter()
                .map(|name| format!("\"{name}: tenant/key\"")),
        );
        forms.extend(self.key.iter().map(|name| format!("\"{name}: key\"")));
        forms.join(", ")
    }
}

/// Something odd about a credential that was accepted all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tolerance {
    /// `Basic%20…`: percent-encoded for an environment variable and pasted as such.
    BasicPercent20,
    /// Another header was percent-encoded.
    PercentEncoded,
    /// Spaces inside the base64: a line break of the `base64` tool.
    InnerWhitespace,
    /// The encoded text ends in a line break: `echo` without `-n`.
    TrailingNewline,
    /// The header's own name was pasted into its value.
    PastedHeaderName,
    /// Quotes were pasted with the value.
    Quoted,
}

impl Tolerance {
    /// The name shown among a key's warnings.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::BasicPercent20 => "basic_percent20",
            Self::PercentEncoded => "percent_encoded",
            Self::InnerWhitespace => "inner_whitespace",
            Self::TrailingNewline => "trailing_newline",
            Self::PastedHeaderName => "pasted_header_name",
            Self::Quoted => "quoted",
        }
    }
}

/// What a request's headers say about its sender; not verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Credential {
    /// The key.
    pub key: PresentedKey,
    /// The tenant named beside it, by id or slug.
    pub tenant: Option<String>,
    /// What was odd about the writing.
    pub tolerated: Vec<Tolerance>,
}

/// Reads the credential.
///
/// # Errors
/// A 401 whose text says what was seen and what is expected; it never repeats a value.
pub fn credential(headers: &HeaderMap, names: &HeaderNames) -> Result<Credential, Refusal> {
    let mut found = Found::default();
    if let Some(written) = value::single(headers, "Authorization")? {
        found.add(authorization::read(written)?)?;
    }
    for name in &names.combined {
        if let Some(written) = value::single(headers, name)? {
            found.add(combined(name, written)?)?;
        }
    }
    for name in &names.key {
        if let Some(written) = value::single(headers, name)? {
            found.add(alone(name, written)?)?;
        }
    }
    pairs(headers, names, &mut found)?;
    found.0.ok_or_else(|| {
        Refusal::new(
            Reason::Missing,
            format!("no credentials: send one of {}", names.forms()),
        )
    })
}

/// The credential so far; every further one has to be the same.
#[derive(Default)]
struct Found(Option<Credential>);

impl Found {
    fn add(&mut self, next: Credential) -> Result<(), Refusal> {
        let Some(known) = &mut self.0 else {
            self.0 = Some(next);
            return Ok(());
        };
        if known.key != next.key {
            return Err(ambiguous());
        }
        known.tolerated.extend(next.tolerated);
        match next.tenant {
            Some(tenant) => self.claim(tenant),
            None => Ok(()),
        }
    }

    fn claim(&mut self, tenant: String) -> Result<(), Refusal> {
        match &mut self.0 {
            Some(Credential {
                tenant: Some(known),
                ..
            }) if *known != tenant => Err(ambiguous()),
            Some(known) => {
                known.tenant = Some(tenant);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

fn ambiguous() -> Refusal {
    Refusal::new(
        Reason::Ambiguous,
        "two different credentials in one request (AMBIGUOUS_CREDENTIALS): remove one of the headers",
    )
}

/// `tenant/key`; the first `/` splits.
fn combined(name: &str, written: Written) -> Result<Credential, Refusal> {
    let malformed = |what: &str| {
        Refusal::new(
            Reason::Malformed,
            format!("{name} holds {what}: write tenant/key"),
        )
    };
    let (tenant, key) = written
        .text
        .split_once('/')
        .ok_or_else(|| malformed("no \"/\""))?;
    let (tenant, key) = (tenant.trim(), key.trim());
    if tenant.is_empty() || key.is_empty() {
        return Err(malformed("nothing on one side of its \"/\""));
    }
    Ok(Credential {
        key: parse_key(name, key)?,
        tenant: Some(tenant.to_owned()),
        tolerated: written.tolerated,
    })
}

/// The key and nothing else.
fn alone(name: &str, written: Written) -> Result<Credential, Refusal> {
    Ok(Credential {
        key: parse_key(name, &written.text)?,
        tenant: None,
        tolerated: written.tolerated,
    })
}

/// Tenant and key in two headers. A half without its other half is fine only beside a whole credential
/// that says the same.
fn pairs(headers: &HeaderMap, names: &HeaderNames, found: &mut Found) -> Result<(), Refusal> {
    let mut lone_instance = None;
    let mut lone_key = None;
    for pair in &names.pairs {
        let instance = value::single(headers, &pair.instance)?;
        let key = value::single(headers, &pair.key)?;
        match (instance, key) {
            (Some(instance), Some(key)) => {
                let mut whole = alone(&pair.key, key)?;
                whole.tenant = Some(instance.text);
                whole.tolerated.extend(instance.tolerated);
                found.add(whole)?;
            }
            (Some(instance), None) => lone_instance = Some((pair, instance)),
            (None, Some(key)) => lone_key = Some((pair, key)),
            (None, None) => {}
        }
    }
    if found.0.is_none() {
        let (here, missing) = match (&lone_instance, &lone_key) {
            (Some((pair, _)), _) => (&pair.instance, Cow::from(&pair.key)),
            (None, Some((pair, _))) => (&pair.key, Cow::from(instances_of(names, &pair.key))),
            (None, None) => return Ok(()),
        };
        return Err(Refusal::new(
            Reason::HalfPair,
            format!("{here} came without {missing}: send both"),
        ));
    }
    if let Some((_, instance)) = lone_instance {
        found.claim(instance.text)?;
    }
    if let Some((pair, key)) = lone_key {
        found.add(alone(&pair.key, key)?)?;
    }
    Ok(())
}

/// The headers that can stand beside a key header, as a list for people.
fn instances_of(names: &HeaderNames, key: &str) -> String {
    let instances: Vec<&str> = names
        .pairs
        .iter()
        .filter(|pair| pair.key.eq_ignore_ascii_case(key))
        .map(|pair| pair.instance.as_str())
        .collect();
    instances.join(" or ")
}

#[cfg(test)]
mod tests;
