//! A gateway's metrics → the moment when everything that it has acknowledged is stored.

use std::time::Duration;

use crate::process::until;

/// Longest wait for ClickHouse to take what waits.
const DELIVERY: Duration = Duration::from_secs(120);

/// A gateway, by its admin port.
#[derive(Clone, Debug)]
pub struct Gateway {
    http: reqwest::Client,
    metrics: String,
}

impl Gateway {
    /// The gateway whose metrics are at `admin`/metrics.
    #[must_use]
    pub fn new(http: reqwest::Client, admin: &str) -> Self {
        let metrics = format!("{admin}/metrics");
        Self { http, metrics }
    }

    /// Waits until nothing acknowledged waits for ClickHouse.
    ///
    /// # Panics
    /// When that takes too long.
    pub async fn delivered(&self) {
        until(DELIVERY, "the spool to be delivered", async || {
            (self.value("sluice_gateway_spool_waiting_segments").await? == 0.0).then_some(())
        })
        .await;
    }

    /// The value of a metric without labels; `None` while there is none.
    pub async fn value(&self, name: &str) -> Option<f64> {
        let answer = self.http.get(&self.metrics).send().await.ok()?;
        let text = answer.text().await.ok()?;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.parse().ok()
    }
}
