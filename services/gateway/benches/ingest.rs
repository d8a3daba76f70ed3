//! Pushes as providers send them in, samples per CPU-second out: each stage between wire and spool, and all of them.
//!
//! A histogram point counts as the samples that a Prometheus-like store would hold of it: one a bucket (with
//! +Inf), `_count` and `_sum`. Time is what this thread had of a processor, so that others on the machine do not
//! matter much. `cargo bench -p gateway --bench ingest [-- PART OF A NAME]`.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program that prints figures"
)]

mod pushes;

use std::hint::black_box;
use std::io::Read;

use auth::tenant::{Limits, Tenant, TenantId};
use auth::translation::{Profile, Translation};
use bumpalo::Bump;
use flate2::bufread::MultiGzDecoder;
use gateway::batch::Batch;
use gateway::decode::{Decoded, Encoding, metrics};
use gateway::known::Known;
use gateway::translate::{Context, TranslatedBatch, translate};

use self::pushes::{NOW_MS, Scenario};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// CPU time of one measurement, nanoseconds.
const LENGTH: u64 = 40_000_000;
const RUNS: usize = 25;
/// Most memory of the decoded messages of a push.
const ROOM: u64 = 256 << 20;

fn main() {
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    for scenario in pushes::all() {
        if wanted
            .as_ref()
            .is_none_or(|part| scenario.name.contains(part.as_str()))
        {
            measure(&scenario);
        }
    }
}

/// What a push goes through, with what the gateway knows while it does.
struct Gateway {
    tenant: Tenant,
    translation: Translation,
    known: Known,
}

impl Gateway {
    fn new(profile: Profile) -> Self {
        Self {
            tenant: Tenant {
                id: TenantId::new("ten_bench"),
                slug: "bench".to_owned(),
                plan: "unlimited".to_owned(),
                suspended: false,
                limits: Limits::unlimited(),
            },
            translation: Translation::of(profile),
            known: Known::new(2_000_000),
        }
    }

    fn translate(&self, encoding: Encoding, plain: &[u8]) -> TranslatedBatch {
        let arena = Bump::with_capacity(plain.len());
        let decoded = decode(encoding, plain, &arena);
        let context = Context {
            tenant: &self.tenant,
            translation: &self.translation,
            now_ms: NOW_MS,
        };
        translate(&decoded.request, &context, &self.known)
    }
}

fn inflate(wire: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    MultiGzDecoder::new(wire)
        .read_to_end(&mut plain)
        .expect("gzip");
    plain
}

fn decode<'b>(encoding: Encoding, plain: &'b [u8], arena: &'b Bump) -> Decoded<'b> {
    metrics(encoding, plain, ROOM, arena).expect("a push")
}

fn measure(scenario: &Scenario) {
    let gateway = Gateway::new(scenario.profile);
    let encoding = scenario.encoding;
    let plain: Vec<Vec<u8>> = scenario.wire.iter().map(|wire| inflate(wire)).collect();
    let bytes = |bodies: &[Vec<u8>]| bodies.iter().map(Vec::len).sum::<usize>() / bodies.len();
    println!(
        "{}: {} samples in {} points a push, {} bytes, {} gzipped",
        scenario.name,
        scenario.samples,
        scenario.points,
        bytes(&plain),
        bytes(&scenario.wire)
    );
    let batches: Vec<Batch> = plain
        .iter()
        .map(|plain| {
            let translated = gateway.translate(encoding, plain);
            assert_eq!(translated.tally.accepted(), scenario.points);
            gateway.known.remember(translated.fresh);
            gateway.translate(encoding, plain).batch
        })
        .collect();
    let record = |batch: &Batch| batch.encode().expect("a record");
    let rows = |plain: &Vec<u8>| gateway.translate(encoding, plain).batch;
    let gunzip = nanos(&scenario.wire, |wire| inflate(wire));
    let decoding = nanos(&plain, |plain| {
        decode(encoding, plain, &Bump::with_capacity(plain.len()))
            .request
            .resource_metrics
            .len()
    });
    let translating = nanos(&plain, rows) - decoding;
    let recording = nanos(&batches, record);
    let all = nanos(&scenario.wire, |wire| record(&rows(&inflate(wire))));
    show(scenario, "gunzip", gunzip);
    show(scenario, "decode", decoding);
    show(scenario, "translate", translating);
    show(scenario, "record", recording);
    show(
        scenario,
        "decode to record",
        decoding + translating + recording,
    );
    show(scenario, "all", all);
}

fn show(scenario: &Scenario, stage: &str, nanos: f64) {
    let rate = scenario.samples as f64 * 1e3 / nanos;
    println!(
        "  {stage:16} {:9.2} µs a push {rate:8.2} M samples per CPU-second",
        nanos / 1e3
    );
}

/// CPU time of `stage` for one input, the best of several measurements.
fn nanos<I, O>(inputs: &[I], stage: impl Fn(&I) -> O) -> f64 {
    let one = || {
        let (start, mut rounds) = (cpu(), 0_u32);
        loop {
            for input in inputs {
                black_box(stage(black_box(input)));
            }
            rounds += 1;
            let took = cpu() - start;
            if took >= LENGTH {
                return took as f64 / f64::from(rounds) / inputs.len() as f64;
            }
        }
    };
    (0..RUNS).map(|_| one()).fold(f64::INFINITY, f64::min)
}

/// Nanoseconds that this thread had of a processor.
fn cpu() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let first = text.split(' ').next().expect("a number");
    first.parse().expect("a number")
}
