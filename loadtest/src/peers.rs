//! The same pushes → Sluice and VictoriaMetrics in turn, each fresh, and the ratios of what they need.

mod child;
mod sluice;
mod victoria;

use std::time::Duration;

use crate::cli::PeersArgs;
use crate::journal::Journal;
use crate::note;
use crate::process::Watched;
use crate::report::{self, Comparison, Report};
use crate::run::{Ready, measure, ready};
use crate::target::Target;
use crate::verify::{Rules, verify};

/// How long acknowledged points may stay invisible.
const WITHIN: Duration = Duration::from_secs(30);
/// VictoriaMetrics keeps decimal numbers: the last bits of a double may differ.
const DECIMAL: f64 = 1e-12;

/// `loadtest peers`.
///
/// # Errors
/// When a program is missing, does not start or does not answer.
pub(crate) async fn peers(args: &PeersArgs) -> anyhow::Result<(String, bool)> {
    let ready = ready(&args.size, &args.pace, 1)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for number in 1..=args.runs {
        note(&format!("run {number} of {}: Sluice", args.runs));
        ours.push(on_sluice(args, &ready).await?);
        note(&format!("run {number} of {}: VictoriaMetrics", args.runs));
        theirs.push(on_victoria(args, &ready).await?);
    }
    let comparison = Comparison::of(ours, theirs);
    report::write_comparison(&args.output, &comparison)?;
    Ok((report::comparison_table(&comparison), comparison.is_well()))
}

async fn on_sluice(args: &PeersArgs, ready: &Ready) -> anyhow::Result<Report> {
    let running = sluice::start(&args.sluice).await?;
    let watched = Watched {
        name: "sluice".to_owned(),
        pid: running.pid(),
    };
    let target = running.target()?;
    let mut report = one(args, ready, (&target, watched), 0.0).await?;
    report.stored = Some(running.stored(&target).await?);
    running.stop().await?;
    Ok(report)
}

async fn on_victoria(args: &PeersArgs, ready: &Ready) -> anyhow::Result<Report> {
    let running = victoria::start(&args.peers).await?;
    let watched = Watched {
        name: "victoria-metrics".to_owned(),
        pid: running.pid(),
    };
    let target = running.target();
    let mut report = one(args, ready, (&target, watched), DECIMAL).await?;
    report.stored = Some(running.stop_and_weigh().await?);
    Ok(report)
}

async fn one(
    args: &PeersArgs,
    ready: &Ready,
    (target, watched): (&Target, Watched),
    tolerance: f64,
) -> anyhow::Result<Report> {
    let mut journal = Journal::create(&ready.scenario.plan, None)?;
    let mut report = measure(ready, target, (&args.pace, &[watched]), &mut journal).await?;
    if !args.no_verify {
        let rules = Rules {
            within: WITHIN,
            tolerance,
        };
        report.verified = Some(verify(&ready.scenario, &journal, target, rules).await?);
    }
    Ok(report)
}
