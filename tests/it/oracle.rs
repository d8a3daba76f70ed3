//! PromQL through real tables and HTTP: held against a running Prometheus, against Prometheus' own corpus,
//! and against the mistakes that other systems have made.
#![expect(
    clippy::panic,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::string_slice,
    clippy::cast_precision_loss,
    reason = "a test that cannot go on stops with the reason"
)]

mod oracle_ledger;
mod oracle_compare;
mod oracle_random;
mod oracle_data;
mod oracle_generate;
mod oracle_property;
mod oracle_elementary;
mod oracle_order;
mod compliance;
mod compliance_data;
mod corpus;
mod corpus_http;
mod blackbox;
mod blackbox_tables;

// The reader of the corpus' notation belongs to the engine's tests; it is the same notation here.
#[path = "../../services/promql/tests/corpus/script.rs"]
mod script;
#[path = "../../services/promql/tests/corpus/sequence.rs"]
mod sequence;
#[path = "../../services/promql/tests/corpus/histograms.rs"]
mod histograms;
#[path = "../../services/promql/tests/corpus/expect.rs"]
mod expect;
#[path = "../../services/promql/tests/corpus/compare.rs"]
mod compare;
