//! The cheap handles that a request may use.

use std::sync::Arc;

use auth::directory::KeyDirectory;
use auth::extract::HeaderNames;
use tokio::time::Instant;

use crate::budget::{Budget, Gate, NoTurn, Turn};
use crate::config::Config;
use crate::fetch::Fetcher;
use crate::http::reader::Reader;
use crate::metrics::QueryMetrics;

/// Shared by all requests.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) directory: Arc<dyn KeyDirectory>,
    pub(crate) headers: Arc<HeaderNames>,
    pub(crate) config: Arc<Config>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) fetcher: Arc<Fetcher>,
    pub(crate) metrics: QueryMetrics,
    /// When the service started.
    pub(crate) started: jiff::Timestamp,
}

impl App {
    /// What a query of `reader` that must end at `deadline` may use.
    pub(crate) fn budget(&self, reader: &Reader, deadline: Instant) -> Budget {
        Budget {
            samples: self.config.max_samples,
            series: self.config.max_series,
            bytes: self.config.max_bytes.as_u64(),
            deadline,
            both_views: reader.principal.tenant().limits.list_both_histogram_views,
        }
    }

    /// Waits for the turn of a request that reads labels alone; answers what it may use.
    pub(crate) async fn admit(&self, reader: &Reader) -> Result<(Turn, Budget), NoTurn> {
        let budget = self.budget(reader, Instant::now() + self.config.timeout);
        let turn = self
            .gate
            .enter(reader.scope.tenant(), budget.deadline)
            .await?;
        Ok((turn, budget))
    }
}
