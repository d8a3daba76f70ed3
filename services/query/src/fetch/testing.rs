//! What tests of fetching need: a scope of a tenant, and blocks as ClickHouse would send them.

use std::net::{IpAddr, Ipv4Addr};

use auth::directory::KeyDirectory;
use auth::directory::fixed::{FixedDirectory, NewKey};
use auth::key::KeyClass;
use auth::scope::Scope;
use auth::tenant::{Limits, Tenant, TenantId, TenantScope};
use auth::translation::Profile;

use crate::fetch::native::{Block, Decoder};

/// A directory with one tenant; a query key and an ingest key of it.
pub(crate) fn directory(tenant: &str) -> (FixedDirectory, String, String) {
    let mut directory = FixedDirectory::new().unwrap();
    let id = TenantId::new(tenant);
    directory
        .add_tenant(Tenant {
            id: id.clone(),
            slug: format!("{tenant}-slug"),
            plan: "standard".to_owned(),
            suspended: false,
            limits: Limits::standard(),
        })
        .unwrap();
    let mut issue = |class, scope| {
        let new = NewKey {
            tenant: id.clone(),
            name: "test".to_owned(),
            class,
            scopes: vec![scope],
            profile: Profile::Generic,
        };
        directory
            .issue(new, jiff::Timestamp::UNIX_EPOCH)
            .unwrap()
            .expose_once()
            .to_owned()
    };
    let query = issue(KeyClass::Query, Scope::Query);
    let ingest = issue(KeyClass::Ingest, Scope::Ingest);
    (directory, query, ingest)
}

/// Permission to read `tenant`, made the only way there is: by authenticating.
pub(crate) async fn scope(tenant: &str) -> TenantScope {
    let (directory, key, _) = directory(tenant);
    let key = auth::key::PresentedKey::parse(&key).unwrap();
    let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let principal = directory
        .verify(&key, None, peer, jiff::Timestamp::UNIX_EPOCH)
        .await
        .unwrap();
    principal.scope().unwrap()
}

/// Builds a block of format Native.
pub(crate) struct NativeBlock {
    rows: u8,
    columns: u8,
    body: Vec<u8>,
}

impl NativeBlock {
    pub(crate) fn new(rows: u8) -> Self {
        Self {
            rows,
            columns: 0,
            body: Vec::new(),
        }
    }

    pub(crate) fn column(mut self, name: &str, kind: &str, values: &[u8]) -> Self {
        for text in [name, kind] {
            self.body.push(u8::try_from(text.len()).unwrap());
            self.body.extend_from_slice(text.as_bytes());
        }
        self.body.extend_from_slice(values);
        self.columns += 1;
        self
    }

    pub(crate) fn u64s(self, name: &str, values: &[u64]) -> Self {
        self.column(
            name,
            "UInt64",
            &values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect::<Vec<_>>(),
        )
    }

    pub(crate) fn i64s(self, name: &str, values: &[i64]) -> Self {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.column(name, "DateTime64(3, 'UTC')", &bytes)
    }

    pub(crate) fn f64s(self, name: &str, values: &[f64]) -> Self {
        self.column(
            name,
            "Float64",
            &values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect::<Vec<_>>(),
        )
    }

    pub(crate) fn arrays(self, name: &str, lists: &[&[u64]]) -> Self {
        let ends = lists.iter().scan(0, |end, list| {
            *end += list.len() as u64;
            Some(*end)
        });
        let all = ends.chain(lists.iter().flat_map(|list| list.iter().copied()));
        self.column(
            name,
            "Array(UInt64)",
            &all.flat_map(u64::to_le_bytes).collect::<Vec<_>>(),
        )
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        [&[self.columns, self.rows][..], &self.body].concat()
    }
}

/// The block, as the decoder reads it.
pub(crate) fn block(native: &NativeBlock) -> Block {
    let mut decoder = Decoder::default();
    decoder.feed(&native.bytes());
    decoder.next_block().unwrap().unwrap()
}
