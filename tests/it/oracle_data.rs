//! A seed → series with all that makes arithmetic hard: resets, gaps, stale markers, NaN, ±Inf, huge values.

use tests::oracle::Track;

use crate::oracle_random::Random;

/// First sample: 2024-06-15 23:30:00 UTC, milliseconds; the series cross midnight.
pub(crate) const FIRST: i64 = 1_718_494_200_000;
/// Between samples, milliseconds; 50 minutes in all, which a Prometheus takes in any order of series.
const EVERY: i64 = 15_000;
const SAMPLES: i64 = 200;

/// All series.
pub(crate) fn tracks() -> Vec<Track> {
    let mut random = Random::new(3);
    let mut tracks = Vec::new();
    for a in ["x", "y", "z"] {
        for b in ["1", "2"] {
            let pairs = [("a", a), ("b", b)];
            for name in ["g", "mixed", "big"] {
                let mut track = Track::new(name, &pairs);
                fill(&mut track, &mut random, name);
                tracks.push(track);
            }
            let mut counter = Track::new("c_total", &[("a", a), ("b", b), ("job", "one")]);
            fill(&mut counter, &mut random, "c_total");
            tracks.push(counter);
        }
        let mut info = Track::new("one", &[("a", a), ("extra", "e")]);
        fill(&mut info, &mut random, "one");
        tracks.push(info);
        tracks.extend(histogram(a, &mut random));
    }
    tracks
}

fn fill(track: &mut Track, random: &mut Random, kind: &str) {
    let mut value = 10.0 * random.unit();
    let jitter = i64::from(random.below(5000));
    for step in 0..SAMPLES {
        let ts = FIRST + step * EVERY + jitter;
        if kind != "one" && random.once_in(12) {
            continue;
        }
        if kind != "one" && random.once_in(40) {
            track.samples.push((ts, Track::STALE));
            continue;
        }
        value = match kind {
            "c_total" if random.once_in(25) => random.unit(),
            "c_total" => value + random.unit() * 7.0,
            "g" => (random.unit() - 0.5) * 100.0,
            "big" => 1e15 + f64::from(random.below(1000)) * 0.125,
            "one" => 1.0,
            _ => odd(random),
        };
        track.samples.push((ts, value));
    }
}

/// Any kind of value.
fn odd(random: &mut Random) -> f64 {
    match random.below(16) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => 1e15,
        4 => -1e15,
        5 => 0.0,
        6 => 1e-300,
        7 => 1e308,
        8..=10 => f64::from(random.below(10)),
        _ => random.unit() - 0.5,
    }
}

fn histogram(a: &str, random: &mut Random) -> Vec<Track> {
    let bounds = ["0.1", "0.5", "1", "5", "+Inf"];
    let mut tracks = bounds.map(|le| Track::new("h_bucket", &[("a", a), ("le", le)]));
    let mut counts = [0.0; 5];
    for step in 0..SAMPLES {
        if random.once_in(70) {
            counts.fill(0.0);
        }
        let mut below = 0.0;
        for (track, count) in tracks.iter_mut().zip(&mut counts) {
            *count += f64::from(random.below(9));
            below += *count;
            track.samples.push((FIRST + step * EVERY, below));
        }
    }
    tracks.to_vec()
}
