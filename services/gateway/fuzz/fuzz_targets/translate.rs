//! Any request that decodes is translated with every point counted once.

#![no_main]

use auth::tenant::{Limits, Tenant, TenantId};
use auth::translation::{NamingStrategy, Translation};
use bumpalo::Bump;
use gateway::decode::{Encoding, metrics, points_in};
use gateway::known::Known;
use gateway::translate::{Context, translate};
use libfuzzer_sys::fuzz_target;

const NOW_MS: i64 = 1_793_534_400_000;

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, body) = input;
    let encoding = if choice & 1 == 0 {
        Encoding::Json
    } else {
        Encoding::Protobuf
    };
    let arena = Bump::new();
    let Ok(decoded) = metrics(encoding, body, 1 << 30, &arena) else {
        return;
    };
    let tenant = Tenant {
        id: TenantId::new("ten_fuzz"),
        slug: "fuzz".to_owned(),
        plan: "standard".to_owned(),
        suspended: false,
        limits: Limits::standard(),
    };
    let strategy = match choice >> 1 & 3 {
        0 => NamingStrategy::UnderscoreEscapingWithSuffixes,
        1 => NamingStrategy::UnderscoreEscapingWithoutSuffixes,
        2 => NamingStrategy::NoUtf8EscapingWithSuffixes,
        _ => NamingStrategy::NoTranslation,
    };
    let translation = Translation {
        strategy,
        scope_labels: choice & 8 != 0,
        ..Translation::default()
    };
    let points = u64::try_from(points_in(&decoded.request)).unwrap_or(u64::MAX);
    let context = Context {
        tenant: &tenant,
        translation: &translation,
        now_ms: NOW_MS,
    };
    let batch = translate(&decoded.request, &context, &Known::new(1000));
    assert_eq!(batch.tally.accepted() + batch.tally.rejected(), points);
});
