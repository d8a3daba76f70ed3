//! A question and who asks → its value: plan, wait for a turn, fetch, evaluate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use promql::error::EvalError;
use promql::eval::evaluate_with;
use promql::select::Plan;
use promql::value::Answer;
use tokio::time::Instant;

use crate::app::App;
use crate::budget::{Budget, NoTurn};
use crate::fetch::Fetched;
use crate::http::reader::Reader;
use crate::http::reply::{ErrorType, Failure};
use crate::plan::{self, Question};

/// A value and what it took to find it.
#[derive(Debug)]
pub(crate) struct Executed {
    pub(crate) answer: Answer,
    pub(crate) timings: Timings,
    /// Series that were read.
    pub(crate) series: usize,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timings {
    pub(crate) queue: Duration,
    pub(crate) fetch: Duration,
    pub(crate) evaluate: Duration,
}

/// Answers `question` with what `reader` may see.
pub(crate) async fn run(
    app: &App,
    reader: &Reader,
    question: &Question,
) -> Result<Executed, Failure> {
    let started = Instant::now();
    let plan = plan::make(question, &app.config)?;
    let budget = app.budget(reader, started + question.timeout);
    if budget.deadline <= Instant::now() {
        return Err(Failure::new(
            ErrorType::Timeout,
            "query timed out in query execution",
        ));
    }
    let turn = app
        .gate
        .enter(reader.scope.tenant(), budget.deadline)
        .await?;
    let admitted = Instant::now();
    let fetched = app
        .fetcher
        .fetch(&reader.scope, plan.selections(), &budget)
        .await?;
    let (fetched_at, series) = (Instant::now(), fetched.series());
    let answer = evaluate(plan, fetched, &budget).await?;
    drop(turn);
    let timings = Timings {
        queue: admitted - started,
        fetch: fetched_at - admitted,
        evaluate: fetched_at.elapsed(),
    };
    Ok(Executed {
        answer,
        timings,
        series,
    })
}

/// Evaluates off the reactor. When the caller goes away, or time is up, the evaluation notices and stops.
async fn evaluate(plan: Plan, fetched: Fetched, budget: &Budget) -> Result<Answer, Failure> {
    let deadline = budget.deadline.into_std();
    let abandoned = Abandoned(Arc::default());
    let flag = Arc::clone(&abandoned.0);
    let work = move || {
        let stop = || flag.load(Ordering::Relaxed) || std::time::Instant::now() >= deadline;
        if stop() {
            return Err(EvalError::Cancelled);
        }
        evaluate_with(&plan, fetched.into_sets(), &stop)
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(Err(EvalError::Cancelled)) => Err(Failure::timed_out()),
        Ok(result) => result.map_err(Failure::from),
        Err(panicked) => Err(Failure::internal(panicked)),
    }
}

/// Raises its flag when the request that waits is dropped.
struct Abandoned(Arc<AtomicBool>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl From<NoTurn> for Failure {
    fn from(refused: NoTurn) -> Self {
        let kind = match refused {
            NoTurn::TenantQueueFull(_) => ErrorType::TooManyRequests,
            NoTurn::QueueFull => ErrorType::Unavailable,
            NoTurn::TimedOut => ErrorType::Timeout,
        };
        Self::new(kind, refused.to_string())
    }
}
