//! A seed → the metrics of the compliance suite's demo service: three instances, scraped every five seconds
//! across the end of a leap February.

use tests::oracle::Track;

use crate::oracle_random::Random;

/// First sample: 2024-02-29 22:35:00 UTC, milliseconds.
const FIRST: i64 = 1_709_246_100_000;
/// First step of the queries: 2024-02-29 23:55:00.
pub(crate) const START: i64 = FIRST + 80 * 60_000;
/// Last step: 2024-03-01 00:05:00.
pub(crate) const END: i64 = START + 10 * 60_000;
/// Between scrapes, milliseconds.
const SCRAPE: i64 = 5_000;
/// Scrapes: until twelve minutes after the last step, for negative offsets.
const SCRAPES: i64 = (END + 12 * 60_000 - FIRST) / SCRAPE;
/// Upper bounds of the histogram's buckets, seconds.
pub(crate) const BOUNDS: [f64; 8] = [0.0001, 0.0005, 0.001, 0.01, 0.1, 0.5, 2.5, 10.0];
/// The same as label values.
const LE: [&str; 9] = [
    "0.0001", "0.0005", "0.001", "0.01", "0.1", "0.5", "2.5", "10", "+Inf",
];

/// One point of the histogram.
pub(crate) struct Whole {
    pub(crate) labels: Vec<(&'static str, String)>,
    pub(crate) ts: i64,
    pub(crate) sum: f64,
    /// Per bucket.
    pub(crate) counts: Vec<u64>,
}

fn instances() -> impl Iterator<Item = String> {
    (10_000..10_003).map(|port| format!("demo.promlabs.com:{port}"))
}

/// A series whose value at each scrape `next` gives.
fn track(
    name: &str,
    instance: &str,
    more: &[(&str, &str)],
    mut next: impl FnMut(i64) -> Option<f64>,
) -> Track {
    let mut track = Track::new(
        name,
        &[more, &[("instance", instance), ("job", "demo")]].concat(),
    );
    track.samples = (0..SCRAPES)
        .filter_map(|scrape| Some((FIRST + scrape * SCRAPE, next(scrape)?)))
        .collect();
    track
}

/// Every series of the demo service.
pub(crate) fn tracks() -> Vec<Track> {
    let mut random = Random::new(1);
    let mut tracks = Vec::new();
    for instance in instances() {
        for (mode, share) in [("idle", 3.0), ("system", 0.3), ("user", 0.7)] {
            let mut total = 1000.0 * share;
            tracks.push(track(
                "demo_cpu_usage_seconds_total",
                &instance,
                &[("mode", mode)],
                |_| {
                    total += share * random.unit() * 5.0;
                    Some(total)
                },
            ));
        }
        for (kind, around) in [
            ("buffers", 3e8),
            ("cached", 6e8),
            ("free", 1.5e9),
            ("used", 2e9),
        ] {
            tracks.push(track(
                "demo_memory_usage_bytes",
                &instance,
                &[("type", kind)],
                |_| Some((around * (0.9 + 0.2 * random.unit())).floor()),
            ));
        }
        tracks.push(track("demo_num_cpus", &instance, &[], |_| Some(4.0)));
        let mut disk = 2.4e10;
        tracks.push(track("demo_disk_usage_bytes", &instance, &[], |_| {
            disk += (random.unit() * 1e6).floor();
            Some(disk)
        }));
        tracks.push(track("demo_disk_total_bytes", &instance, &[], |_| {
            Some(1e11)
        }));
        let mut success = FIRST / 1000 - 700;
        tracks.push(track(
            "demo_batch_last_success_timestamp_seconds",
            &instance,
            &[],
            |scrape| {
                let now = FIRST / 1000 + scrape * SCRAPE / 1000;
                if random.once_in(60) {
                    success = now;
                }
                Some(success as f64 + 0.25)
            },
        ));
        tracks.push(intermittent(&instance, &mut random));
    }
    tracks.extend(histogram_series());
    tracks
}

/// Comes and goes: after each stretch with values one scrape says that it is gone.
fn intermittent(instance: &str, random: &mut Random) -> Track {
    let mut shown = true;
    track("demo_intermittent_metric", instance, &[], |scrape| {
        let before = shown;
        if scrape % 12 == 0 {
            shown = random.once_in(2);
        }
        match (before, shown) {
            (_, true) => Some(1.0),
            (true, false) => Some(Track::STALE),
            (false, false) => None,
        }
    })
}

/// Every point of the histogram, in order of time for each series.
pub(crate) fn whole() -> Vec<Whole> {
    let mut random = Random::new(2);
    let mut points = Vec::new();
    for instance in instances() {
        for method in ["GET", "POST"] {
            let mut counts = vec![0_u64; LE.len()];
            let mut sum = 0.0;
            for scrape in 0..SCRAPES {
                for (count, weight) in counts.iter_mut().zip([1, 2, 5, 20, 30, 10, 4, 2, 1]) {
                    *count += u64::from(random.below(weight + 1));
                }
                sum += random.unit() * 3.0;
                // The service starts again in the middle.
                if scrape == SCRAPES / 2 {
                    counts.fill(0);
                    sum = 0.0;
                }
                points.push(Whole {
                    labels: vec![
                        ("instance", instance.clone()),
                        ("job", "demo".to_owned()),
                        ("method", method.to_owned()),
                        ("path", "/api/foo".to_owned()),
                        ("status", "200".to_owned()),
                    ],
                    ts: FIRST + scrape * SCRAPE,
                    sum,
                    counts: counts.clone(),
                });
            }
        }
    }
    points
}

/// The same as numbers, as Prometheus scrapes it.
fn histogram_series() -> Vec<Track> {
    let mut tracks: Vec<Track> = Vec::new();
    let mut add = |suffix: &str, point: &Whole, le: Option<&str>, value: f64| {
        let mut pairs: Vec<(&str, &str)> = point
            .labels
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        pairs.extend(le.map(|le| ("le", le)));
        let made = Track::new(
            &format!("demo_api_request_duration_seconds{suffix}"),
            &pairs,
        );
        let sample = (point.ts, value);
        match tracks.iter_mut().find(|track| track.labels == made.labels) {
            Some(track) => track.samples.push(sample),
            None => tracks.push(Track {
                samples: vec![sample],
                ..made
            }),
        }
    };
    for point in whole() {
        let mut below = 0;
        for (le, count) in LE.iter().zip(&point.counts) {
            below += count;
            add("_bucket", &point, Some(le), below as f64);
        }
        add("_count", &point, None, below as f64);
        add("_sum", &point, None, point.sum);
    }
    tracks
}
