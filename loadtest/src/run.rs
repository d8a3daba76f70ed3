//! Options → a plan, its pushes, what they cost, and the verdict: one report.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};

use crate::cli::{PaceArgs, RunArgs, SizeArgs, VerifyArgs};
use crate::drive::{Driven, Job, Pace, drive};
use crate::encode::{self, Bodies};
use crate::journal::Journal;
use crate::plan::{Plan, Provider, start_of};
use crate::process::{Snapshot, Usage, Watched};
use crate::report::{self, Made, Report};
use crate::scenario::Scenario;
use crate::target::Target;
use crate::verify::{Rules, verify as verify_all};
use crate::{note, stored};

/// Rounds where neither `--rounds` nor `--duration` says.
const ROUNDS: u32 = 60;
/// Longest wait for watched processes to become quiet.
const SETTLE: Duration = Duration::from_secs(30);
/// How long they have to be quiet.
const QUIET: Duration = Duration::from_millis(1000);
/// What a quiet process may use in that time, CPU seconds.
const IDLE: f64 = 0.05;
/// Bit for bit.
const EXACT: f64 = 0.0;

/// A scenario with its bodies, ready to be sent.
#[derive(Debug)]
pub(crate) struct Ready {
    /// Whose data.
    pub(crate) scenario: Scenario,
    /// Its bodies.
    pub(crate) bodies: Bodies,
    /// How long it took to make them.
    pub(crate) took: Duration,
}

/// `loadtest run`.
///
/// # Errors
/// When the options do not go together or the store cannot be read back.
pub(crate) async fn run(args: &RunArgs) -> anyhow::Result<(String, bool)> {
    let target = Target::of(&args.target)?;
    if !args.no_verify && target.query_url.is_empty() {
        bail!("where to read back? give --query-url and --query-key, or --no-verify");
    }
    let ready = ready(&args.size, &args.pace, target.tenant_count())?;
    let mut journal = Journal::create(&ready.scenario.plan, args.state.as_deref())?;
    let mut report = measure(&ready, &target, (&args.pace, &args.pid), &mut journal).await?;
    if !args.no_verify {
        note("reading everything back");
        let rules = Rules {
            within: args.within,
            tolerance: EXACT,
        };
        report.verified = Some(verify_all(&ready.scenario, &journal, &target, rules).await?);
    }
    if args.stored {
        let url = target.clickhouse_url.as_deref();
        let url =
            url.context("--stored needs ClickHouse's address: use --credentials or --keys")?;
        report.stored = Some(stored::in_clickhouse(url).await?);
    }
    report::write(&args.output, &report)?;
    Ok((report::table(&report), report.is_well()))
}

/// `loadtest verify`.
///
/// # Errors
/// When the state file or the store cannot be read.
pub(crate) async fn verify(args: &VerifyArgs) -> anyhow::Result<(String, bool)> {
    let (plan, journal) = Journal::load(&args.state)?;
    let mut options = args.target.clone();
    // Nothing is pushed here.
    if options.credentials.is_empty() && options.keys.is_none() && options.key.is_empty() {
        options.key.push("none".to_owned());
        options.url.get_or_insert_default();
    }
    let target = Target::of(&options)?;
    if target.tenant_count() != plan.tenants {
        bail!(
            "the run had {} tenants, these credentials are of {}: give the same ones in the same order",
            plan.tenants,
            target.tenant_count()
        );
    }
    let rules = Rules {
        within: args.within,
        tolerance: EXACT,
    };
    let verdict = verify_all(&Scenario::new(plan), &journal, &target, rules).await?;
    Ok((report::verdict(&verdict), verdict.holds()))
}

/// Makes the plan and all bodies.
///
/// # Errors
/// When the options do not go together.
pub(crate) fn ready(size: &SizeArgs, pace: &PaceArgs, tenants: u32) -> anyhow::Result<Ready> {
    let plan = plan(size, pace, tenants)?;
    note(&format!("making {} pushes", plan.pushes()));
    let start = Instant::now();
    let scenario = Scenario::new(plan);
    let bodies = encode::bodies(&scenario, size.max_bodies_mib << 20)?;
    Ok(Ready {
        scenario,
        bodies,
        took: start.elapsed(),
    })
}

fn plan(size: &SizeArgs, pace: &PaceArgs, tenants: u32) -> anyhow::Result<Plan> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let usual = if size.scenario == Provider::Sdk {
        1
    } else {
        50
    };
    let mut plan = Plan {
        provider: size.scenario,
        seed: size.seed,
        run: size
            .run_id
            .clone()
            .unwrap_or_else(|| now.as_secs().to_string()),
        apps: size.apps,
        apps_per_push: size.apps_per_push.unwrap_or(usual),
        rounds: 1,
        start_ms: 0,
        churn: size.churn,
        layout: size.layout,
        gzip: !size.no_gzip,
        tenants,
        limit: u64::MAX,
    };
    let wanted = pace
        .rate
        .zip(pace.duration)
        .map(|(rate, time)| pushes(rate * time.as_secs_f64()));
    plan.rounds = match (size.rounds, wanted) {
        (Some(rounds), _) => rounds,
        (None, Some(pushes)) => {
            let rounds = pushes.div_ceil(u64::from(plan.forwarders().max(1)));
            u32::try_from(rounds).unwrap_or(u32::MAX)
        }
        (None, None) => ROUNDS,
    };
    plan.limit = wanted.unwrap_or(u64::MAX);
    let now_ms = i64::try_from(now.as_millis())?;
    plan.start_ms = size
        .start_ms
        .unwrap_or_else(|| start_of(now_ms, plan.rounds));
    plan.check()?;
    Ok(plan)
}

