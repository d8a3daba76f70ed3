//! A directory in a file: who gets in, what the others are told, and what the file looks like.

use jiff::ToSpan;
use runtime::error::ErrorKind as Kind;

use super::*;
use crate::directory::authenticate;
use crate::extract::HeaderNames;
use crate::refusal::Reason;
use crate::tenant::Limits;

const NOW: &str = "2026-11-01T12:00:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn tenant(id: &str, slug: &str) -> Tenant {
    Tenant {
        id: TenantId::new(id),
        slug: slug.to_owned(),
        plan: "standard".to_owned(),
        suspended: false,
        limits: Limits::standard(),
    }
}

fn new_key(class: KeyClass, scope: Scope) -> NewKey {
    NewKey {
        tenant: TenantId::new("ten_acme"),
        name: "prod".to_owned(),
        class,
        scopes: vec![scope],
        profile: Profile::Crusoe,
    }
}

fn directory() -> (FixedDirectory, PlainKey) {
    let mut directory = FixedDirectory::new().unwrap();
    directory.add_tenant(tenant("ten_acme", "acme")).unwrap();
    directory.add_tenant(tenant("ten_other", "other")).unwrap();
    let key = directory
        .issue(new_key(KeyClass::Ingest, Scope::Ingest), now())
        .unwrap();
    (directory, key)
}

fn ask(
    directory: &FixedDirectory,
    key: &PresentedKey,
    claimed: Option<&str>,
) -> Result<Arc<Principal>, Refusal> {
    directory.look_up(key, claimed, "192.0.2.7".parse().unwrap(), now())
}

#[test]
fn the_right_key_stands_for_its_tenant_by_id_slug_or_no_name() {
    let (directory, key) = directory();
    for claimed in [None, Some("acme"), Some("ten_acme")] {
        let principal = ask(&directory, key.as_presented(), claimed).unwrap();
        assert_eq!(principal.tenant().id, TenantId::new("ten_acme"));
        assert_eq!(&principal.key().kid, key.kid());
        assert!(
            principal.translation().keep_point_instance,
            "profile crusoe"
        );
    }
}

#[test]
fn an_unknown_key_and_a_wrong_secret_are_told_the_same() {
    let (mut directory, key) = directory();
    let stranger = PlainKey::generate(KeyClass::Ingest).unwrap();
    let unknown = ask(&directory, stranger.as_presented(), None).unwrap_err();
    // The record's verifier is of another key: the presented secret is wrong.
    let other = directory.pepper.verifier(stranger.as_presented());
    directory
        .change_key(key.kid(), |record| {
            record.verifier = other;
            record.status = KeyStatus::Revoked;
        })
        .unwrap();
    let wrong = ask(&directory, key.as_presented(), Some("nobody")).unwrap_err();
    assert_eq!(unknown, wrong);
    assert_eq!(unknown.reason, Reason::UnknownKey);
    assert_eq!(unknown.kind(), Kind::Unauthenticated);
}

#[test]
fn whoever_has_the_secret_is_told_why_it_does_not_work() {
    let (mut directory, key) = directory();
    let mut after = |change: fn(&mut KeyRecord)| {
        let fresh = directory
            .issue(new_key(KeyClass::Ingest, Scope::Ingest), now())
            .unwrap();
        directory.change_key(fresh.kid(), change).unwrap();
        let refusal = ask(&directory, fresh.as_presented(), Some("acme")).unwrap_err();
        (
            refusal.kind(),
            refusal.reason,
            refusal.public.replace(fresh.kid().as_str(), "KID"),
        )
    };
    assert_eq!(
        after(|record| {
            record.status = KeyStatus::Revoked;
            record.revoked_at = Some(now() - 1.hour());
        }),
        (
            Kind::Unauthenticated,
            Reason::Revoked,
            "key KID was revoked at 2026-11-01T11:00:00Z: use another key".to_owned()
        )
    );
    assert_eq!(
        after(|record| record.expires_at = Some(now())),
        (
            Kind::Unauthenticated,
            Reason::Expired,
            "key KID expired at 2026-11-01T12:00:00Z: make a new one".to_owned()
        )
    );
    let (kind, reason, _) = after(|record| record.status = KeyStatus::Suspended);
    assert_eq!((kind, reason), (Kind::Forbidden, Reason::KeySuspended));
    let (kind, reason, text) =
        after(|record| record.allowed_cidrs = vec!["10.0.0.0/8".parse().unwrap()]);
    assert_eq!((kind, reason), (Kind::Forbidden, Reason::Network));
    assert!(text.contains("(192.0.2.7)"), "{text}");
    let mismatch = ask(&directory, key.as_presented(), Some("other")).unwrap_err();
    assert_eq!(
        (mismatch.kind(), mismatch.reason),
        (Kind::Unauthenticated, Reason::TenantMismatch)
    );
}

#[test]
fn a_key_works_until_the_moment_it_expires_and_inside_its_networks() {
    let (mut directory, key) = directory();
    directory
        .change_key(key.kid(), |record| {
            record.expires_at = Some(now() + 1.nanosecond());
            record.allowed_cidrs = vec![
                "2001:db8::/32".parse().unwrap(),
                "192.0.2.0/24".parse().unwrap(),
            ];
        })
        .unwrap();
    ask(&directory, key.as_presented(), None).unwrap();
    let mapped = "::ffff:192.0.2.9".parse().unwrap();
    directory
        .look_up(key.as_presented(), None, mapped, now())
        .unwrap();
}

