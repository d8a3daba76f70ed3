//! One connection of a run → pushes sent over it, one after another, each until its fate is known.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};

use super::Shared;
use super::answer::{Attempt, judge};
use super::connection::Connection;
use crate::journal::Fate;

/// Timers wake up to this much late, so they are set this much early; latency counts from the earlier
/// of schedule and sending.
const TICK: Duration = Duration::from_millis(1);
/// First pause before a push is sent again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Sends over one connection.
#[derive(Debug)]
pub(super) struct Worker<'s, 'a> {
    shared: &'s Shared<'a>,
    connection: Connection,
}

impl<'s, 'a> Worker<'s, 'a> {
    /// A worker that has not begun.
    pub(super) fn new(shared: &'s Shared<'a>) -> Self {
        Self {
            shared,
            connection: Connection::new(shared.address.clone()),
        }
    }

    /// Sends until nothing is left.
    pub(super) async fn run(mut self) -> anyhow::Result<()> {
        while let Some((number, due)) = self.shared.take() {
            let early = due.saturating_sub(self.shared.now());
            if early > TICK {
                self.connection.rest(early - TICK).await;
            }
            let begun = self.shared.now();
            self.behind(begun.saturating_sub(due));
            let fate = self.push(number).await;
            let since = match self.shared.job.pace {
                super::Pace::Open { .. } => begun.min(due),
                super::Pace::Closed => begun,
            };
            self.shared
                .finished(number, fate, self.shared.now() - since)?;
        }
        Ok(())
    }

    fn behind(&self, late: Duration) {
        if matches!(self.shared.job.pace, super::Pace::Open { .. }) {
            let mut books = self.shared.books.borrow_mut();
            books.behind = books.behind.max(late);
        }
    }

    /// Sends one push, again if that may help.
    async fn push(&mut self, number: u64) -> Fate {
        let job = &self.shared.job;
        let push = job.scenario.plan.push(number);
        let at = usize::try_from(number).ok();
        let Some(body) = at.and_then(|at| job.bodies.sent.get(at)).cloned() else {
            return Fate::Refused;
        };
        let headers = headers(self.shared.key(push.forwarder), job.scenario.plan.gzip);
        let last = self.shared.now() + job.retry_for;
        let mut pause = FIRST_PAUSE;
        let mut fate = Fate::Refused;
        loop {
            match self.attempt(&headers, &body).await {
                Attempt::Accepted => return Fate::Accepted,
                Attempt::Partly(points) => {
                    self.shared.books.borrow_mut().rejected_points += points;
                    return Fate::Unknown;
                }
                Attempt::Never => return fate,
                Attempt::Later => {}
                Attempt::Doubtful => fate = Fate::Unknown,
            }
            if self.shared.now() + pause > last {
                return fate;
            }
            self.shared.books.borrow_mut().retries += 1;
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn attempt(&mut self, headers: &HeaderMap, body: &Bytes) -> Attempt {
        let limit = self.shared.job.timeout;
        let answer = self
            .connection
            .send(headers.clone(), body.clone(), limit)
            .await;
        let (attempt, counted) = judge(&answer);
        self.shared.answered(&counted);
        attempt
    }
}

fn headers(key: Option<&HeaderValue>, gzip: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/x-protobuf"),
    );
    if gzip {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Some(key) = key {
        headers.insert(header::AUTHORIZATION, key.clone());
    }
    headers
}
