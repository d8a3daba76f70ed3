//! An OTLP/JSON file → one push to a gateway, and its answer in plain words.

mod shift;

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use serde_json::Value;

use crate::cli::PushArgs;
use crate::exit::{Exit, Failure};
use crate::say;

/// Longest wait for the gateway's answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Sends the file and prints what became of it.
///
/// # Errors
/// A [`Failure`] whose exit code says whether the file, the key, a limit or the gateway is at fault.
pub(crate) async fn push(args: &PushArgs) -> Result<Exit, Failure> {
    let usage = |error| Failure::new(Exit::Usage, error);
    let text = read(&args.file).map_err(usage)?;
    let mut request: Value = serde_json::from_str(&text)
        .with_context(|| format!("{} is not JSON", args.file.display()))
        .map_err(usage)?;
    let signal = Signal::of(&request).map_err(usage)?;
    if args.shift_to_now {
        shift::latest_to(&mut request, now_nanos()?).map_err(usage)?;
    }
    let url = format!("{}{}", args.url.trim_end_matches('/'), signal.path());
    let answer = send(&url, &args.key, request.to_string()).await?;
    report(&answer, signal, &url)
}

/// What the file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Metrics,
    Logs,
}

impl Signal {
    fn of(request: &Value) -> anyhow::Result<Self> {
        if request.get("resourceMetrics").is_some() {
            return Ok(Self::Metrics);
        }
        if request.get("resourceLogs").is_some() {
            return Ok(Self::Logs);
        }
        bail!(
            "the file has neither resourceMetrics nor resourceLogs: it is not an OTLP/JSON export request"
        )
    }

    const fn path(self) -> &'static str {
        match self {
            Self::Metrics => "/v1/metrics",
            Self::Logs => "/v1/logs",
        }
    }

    const fn rejected_field(self) -> &'static str {
        match self {
            Self::Metrics => "rejectedDataPoints",
            Self::Logs => "rejectedLogRecords",
        }
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    if file.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .context("cannot read standard input")?;
        return Ok(text);
    }
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

fn now_nanos() -> anyhow::Result<i128> {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .context("the clock is before 1970")?;
    Ok(i128::try_from(since.as_nanos())?)
}

/// The gateway's answer.
struct Answer {
    status: u16,
    body: String,
}

async fn send(url: &str, key: &str, body: String) -> anyhow::Result<Answer> {
    let client = reqwest::Client::builder().timeout(TIMEOUT).build()?;
    let response = client
        .post(url)
        .bearer_auth(key)
        .header("content-type", "application/json")
        .body(body)
        .send()
        .await
        .with_context(|| format!("no answer from {url}"))?;
    let status = response.status().as_u16();
    let body = response
        .text()
        .await
        .with_context(|| format!("the answer of {url} broke off"))?;
    Ok(Answer { status, body })
}

fn report(answer: &Answer, signal: Signal, url: &str) -> Result<Exit, Failure> {
    let body: Value = serde_json::from_str(&answer.body).unwrap_or(Value::Null);
    if answer.status != 200 {
        let message = body
            .get("message")
            .and_then(Value::as_str)
            .unwrap_or(&answer.body);
        return Err(Failure::new(
            Exit::of_status(answer.status),
            anyhow!("{url} answered {}: {message}", answer.status),
        ));
    }
    let partial = body.get("partialSuccess");
    let message = partial
        .and_then(|partial| partial.get("errorMessage"))
        .and_then(Value::as_str)
        .unwrap_or("");
    let rejected = partial
        .and_then(|partial| partial.get(signal.rejected_field()))
        .map_or(0, count);
    match (rejected, message) {
        (0, "") => say!("accepted")?,
        (0, warning) => say!("accepted, with a warning: {warning}")?,
        (rejected, message) => {
            say!("accepted in part; {rejected} rejected: {message}")?;
            return Ok(Exit::Partial);
        }
    }
    Ok(Exit::Ok)
}

/// A 64-bit number of OTLP/JSON: a string or a number.
fn count(value: &Value) -> i64 {
    value
        .as_i64()
        .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
        .unwrap_or(0)
}