#[test]
fn a_suspended_tenant_is_refused_with_403() {
    let mut directory = FixedDirectory::new().unwrap();
    let mut acme = tenant("ten_acme", "acme");
    acme.suspended = true;
    directory.add_tenant(acme).unwrap();
    let key = directory
        .issue(new_key(KeyClass::Query, Scope::Query), now())
        .unwrap();
    let refusal = ask(&directory, key.as_presented(), None).unwrap_err();
    assert_eq!(refusal.kind(), Kind::Forbidden);
    assert_eq!(refusal.public, "tenant acme is suspended: ask the operator");
}

#[test]
fn scopes_open_what_they_name_and_the_403_names_what_is_missing() {
    let (mut directory, ingest) = directory();
    let ingest = ask(&directory, ingest.as_presented(), None).unwrap();
    ingest.may(Scope::MetricsWrite).unwrap();
    ingest.may(Scope::LogsWrite).unwrap();
    let wrong_class = ingest.scope().unwrap_err();
    assert_eq!(wrong_class.reason, Reason::WrongClass);
    assert!(
        wrong_class.public.contains("class query (slcq_…)"),
        "{wrong_class:?}"
    );

    let query = directory
        .issue(new_key(KeyClass::Query, Scope::LogsRead), now())
        .unwrap();
    let query = ask(&directory, query.as_presented(), None).unwrap();
    let lacking = query.scope().unwrap_err();
    assert_eq!(
        (lacking.kind(), lacking.reason),
        (Kind::Forbidden, Reason::MissingScope)
    );
    assert!(
        lacking.public.contains("lacks the scope metrics:read"),
        "{lacking:?}"
    );

    let reader = directory
        .issue(new_key(KeyClass::Query, Scope::Query), now())
        .unwrap();
    let reader = ask(&directory, reader.as_presented(), None).unwrap();
    assert_eq!(reader.scope().unwrap().tenant(), &TenantId::new("ten_acme"));

    let operator = directory
        .issue(new_key(KeyClass::Admin, Scope::Operator), now())
        .unwrap();
    let operator = ask(&directory, operator.as_presented(), None).unwrap();
    assert_eq!(
        operator.may(Scope::MetricsWrite).unwrap_err().reason,
        Reason::WrongClass
    );
    operator.may(Scope::TenantsWrite).unwrap();
}

#[test]
fn a_saved_directory_is_private_and_reads_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    let (mut directory, key) = directory();
    directory.save(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        !text.contains(key.expose_once()),
        "the key itself is not kept"
    );

    let read = FixedDirectory::load(&path).unwrap();
    ask(&read, key.as_presented(), Some("acme")).unwrap();
    assert_eq!(read.tenants(), directory.tenants());
    let second = directory
        .issue(new_key(KeyClass::Ingest, Scope::Ingest), now())
        .unwrap();
    directory.save(&path).unwrap();
    ask(
        &FixedDirectory::load(&path).unwrap(),
        second.as_presented(),
        None,
    )
    .unwrap();
}

#[test]
fn a_file_that_others_can_read_or_that_is_odd_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    let missing = FixedDirectory::load(&path).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read /"), "{missing}");

    let (directory, _) = directory();
    directory.save(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let open = FixedDirectory::load(&path).unwrap_err().to_string();
    assert!(
        open.contains("mode 640") && open.contains("chmod 600"),
        "{open}"
    );

    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"tenants\"", "\"tenant\"", 1)).unwrap();
    let odd = FixedDirectory::load(&path).unwrap_err();
    assert!(matches!(odd, FixedError::Format { .. }), "{odd}");
}

#[test]
fn contradictions_are_refused() {
    let (mut directory, key) = directory();
    assert!(directory.add_tenant(tenant("ten_new", "acme")).is_err());
    assert!(directory.add_tenant(tenant("acme", "new")).is_err());
    let mut nobody = new_key(KeyClass::Ingest, Scope::Ingest);
    nobody.tenant = TenantId::new("ten_nobody");
    assert!(directory.issue(nobody, now()).is_err());
    let odd = directory.issue(new_key(KeyClass::Ingest, Scope::MetricsRead), now());
    assert_eq!(
        odd.unwrap_err().to_string(),
        "scope metrics:read is not for keys of class ingest"
    );
    let moved = directory.change_key(key.kid(), |record| record.tenant = TenantId::new("gone"));
    assert!(moved.is_err());
    ask(&directory, key.as_presented(), None).unwrap();
}

#[test]
fn a_request_is_authenticated_from_its_headers() {
    let (directory, key) = directory();
    let mut headers = http::HeaderMap::new();
    let value = format!("'{}'", key.expose_once());
    headers.insert("api-key", value.parse().unwrap());
    let peer = "192.0.2.7".parse().unwrap();
    let names = HeaderNames::default();
    let answer = authenticate(&directory, &headers, &names, peer, now());
    let caller = at_once(answer).unwrap();
    assert_eq!(caller.principal.tenant().slug, "acme");
    assert_eq!(caller.tolerated.len(), 1);
    assert!(!format!("{caller:?}{directory:?}").contains(key.expose_once()));
}

/// Runs a future that never waits.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(answer) => answer,
        std::task::Poll::Pending => panic!("a directory in memory answers at once"),
    }
}

#[test]
fn a_retention_that_storage_cannot_hold_is_refused_by_name() {
    let mut directory = FixedDirectory::new().unwrap();
    for days in [0, 20_001, u16::MAX] {
        let mut long = tenant("ten_long", "long");
        long.limits.retention_days = days;
        let refused = directory.add_tenant(long).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!(
                "limits of tenant ten_long: retention_days is {days}, but must be from 1 to 20000"
            )
        );
    }
}
