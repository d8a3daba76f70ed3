//! One role in one process: settings → a service that runs until it is told to stop.

use std::sync::Arc;

use anyhow::anyhow;
use auth::directory::KeyDirectory;
use auth::directory::fixed::FixedDirectory;
use runtime::admin::{self, Readiness};
use runtime::metrics::Metrics;
use runtime::serve::{self, Running};
use runtime::shutdown;
use runtime::tasks::Tasks;
use schemas::migrate::MigrateError;
use tokio_util::sync::CancellationToken;

use crate::cli::{ClickhouseArgs, ServiceArgs};
use crate::config::Config;
use crate::exit::{Exit, Failure};
use crate::say;

/// What every role shares: settings, metrics, readiness, the order to stop.
pub(crate) struct Process {
    /// The settings.
    pub(crate) config: Config,
    /// Metrics of all roles in the process.
    pub(crate) metrics: Metrics,
    /// Readiness of all roles in the process.
    pub(crate) readiness: Readiness,
    /// Cancelled by the first signal.
    pub(crate) stop: CancellationToken,
    /// The process' own tasks.
    pub(crate) tasks: Tasks,
}

impl Process {
    /// Loads settings and starts logs and signals; `None` when only a check was asked for.
    ///
    /// # Errors
    /// [`Exit::Config`] for settings that do not hold.
    pub(crate) fn start(args: &ServiceArgs) -> Result<Option<Self>, Failure> {
        let config = Config::load(args)?;
        runtime::logging::start(&config.log).map_err(|error| Failure::new(Exit::Config, error))?;
        if only_checked(args)? {
            return Ok(None);
        }
        let tasks = Tasks::new();
        let stop = shutdown::on_signals(&tasks)?;
        Ok(Some(Self {
            config,
            metrics: Metrics::new(),
            readiness: Readiness::new(),
            stop,
            tasks,
        }))
    }

    /// Opens the admin port; it stays open until `until`, longer than the roles that it reports on.
    ///
    /// # Errors
    /// When the address is taken.
    pub(crate) async fn admin(&self, until: CancellationToken) -> Result<Running, Failure> {
        let router = admin::router(self.metrics.clone(), self.readiness.clone());
        let grace = std::time::Duration::from_secs(1);
        Ok(serve::http("admin", self.config.admin.listen, router, until, grace).await?)
    }

    /// The file directory of this installation.
    ///
    /// # Errors
    /// When the file is missing or wrong.
    fn directory(&self) -> Result<Arc<dyn KeyDirectory>, Failure> {
        Ok(Arc::new(FixedDirectory::load(&self.config.auth.directory)?))
    }

    /// The gateway on `directory`, serving until `stop`.
    ///
    /// # Errors
    /// When it cannot start.
    pub(crate) async fn gateway(
        &self,
        directory: Arc<dyn KeyDirectory>,
        stop: CancellationToken,
    ) -> Result<Running, Failure> {
        let parts = gateway::Parts {
            directory,
            store: schemas::connect::client(&self.config.clickhouse),
            metrics: self.metrics.clone(),
            readiness: self.readiness.clone(),
        };
        Ok(gateway::run(self.config.gateway.clone(), parts, stop).await?)
    }

    /// The query service on `directory`, serving until `stop`.
    ///
    /// # Errors
    /// When it cannot start.
    pub(crate) async fn query(
        &self,
        directory: Arc<dyn KeyDirectory>,
        stop: CancellationToken,
    ) -> Result<Running, Failure> {
        let parts = query::Parts {
            directory,
            headers: self.config.gateway.credentials.clone(),
            store: query::Store(schemas::connect::client(&self.config.clickhouse)),
            metrics: self.metrics.clone(),
            readiness: self.readiness.clone(),
        };
        Ok(query::run(self.config.query.clone(), parts, stop).await?)
    }
}

/// Whether only a check was asked for, which a loaded configuration has passed; then says so.
fn only_checked(args: &ServiceArgs) -> std::io::Result<bool> {
    if args.check_config {
        say!("the configuration is valid")?;
    }
    Ok(args.check_config)
}

