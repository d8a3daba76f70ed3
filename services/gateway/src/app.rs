//! Settings and connections → the handles that every request works with.

use std::sync::Arc;
use std::time::Duration;

use auth::directory::KeyDirectory;
use auth::extract::HeaderNames;
use runtime::tasks::Tasks;

use crate::config::Config;
use crate::http::Cors;
use crate::known::Known;
use crate::limit::Ledger;
use crate::metrics::Gauges;
use crate::spool::Spool;
use crate::turns::Turns;

/// What a request works with; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) directory: Arc<dyn KeyDirectory>,
    pub(crate) credentials: Arc<HeaderNames>,
    pub(crate) ledger: Ledger,
    pub(crate) turns: Turns,
    pub(crate) known: Arc<Known>,
    pub(crate) spool: Spool,
    pub(crate) cors: Arc<Cors>,
    pub(crate) gauges: Gauges,
    /// Work that goes on when its request is gone.
    pub(crate) tasks: Tasks,
    pub(crate) max_wire_bytes: u64,
    pub(crate) body_timeout: Duration,
}

impl App {
    /// Builds everything, from the spool to the edge.
    pub(crate) fn build(
        config: Config,
        directory: Arc<dyn KeyDirectory>,
        spool: Spool,
        gauges: Gauges,
        tasks: Tasks,
    ) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let ledger = Ledger::new(config.in_flight, gauges.clone());
        let cors = Cors::new(config.cors_origins, &config.credentials);
        Self {
            directory,
            credentials: Arc::new(config.credentials),
            ledger,
            turns: Turns::new(processors),
            known: Arc::new(Known::new(config.known_series)),
            spool,
            cors: Arc::new(cors),
            gauges,
            tasks,
            max_wire_bytes: config.max_wire_bytes.as_u64(),
            body_timeout: config.body_timeout,
        }
    }
}
