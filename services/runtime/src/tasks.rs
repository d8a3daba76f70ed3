//! Futures → named, tracked tasks: somebody waits for each and a panic is logged under its name.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

/// The tasks of one service.
#[derive(Clone, Debug, Default)]
pub struct Tasks(TaskTracker);

impl Tasks {
    /// No tasks yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `work` under `name`; it ends by itself when its owner's token is cancelled.
    pub fn spawn<F>(&self, name: &'static str, work: F) -> JoinHandle<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let inner = self.0.spawn(work);
        self.0.spawn(async move {
            if let Err(failure) = inner.await
                && failure.is_panic()
            {
                tracing::error!(task = name, "task panicked: {failure}");
            }
        })
    }

    /// Waits until all tasks have ended, at most `limit`; answers how many are late.
    pub async fn finish(&self, limit: Duration) -> usize {
        self.0.close();
        if tokio::time::timeout(limit, self.0.wait()).await.is_err() {
            self.0.len()
        } else {
            0
        }
    }
}
