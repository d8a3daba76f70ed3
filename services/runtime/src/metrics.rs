//! One registry a process: services register their metrics here, the admin port shows them.

use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

/// The metrics of a process; cheap to clone.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Mutex<Registry>>);

impl Metrics {
    /// An empty registry; every name gets the prefix `sluice_`.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Registry::with_prefix("sluice"))))
    }

    /// Lets a service add its metrics. Called once a service at start, never on a hot path.
    pub fn register<T>(&self, add: impl FnOnce(&mut Registry) -> T) -> T {
        add(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The OpenMetrics text of all metrics.
    ///
    /// # Errors
    /// Only if a metric's own encoder fails.
    pub fn render(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(
            &mut text,
            &self.0.lock().unwrap_or_else(PoisonError::into_inner),
        )?;
        Ok(text)
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}
