//! A path → the export endpoint, or what to change about it.

/// Where a path leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Metrics are pushed here.
    Metrics,
    /// Nothing is here; the text says where to go.
    Nowhere(&'static str),
}

/// Looks `path` up. Doubled and trailing slashes do not count.
pub(crate) fn route(path: &str) -> Route {
    let segments: Vec<&str> = path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();
    match segments.as_slice() {
        ["v1", "metrics"]
        | ["otlp" | "opentelemetry", "v1", "metrics"]
        | ["api", "v1", "otlp", "v1", "metrics"] => Route::Metrics,
        [front @ .., "v1", "metrics" | "logs" | "traces"] if names_a_signal(front) => {
            Route::Nowhere(
                "the exporter appends /v1/metrics itself: set its endpoint to https://HOST (you configured \
             https://HOST/v1/metrics), or set the metrics endpoint to https://HOST/v1/metrics",
            )
        }
        [.., "v1", "logs"] => Route::Nowhere(
            "logs are not accepted by this version: switch the logs exporter off and push metrics to /v1/metrics",
        ),
        [.., "v1", "traces"] => Route::Nowhere(
            "traces are not accepted here: switch the traces exporter off and push metrics to /v1/metrics",
        ),
        [.., "v1development", "profiles"] => {
            Route::Nowhere("profiles are not accepted here: push metrics to /v1/metrics")
        }
        ["api", "v1", "write" | "push"] => Route::Nowhere(
            "remote write is not accepted here: push OTLP to /v1/metrics, for example with an OpenTelemetry Collector",
        ),
        [] | ["otlp" | "opentelemetry"] | ["api", "v1", "otlp"] => Route::Nowhere(
            "metrics are pushed to /v1/metrics under this address: the exporter's endpoint lacks that path",
        ),
        _ => Route::Nowhere("there is nothing here: metrics are pushed to /v1/metrics"),
    }
}

fn names_a_signal(segments: &[&str]) -> bool {
    segments
        .windows(2)
        .any(|pair| matches!(pair, ["v1", "metrics" | "logs" | "traces"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_and_slashes_lead_to_the_same_place() {
        for path in [
            "/v1/metrics",
            "/v1/metrics/",
            "//v1/metrics",
            "/v1//metrics//",
            "/otlp/v1/metrics",
            "/otlp//v1/metrics",
            "/api/v1/otlp/v1/metrics",
            "/opentelemetry/v1/metrics",
        ] {
            assert_eq!(route(path), Route::Metrics, "{path}");
        }
    }

    #[test]
    fn other_paths_say_what_to_change() {
        for (path, hint) in [
            ("/v1/metrics/v1/metrics", "appends /v1/metrics itself"),
            ("/otlp/v1/metrics/v1/metrics", "appends /v1/metrics itself"),
            ("/v1/logs/v1/metrics", "appends /v1/metrics itself"),
            ("/v1/metrics/v1/logs", "appends /v1/metrics itself"),
            ("/v1/logs", "logs are not accepted by this version"),
            ("/otlp/v1/traces", "traces are not accepted"),
            ("/v1development/profiles", "profiles"),
            ("/api/v1/write", "remote write"),
            ("/", "lacks that path"),
            ("/otlp/", "lacks that path"),
            ("/metrics", "nothing here"),
            ("/V1/METRICS", "nothing here"),
        ] {
            let Route::Nowhere(remedy) = route(path) else {
                panic!("{path} leads somewhere");
            };
            assert!(remedy.contains(hint), "{path}: {remedy}");
            assert!(remedy.contains("/v1/metrics"), "{path}: {remedy}");
        }
    }
}
