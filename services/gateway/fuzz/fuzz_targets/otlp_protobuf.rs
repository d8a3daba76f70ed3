//! Any bytes are decoded as OTLP/protobuf or refused, without a panic.

#![no_main]

use bumpalo::Bump;
use gateway::decode::{Encoding, metrics};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| drop(metrics(Encoding::Protobuf, body, 1 << 30, &Bump::new())));