/// A number of pushes, at least one.
fn pushes(number: f64) -> u64 {
    let whole =
        Duration::try_from_secs_f64(number.ceil()).map_or(u64::MAX, |whole| whole.as_secs());
    whole.max(1)
}

/// Sends everything and measures.
///
/// # Errors
/// When nothing can be sent at all, or the state file cannot be written.
pub(crate) async fn measure(
    ready: &Ready,
    target: &Target,
    (pace, watched): (&PaceArgs, &[Watched]),
    journal: &mut Journal,
) -> anyhow::Result<Report> {
    let open = pace.rate.map(|rate| Pace::Open { rate });
    let job = Job {
        scenario: &ready.scenario,
        bodies: &ready.bodies,
        target,
        pace: open.unwrap_or(Pace::Closed),
        connections: pace
            .connections
            .unwrap_or(if open.is_some() { 128 } else { 8 }),
        duration: pace.duration.filter(|_| open.is_none()),
        retry_for: pace.retry_for,
        timeout: pace.timeout,
    };
    let connections = job.connections;
    note(&format!("pushing to {}", target.push_url));
    let own = Snapshot::own();
    let before: Vec<Snapshot> = watched.iter().map(|it| Snapshot::of(it.pid)).collect();
    let driven = drive(job, journal).await?;
    let own = Snapshot::own().since(&own);
    let usage = usage(watched, &before).await;
    let pace = match open {
        Some(Pace::Open { rate }) => format!("open loop, {rate} pushes/s"),
        _ => format!("closed loop, {connections} connections"),
    };
    Ok(report_of(ready, (pace, driven), own, usage))
}

/// What the watched processes have used, now and when they are quiet.
async fn usage(watched: &[Watched], before: &[Snapshot]) -> Vec<Usage> {
    let now: Vec<Snapshot> = watched.iter().map(|it| Snapshot::of(it.pid)).collect();
    until_quiet(watched).await;
    let measured = watched.iter().zip(before).zip(&now);
    measured
        .map(|((it, before), now)| {
            let settled = Snapshot::of(it.pid);
            Usage {
                name: it.name.clone(),
                cpu_seconds: now.since(before),
                cpu_seconds_settled: settled.since(before),
                peak_bytes: settled.peak_bytes(),
                parts: settled.parts(before),
            }
        })
        .collect()
}

/// Waits until the processes have nothing left to do.
async fn until_quiet(watched: &[Watched]) {
    let start = Instant::now();
    let used = || {
        watched
            .iter()
            .map(|it| Snapshot::of(it.pid).cpu_seconds())
            .sum::<f64>()
    };
    while !watched.is_empty() && start.elapsed() < SETTLE {
        let before = used();
        tokio::time::sleep(QUIET).await;
        if used() - before < IDLE {
            return;
        }
    }
}

fn report_of(
    ready: &Ready,
    (pace, driven): (String, Driven),
    own: f64,
    processes: Vec<Usage>,
) -> Report {
    Report {
        machine: report::Machine::this(),
        plan: ready.scenario.plan.clone(),
        pace,
        made: Made {
            pushes: ready.scenario.plan.pushes(),
            seconds: ready.took.as_secs_f64(),
            plain_bytes: ready.bodies.plain_bytes,
            sent_bytes: ready.bodies.sent_bytes(),
        },
        elapsed_seconds: driven.elapsed.as_secs_f64(),
        accepted: driven.accepted,
        failed: driven.failed,
        retries: driven.retries,
        answers: driven.answers,
        points: driven.points,
        samples: driven.samples,
        rejected_points: driven.rejected_points,
        latency: driven.latency,
        behind_ms: driven.behind_ms,
        generator_cpu_seconds: own,
        processes,
        stored: None,
        verified: None,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    fn plan_of(words: &str) -> anyhow::Result<Plan> {
        let words = format!("loadtest run {words} --url http://h --key k --no-verify");
        let cli = Cli::parse_from(words.split_whitespace());
        let Command::Run(args) = cli.command else {
            panic!("a run");
        };
        plan(&args.size, &args.pace, 1)
    }

    #[test]
    fn an_open_loop_has_as_many_pushes_as_its_rate_and_time() {
        let plan =
            plan_of("cerebrium --apps 100 --apps-per-push 10 --rate 25 --duration 2").unwrap();
        assert_eq!((plan.pushes(), plan.rounds), (50, 5));
    }

    #[test]
    fn a_closed_loop_pushes_an_hour_of_metric_time() {
        let plan = plan_of("cerebrium --apps 100").unwrap();
        assert_eq!((plan.forwarders(), plan.pushes()), (2, 120));
    }

    #[test]
    fn a_process_with_an_sdk_pushes_alone() {
        assert_eq!(plan_of("sdk --apps 7").unwrap().forwarders(), 7);
    }

    #[test]
    fn a_run_that_would_reach_back_more_than_seven_days_is_refused() {
        let refused = plan_of("sdk --apps 1 --rate 1000 --duration 60").unwrap_err();
        assert!(refused.to_string().contains("7 days"), "{refused}");
    }
}
