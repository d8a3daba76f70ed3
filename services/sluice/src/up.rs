//! `sluice up`: every role in one process, ClickHouse as its child, everything in one folder.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use auth::directory::KeyDirectory;
use runtime::serve::Running;
use runtime::shutdown;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::bootstrap;
use crate::child::Engine;
use crate::cli::ServiceArgs;
use crate::exit::{Exit, Failure};
use crate::roles::Process;
use crate::say;

/// How long the engine of a killed process may take to end.
const LEFT_BEHIND: Duration = Duration::from_secs(8);

/// Runs everything until a signal; then stops against the data flow: gateway, query, ClickHouse, admin.
///
/// # Errors
/// When a part cannot start; what had started is stopped again.
pub(crate) async fn up(args: &ServiceArgs) -> Result<Exit, Failure> {
    let Some(process) = Process::start(args)? else {
        return Ok(Exit::Ok);
    };
    let _lock = lock(&process.config.data_dir)?;
    let ends = Ends::default();
    // Nobody may take the process for ready before its parts have reported.
    for part in ["clickhouse", "gateway", "query"] {
        process.readiness.waiting(part, "starting");
    }
    let admin = process.admin(ends.admin.clone()).await?;
    let engine = start_engine(&process, args, ends.engine.clone()).await?;
    let ran = serve(&process).await;
    ends.engine.cancel();
    if let Some(engine) = engine {
        engine.await?;
    }
    ends.admin.cancel();
    admin.done.await?;
    ran
}

/// The orders to stop that are given after the services have ended.
#[derive(Default)]
struct Ends {
    engine: CancellationToken,
    admin: CancellationToken,
}

/// Starts gateway and query on the engine, says where, and waits until both have finished.
async fn serve(process: &Process) -> Result<Exit, Failure> {
    schemas::migrate::migrate(&process.config.clickhouse).await?;
    let config = &process.config;
    let credentials = config.credentials_file();
    let urls = config.urls(config.gateway.listen, config.query.listen)?;
    let directory: Arc<dyn KeyDirectory> = Arc::new(bootstrap::directory(
        &config.auth.directory,
        &credentials,
        &urls,
    )?);
    let gateway = process
        .gateway(Arc::clone(&directory), process.stop.clone())
        .await?;
    let query = process.query(directory, process.stop.clone()).await?;
    // Only now are the ports known where any free one was asked for.
    bootstrap::refresh(&credentials, &config.urls(gateway.address, query.address)?)?;
    announce(process, &gateway, &query, &credentials)?;
    process.stop.cancelled().await;
    tokio::select! {
        ended = async { tokio::try_join!(gateway.done, query.done) } => drop(ended?),
        () = shutdown::second_signal() => tracing::warn!("second signal: leaving at once"),
    }
    Ok(Exit::Ok)
}

fn announce(
    process: &Process,
    gateway: &Running,
    query: &Running,
    credentials: &Path,
) -> anyhow::Result<()> {
    say!("OTLP/HTTP    http://{}", gateway.address)?;
    say!("PromQL       http://{}", query.address)?;
    say!("admin        http://{}/readyz", process.config.admin.listen)?;
    say!("credentials  {}", credentials.display())?;
    Ok(())
}

/// Starts the embedded engine and the task that watches it, unless an outside server is used.
async fn start_engine(
    process: &Process,
    args: &ServiceArgs,
    stop: CancellationToken,
) -> Result<Option<JoinHandle<()>>, Failure> {
    let config = &process.config;
    if !config.up.embedded_clickhouse {
        process.readiness.ready("clickhouse");
        return Ok(None);
    }
    let text = |path: &Path| {
        path.to_str()
            .map(ToOwned::to_owned)
            .ok_or_else(|| anyhow!("data_dir is not UTF-8"))
    };
    let engine = Engine {
        arguments: vec![
            "--data-dir".to_owned(),
            text(&config.data_dir)?,
            "--port-offset".to_owned(),
            config.port_offset.to_string(),
        ],
        config: args.config.clone(),
        client: schemas::connect::server(&config.clickhouse),
        readiness: process.readiness.clone(),
    };
    // This process has the folder to itself, so an engine in it is what a killed one left behind.
    let alone = async {
        embedded::until_free(&config.embedded.data_dir, LEFT_BEHIND).await;
        engine.start().await
    };
    let child = tokio::select! {
        started = alone => started?,
        () = process.stop.cancelled() => return Err(Failure::new(Exit::Server, anyhow!("stopped before ClickHouse was up"))),
    };
    Ok(Some(
        process
            .tasks
            .spawn("clickhouse", engine.supervise(child, stop)),
    ))
}

/// Makes the data folder, for this user only, and makes sure that no other `up` works in it.
fn lock(folder: &Path) -> Result<File, Failure> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("cannot make the data folder {}", folder.display()))?;
    let path = folder.join("sluice.lock");
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::new(
            Exit::Conflict,
            anyhow!(
                "another sluice is running in {}; stop it, or use another --data-dir",
                folder.display()
            ),
        )),
        Err(TryLockError::Error(error)) => Err(Failure::new(
            Exit::Server,
            anyhow!(error).context(format!("cannot lock {}", path.display())),
        )),
    }
}