/// `sluice gateway`.
///
/// # Errors
/// When it cannot start.
pub(crate) async fn gateway(args: &ServiceArgs) -> Result<Exit, Failure> {
    let Some(process) = Process::start(args)? else {
        return Ok(Exit::Ok);
    };
    let waits = match schemas::migrate::check(&process.config.clickhouse).await {
        Ok(()) => false,
        // Pushes are taken without it; what they bring waits in the spool.
        Err(away @ MigrateError::Unreachable(_)) => {
            tracing::warn!(
                "{:#}; pushes are kept in the spool until it answers",
                anyhow!(away)
            );
            true
        }
        Err(unfit) => return Err(unfit.into()),
    };
    let service = process
        .gateway(process.directory()?, process.stop.clone())
        .await?;
    if !waits {
        return finish(&process, service).await;
    }
    let (clickhouse, stop) = (process.config.clickhouse.clone(), process.stop.clone());
    let (ended, checked) = tokio::join!(finish(&process, service), check_later(clickhouse, stop));
    checked?;
    ended
}

/// Asks ClickHouse for its schema until it answers; stops the process when the schema is not this version's.
async fn check_later(
    clickhouse: schemas::connect::Config,
    stop: CancellationToken,
) -> Result<(), MigrateError> {
    loop {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(std::time::Duration::from_secs(1)) => {}
        }
        match schemas::migrate::check(&clickhouse).await {
            Ok(()) => return Ok(()),
            Err(MigrateError::Unreachable(_)) => {}
            Err(unfit) => {
                stop.cancel();
                return Err(unfit);
            }
        }
    }
}

/// `sluice query`.
///
/// # Errors
/// When it cannot start.
pub(crate) async fn query(args: &ServiceArgs) -> Result<Exit, Failure> {
    let Some(process) = Process::start(args)? else {
        return Ok(Exit::Ok);
    };
    schemas::migrate::check(&process.config.clickhouse).await?;
    let service = process
        .query(process.directory()?, process.stop.clone())
        .await?;
    finish(&process, service).await
}

/// Shows the admin port while `service` runs and waits for it, or for a second signal.
async fn finish(process: &Process, service: Running) -> Result<Exit, Failure> {
    let done = CancellationToken::new();
    let admin = process.admin(done.clone()).await?;
    process.stop.cancelled().await;
    tokio::select! {
        ended = service.done => ended?,
        () = shutdown::second_signal() => tracing::warn!("second signal: leaving at once"),
    }
    done.cancel();
    admin.done.await?;
    Ok(Exit::Ok)
}

/// `sluice migrate`.
///
/// # Errors
/// When ClickHouse is away, refuses a statement, or is newer than this binary.
pub(crate) async fn migrate(args: &ServiceArgs) -> Result<Exit, Failure> {
    let config = Config::load(args)?;
    if only_checked(args)? {
        return Ok(Exit::Ok);
    }
    let applied = schemas::migrate::migrate(&config.clickhouse).await?;
    if applied.is_empty() {
        say!(
            "the schema is at version {}; nothing to apply",
            schemas::migrate::latest()
        )?;
    } else {
        say!(
            "applied {} migration(s); the schema is at version {}",
            applied.len(),
            schemas::migrate::latest()
        )?;
    }
    Ok(Exit::Ok)
}

/// `sluice clickhouse`.
///
/// # Errors
/// When the engine or its folder cannot be used.
pub(crate) async fn clickhouse(args: &ClickhouseArgs) -> Result<Exit, Failure> {
    let config = Config::load(&args.service)?;
    runtime::logging::start(&config.log).map_err(|error| Failure::new(Exit::Config, error))?;
    if only_checked(&args.service)? {
        return Ok(Exit::Ok);
    }
    let tasks = Tasks::new();
    let stop = if args.stop_with_stdin {
        when_stdin_ends(&tasks)?
    } else {
        shutdown::on_signals(&tasks)?
    };
    let running = embedded::run(config.embedded, stop).await?;
    running.done.await?;
    Ok(Exit::Ok)
}

/// A token that is cancelled when standard input ends, which it does when the parent ends in whatever
/// way; signals, which reach the whole process group, are left to the parent. The input is read by a
/// duplicate, because the engine gets another one.
fn when_stdin_ends(tasks: &Tasks) -> std::io::Result<CancellationToken> {
    use std::os::fd::AsFd;

    use tokio::io::AsyncReadExt;
    use tokio::signal::unix::{SignalKind, signal};

    let stop = CancellationToken::new();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    drop(tasks.spawn("ignored-signals", async move {
        loop {
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        }
    }));
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let mut input = tokio::fs::File::from_std(input.into());
    let ended = stop.clone();
    drop(tasks.spawn("stdin", async move {
        let mut byte = [0_u8; 1];
        while matches!(input.read(&mut byte).await, Ok(1)) {}
        ended.cancel();
    }));
    Ok(stop)
}
