//! What the gateway counts about itself.

use auth::refusal;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use runtime::metrics::Metrics;

use crate::outcome::Tally;

/// Upper bounds of the duration histogram, seconds.
const SECONDS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0,
];

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ending {
    class: &'static str,
    kind: &'static str,
}

/// Why something was turned away.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Why {
    reason: &'static str,
}

/// The gateway's metrics; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Gauges {
    requests: Family<Ending, Counter>,
    refusals: Family<Why, Counter>,
    accepted: Counter,
    rejected: Family<Why, Counter>,
    wire_bytes: Counter,
    plain_bytes: Counter,
    duration: Histogram,
    pub(crate) in_flight_requests: Gauge,
    pub(crate) in_flight_bytes: Gauge,
}

impl Gauges {
    /// Registers all metrics, so that they show before the first push.
    pub(crate) fn register(metrics: &Metrics) -> Self {
        let gauges = Self {
            requests: Family::default(),
            refusals: Family::default(),
            accepted: Counter::default(),
            rejected: Family::default(),
            wire_bytes: Counter::default(),
            plain_bytes: Counter::default(),
            duration: Histogram::new(SECONDS),
            in_flight_requests: Gauge::default(),
            in_flight_bytes: Gauge::default(),
        };
        for reason in refusal::Reason::ALL {
            drop(gauges.refusals.get_or_create(&Why {
                reason: reason.code(),
            }));
        }
        metrics.register(|registry| gauges.show(registry.sub_registry_with_prefix("gateway")));
        gauges
    }

    fn show(&self, registry: &mut Registry) {
        let all = self.clone();
        registry.register(
            "requests",
            "Requests, by class of status and kind of failure",
            all.requests,
        );
        registry.register(
            "auth_refusals",
            "Requests turned away by authentication",
            all.refusals,
        );
        registry.register("points_accepted", "Data points taken", all.accepted);
        registry.register(
            "points_rejected",
            "Data points of accepted requests not stored",
            all.rejected,
        );
        registry.register("wire_bytes", "Bytes of bodies as sent", all.wire_bytes);
        registry.register(
            "plain_bytes",
            "Bytes of bodies after decompression",
            all.plain_bytes,
        );
        registry.register_with_unit(
            "request_duration",
            "Time to answer",
            Unit::Seconds,
            all.duration,
        );
        registry.register(
            "in_flight_requests",
            "Requests in work",
            all.in_flight_requests,
        );
        registry.register(
            "in_flight_bytes",
            "Bytes of bodies in work",
            all.in_flight_bytes,
        );
    }

    /// A request that ended; `kind` is `ok` for a success.
    pub(crate) fn request(&self, status: u16, kind: &'static str, seconds: f64) {
        let class = match status {
            200..=299 => "2xx",
            400..=499 => "4xx",
            _ => "5xx",
        };
        self.requests.get_or_create(&Ending { class, kind }).inc();
        self.duration.observe(seconds);
    }

    /// A sender that was turned away.
    pub(crate) fn refusal(&self, reason: refusal::Reason) {
        self.refusals
            .get_or_create(&Why {
                reason: reason.code(),
            })
            .inc();
    }

    /// A body that was read.
    pub(crate) fn body(&self, wire: u64, plain: u64) {
        self.wire_bytes.inc_by(wire);
        self.plain_bytes.inc_by(plain);
    }

    /// Points that are stored, and those that are not.
    pub(crate) fn points(&self, tally: &Tally) {
        self.accepted.inc_by(tally.accepted());
        for (reason, points) in tally.reasons() {
            self.rejected
                .get_or_create(&Why {
                    reason: reason.name(),
                })
                .inc_by(points);
        }
    }
}
