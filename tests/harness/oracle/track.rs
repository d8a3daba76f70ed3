//! Labels and samples → one series of a test, as both systems get it.

use crate::ask::Labels;

/// One series and its samples in order of time.
#[derive(Clone, Debug)]
pub struct Track {
    /// With `__name__`.
    pub labels: Labels,
    /// Milliseconds since the epoch, and the value; [`Track::STALE`] ends the series there.
    pub samples: Vec<(i64, f64)>,
}

impl Track {
    /// The stale marker, a NaN of its own.
    pub const STALE: f64 = f64::from_bits(0x7ff0_0000_0000_0002);

    /// Whether a value is the stale marker.
    #[must_use]
    pub fn is_stale(value: f64) -> bool {
        value.to_bits() == Self::STALE.to_bits()
    }

    /// A series without samples.
    #[must_use]
    pub fn new(name: &str, pairs: &[(&str, &str)]) -> Self {
        let mut labels = crate::ask::labels(pairs.iter().copied());
        labels.insert("__name__".to_owned(), name.to_owned());
        Self {
            labels,
            samples: Vec::new(),
        }
    }

    /// The name; empty where there is none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.labels.get("__name__").map_or("", String::as_str)
    }
}
