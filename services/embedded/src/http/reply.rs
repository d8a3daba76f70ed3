//! The parts of an answer → an HTTP response, streamed or whole, with ClickHouse's headers.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures::Stream;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::About;
use super::output::Blocks;
use crate::exception::Exception;
use crate::ffi::Totals;
use crate::pool::{Answer, Output, Part, Task};

/// Between the end of a failed answer and the breaking of its connection: breaking it at once would throw away
/// what is not sent yet. Clients that know ClickHouse hang up before; a slower one sees a broken answer anyway.
const LINGER: Duration = Duration::from_millis(500);

/// What every answer carries, good or bad.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    about: Arc<About>,
    started: Instant,
    query_id: String,
}

impl Envelope {
    pub(super) fn new(about: Arc<About>, started: Instant) -> Self {
        Self {
            about,
            started,
            query_id: String::new(),
        }
    }

    pub(super) fn with_query_id(mut self, query_id: &str) -> Self {
        query_id.clone_into(&mut self.query_id);
        self
    }

    pub(super) fn query_id(&self) -> &str {
        &self.query_id
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        put(&mut headers, "x-clickhouse-query-id", &self.query_id);
        put(&mut headers, "x-clickhouse-timezone", &self.about.timezone);
        put(&mut headers, "x-clickhouse-server-display-name", "embedded");
        headers
    }

    /// The answer to a statement that failed before its first byte of output.
    pub(super) fn failed(&self, failure: &Exception) -> Response {
        let mut headers = self.headers();
        put(
            &mut headers,
            "x-clickhouse-exception-code",
            &failure.code.to_string(),
        );
        put(
            &mut headers,
            header::CONTENT_TYPE.as_str(),
            "text/plain; charset=UTF-8",
        );
        if failure.status() == StatusCode::SERVICE_UNAVAILABLE {
            put(&mut headers, header::RETRY_AFTER.as_str(), "1");
        }
        (failure.status(), headers, failure.line(&self.about.version)).into_response()
    }

    fn summary(&self, totals: Totals) -> String {
        format!(
            "{{\"read_rows\":\"{}\",\"read_bytes\":\"{}\",\"written_rows\":\"{}\",\"written_bytes\":\"{}\",\
             \"total_rows_to_read\":\"0\",\"result_rows\":\"{}\",\"result_bytes\":\"{}\",\"elapsed_ns\":\"{}\"}}",
            totals.rows_read,
            totals.bytes_read,
            totals.rows_written,
            totals.bytes_written,
            totals.rows_written,
            totals.bytes_written,
            self.started.elapsed().as_nanos(),
        )
    }
}

fn put(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}

/// How an answer is sent.
#[derive(Debug)]
pub(super) struct Manner {
    format: String,
    /// Collect at most so many bytes and send then; otherwise send as it comes.
    collect: Option<u64>,
}

impl Manner {
    pub(super) fn of(task: &Task, wait_for_end: bool, limit: u64) -> Self {
        let whole = wait_for_end || matches!(task.output, Output::Whole);
        Self {
            format: task.format.clone(),
            collect: whole.then_some(limit),
        }
    }
}

/// Sends an answer. The status is decided by its first part, or by all of them where it is collected.
///
/// # Errors
/// What failed before a byte was sent.
pub(super) async fn reply(
    envelope: Envelope,
    manner: Manner,
    mut answer: Answer,
) -> Result<Response, Exception> {
    let mut headers = envelope.headers();
    put(&mut headers, "x-clickhouse-format", &manner.format);
    put(
        &mut headers,
        header::CONTENT_TYPE.as_str(),
        content_type(&manner.format),
    );
    let mut blocks = Blocks::new(&manner.format);
    if let Some(limit) = manner.collect {
        let (body, totals) = collect(&mut answer, &mut blocks, limit).await?;
        put(
            &mut headers,
            "x-clickhouse-summary",
            &envelope.summary(totals),
        );
        return Ok((headers, body).into_response());
    }
    match answer.next().await {
        Part::Failed(failure) => Err(failure),
        Part::Done(totals) => {
            put(
                &mut headers,
                "x-clickhouse-summary",
                &envelope.summary(totals),
            );
            Ok((headers, Body::empty()).into_response())
        }
        Part::Data(first) => {
            let tag: String = uuid::Uuid::new_v4()
                .simple()
                .to_string()
                .chars()
                .take(16)
                .collect();
            put(&mut headers, "x-clickhouse-exception-tag", &tag);
            let first = blocks.next(first);
            let rest = Rest {
                answer,
                blocks,
                tag,
                envelope,
            };
            let body = Body::from_stream(stream(first, rest));
            Ok((headers, body).into_response())
        }
    }
}

