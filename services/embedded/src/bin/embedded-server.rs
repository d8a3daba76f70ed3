//! Configuration as JSON on the command line → the embedded server alone, for tests.

use std::io::Write;

use embedded::Config;
use tokio_util::sync::CancellationToken;

fn main() {
    // Not `tokio::main`: dropping the runtime waits for threads that may be inside the engine.
    let status = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime.block_on(serve()),
        Err(error) => Err(error.to_string()),
    };
    let code = match status {
        Ok(()) => 0,
        Err(reason) => {
            // A test whose output is gone learns it from the code.
            writeln!(std::io::stderr(), "{reason}").ok();
            1
        }
    };
    embedded::exit_now(code);
}

async fn serve() -> Result<(), String> {
    let argument = std::env::args()
        .nth(1)
        .ok_or("usage: embedded-server CONFIG-AS-JSON")?;
    let config: Config = serde_json::from_str(&argument).map_err(|error| error.to_string())?;
    let stop = CancellationToken::new();
    let running = embedded::run(config, stop.clone())
        .await
        .map_err(|error| error.to_string())?;
    writeln!(std::io::stdout(), "{}", running.address).map_err(|error| error.to_string())?;
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .map_err(|error| error.to_string())?;
    terminate.recv().await;
    stop.cancel();
    running.done.await.map_err(|error| error.to_string())
}