async fn collect(
    answer: &mut Answer,
    blocks: &mut Blocks,
    limit: u64,
) -> Result<(Body, Totals), Exception> {
    let mut collected = BytesMut::new();
    loop {
        match answer.next().await {
            Part::Data(data) => {
                let data = blocks.next(data);
                if collected.len() as u64 + data.len() as u64 > limit {
                    return Err(Exception::new(
                        396,
                        "TOO_MANY_ROWS_OR_BYTES",
                        &format!(
                            "The answer is larger than the {limit} bytes that are collected; ask without wait_end_of_query"
                        ),
                    ));
                }
                collected.extend_from_slice(&data);
            }
            Part::Done(totals) => return Ok((Body::from(collected.freeze()), totals)),
            Part::Failed(failure) => return Err(failure),
        }
    }
}

/// What is still to be sent of a streamed answer.
struct Rest {
    answer: Answer,
    blocks: Blocks,
    tag: String,
    envelope: Envelope,
}

/// Where a streamed answer stands.
enum Step {
    First(Bytes, Rest),
    Next(Rest),
    Break,
}

fn stream(first: Bytes, rest: Rest) -> impl Stream<Item = io::Result<Bytes>> {
    futures::stream::unfold(Step::First(first, rest), |step| async move {
        match step {
            Step::First(data, rest) => Some((Ok(data), Step::Next(rest))),
            Step::Next(mut rest) => match rest.answer.next().await {
                Part::Data(data) => Some((Ok(rest.blocks.next(data)), Step::Next(rest))),
                Part::Done(_) => None,
                Part::Failed(failure) => {
                    tracing::warn!(
                        query_id = rest.envelope.query_id(),
                        "statement failed after a part of its answer was sent: {}",
                        failure.text
                    );
                    let block =
                        exception_block(&failure.line(&rest.envelope.about.version), &rest.tag);
                    Some((Ok(block), Step::Break))
                }
            },
            Step::Break => {
                tokio::time::sleep(LINGER).await;
                Some((Err(io::Error::other("the statement failed")), Step::Break))
            }
        }
    })
}

/// The end of an answer that failed on its way, as ClickHouse has written it since 25.11.
fn exception_block(line: &str, tag: &str) -> Bytes {
    let length = line.len();
    Bytes::from(format!(
        "\r\n__exception__\r\n{tag}\r\n{line}{length} {tag}\r\n__exception__\r\n"
    ))
}

fn content_type(format: &str) -> &'static str {
    match format {
        "TabSeparated"
        | "TSV"
        | "TabSeparatedWithNames"
        | "TSVWithNames"
        | "TabSeparatedWithNamesAndTypes"
        | "TSVWithNamesAndTypes"
        | "TabSeparatedRaw"
        | "TSVRaw" => "text/tab-separated-values; charset=UTF-8",
        "CSV" => "text/csv; charset=UTF-8; header=absent",
        "CSVWithNames" | "CSVWithNamesAndTypes" => "text/csv; charset=UTF-8; header=present",
        "XML" => "application/xml; charset=UTF-8",
        "JSONEachRow" | "JSONLines" | "NDJSON" | "JSONCompactEachRow" | "JSONStringsEachRow" => {
            "application/x-ndjson; charset=UTF-8"
        }
        "Native"
        | "RowBinary"
        | "RowBinaryWithNames"
        | "RowBinaryWithNamesAndTypes"
        | "Parquet"
        | "ORC"
        | "Arrow"
        | "ArrowStream"
        | "Avro"
        | "MsgPack" => "application/octet-stream",
        json if json.starts_with("JSON") => "application/json; charset=UTF-8",
        _ => "text/plain; charset=UTF-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_answer_ends_with_a_block_that_names_its_own_length() {
        assert_eq!(
            exception_block("Code: 1. x\n", "tag"),
            "\r\n__exception__\r\ntag\r\nCode: 1. x\n11 tag\r\n__exception__\r\n"
        );
    }
}
