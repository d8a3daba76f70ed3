//! A call and its body → a task for the engine.

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;

use super::call::Call;
use super::{multipart, output};
use crate::data::{Data, Head};
use crate::exception::Exception;
use crate::pool::{Output, Task};
use crate::sql::{self, Insert, Kind, Statement};

/// Format of an answer where nobody names one.
const DEFAULT_FORMAT: &str = "TabSeparated";

/// Reads the body: at most `limit` bytes.
///
/// # Errors
/// 229 over the limit; 62, 48, 36 for statements that cannot or may not be run.
pub(super) async fn task(mut call: Call, mut body: Body, limit: u64) -> Result<Task, Exception> {
    if axum::body::HttpBody::size_hint(&body).lower() > limit {
        return Err(Exception::too_large(limit));
    }
    if let Some(boundary) = call.boundary.take() {
        let collected = collect(&mut body, limit).await?;
        form(&mut call, &collected, &boundary)?;
        body = Body::empty();
    }
    if !call.query.is_empty() {
        let query = Statement::read(std::mem::take(&mut call.query))?;
        if takes_file(&query, &call) {
            return insert(call, query, body, limit).await;
        }
        call.query = query.text;
    }
    if call.compression.is_some() {
        return Err(Exception::unsupported(
            "a compressed body is served for INSERT with the statement in ?query= only; send the statement plain",
        ));
    }
    let collected = collect(&mut body, limit).await?;
    let statement = Statement::read(joined(&call.query, &collected))?;
    if takes_file(&statement, &call) {
        return insert(call, statement, Body::empty(), limit).await;
    }
    plain(call, statement)
}

/// The statement is the URL's, a line end, and the body, as ClickHouse has it.
fn joined(query: &[u8], body: &[u8]) -> Vec<u8> {
    let mut text = query.to_vec();
    if !text.is_empty() && !body.is_empty() {
        text.push(b'\n');
    }
    text.extend_from_slice(body);
    text
}

/// Whether data follow that go to the engine as a file. VALUES may hold parameters, which only the
/// statement's text can.
fn takes_file(statement: &Statement, call: &Call) -> bool {
    match &statement.kind {
        Kind::Insert(Insert::Data { format, .. }) => format != "Values" || call.params.is_empty(),
        _ => false,
    }
}

fn form(call: &mut Call, body: &[u8], boundary: &str) -> Result<(), Exception> {
    let fields = multipart::fields(body, boundary).ok_or_else(|| {
        Exception::bad_argument(
            "the form cannot be read; its fields are query and param_*, files are not served",
        )
    })?;
    for (name, value) in fields {
        if name == "query" {
            call.query = joined(&call.query, &value);
        } else if let Some(param) = name.strip_prefix("param_") {
            let value = String::from_utf8(value)
                .map_err(|_| Exception::bad_argument(&format!("parameter {param} is not UTF-8")))?;
            call.params.push((param.to_owned(), value));
        } else {
            return Err(Exception::bad_argument(&format!(
                "form field {name} is neither query nor param_*; settings go into the URL"
            )));
        }
    }
    Ok(())
}

/// An INSERT whose data are what `statement` has behind its head, and the body.
async fn insert(
    call: Call,
    statement: Statement,
    mut body: Body,
    limit: u64,
) -> Result<Task, Exception> {
    let Kind::Insert(Insert::Data {
        source_at,
        head_end,
        format,
        data_at,
    }) = statement.kind
    else {
        return plain(call, statement);
    };
    if call.only_reads {
        return Err(readonly());
    }
    let text = &statement.text;
    let piece = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let mut data = Data::new().map_err(|error| no_room(&error))?;
    let inline = piece(data_at, text.len());
    let mut received = 0;
    if !inline.trim_ascii().is_empty() {
        data.push(inline).map_err(|error| no_room(&error))?;
        received = inline.len() as u64;
    }
    let mut first = received > 0;
    while let Some(bytes) = frame(&mut body).await? {
        if first && !bytes.is_empty() {
            data.push(b"\n").map_err(|error| no_room(&error))?;
            first = false;
        }
        received += bytes.len() as u64;
        if received > limit {
            return Err(Exception::too_large(limit));
        }
        data.push(&bytes).map_err(|error| no_room(&error))?;
    }
    let (statement, file) = data.statement(&Head {
        target: piece(0, source_at),
        settings: piece(source_at, head_end),
        format: &format,
        compression: call.compression,
    });
    let mut task = plain(call, statement)?;
    task.data = Some(file);
    Ok(task)
}

/// A statement that has all it needs.
fn plain(call: Call, mut statement: Statement) -> Result<Task, Exception> {
    if call.only_reads && !statement.only_reads() {
        return Err(readonly());
    }
    if statement.kind == Kind::Kill {
        statement.text = sql::with_query_ids(&statement.text);
    }
    let format = statement
        .format
        .clone()
        .or(call.format)
        .unwrap_or_else(|| DEFAULT_FORMAT.to_owned());
    let output = match statement.kind {
        Kind::Select if output::comes_in_blocks(&format, &statement.text, &call.context) => {
            Output::Blocks
        }
        Kind::Select => Output::Pipe(None),
        _ => Output::Whole,
    };
    Ok(Task {
        statement,
        format,
        params: call.params,
        context: call.context,
        query_id: call.query_id,
        output,
        data: None,
    })
}

fn readonly() -> Exception {
    Exception::new(
        164,
        "READONLY",
        "Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. \
         You should use method POST for modifying queries",
    )
}

fn no_room(error: &std::io::Error) -> Exception {
    Exception::new(
        243,
        "NOT_ENOUGH_SPACE",
        &format!("cannot keep the data of this INSERT until they are inserted: {error}"),
    )
}

async fn collect(body: &mut Body, limit: u64) -> Result<Bytes, Exception> {
    let mut collected = BytesMut::new();
    while let Some(bytes) = frame(body).await? {
        if collected.len() as u64 + bytes.len() as u64 > limit {
            return Err(Exception::too_large(limit));
        }
        collected.extend_from_slice(&bytes);
    }
    Ok(collected.freeze())
}

async fn frame(body: &mut Body) -> Result<Option<Bytes>, Exception> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Exception::new(
                210,
                "NETWORK_ERROR",
                &format!("the body ended early: {error}"),
            )
        })?;
        if let Ok(bytes) = frame.into_data() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(query: &str, body: &'static [u8], limit: u64) -> Result<Task, Exception> {
        let call = Call {
            query: query.as_bytes().to_vec(),
            query_id: "q".to_owned(),
            ..Call::default()
        };
        task(call, Body::from(body), limit).await
    }

    fn inserted(task: &Task) -> Vec<u8> {
        use std::os::fd::AsRawFd;
        let file = task.data.as_ref().unwrap();
        std::fs::read(crate::data::path_of(file.as_raw_fd())).unwrap()
    }

    #[tokio::test]
    async fn the_body_of_an_insert_is_its_data_byte_for_byte() {
        let task = read("INSERT INTO t FORMAT RowBinary", b"\n;\0'", 100)
            .await
            .unwrap();
        assert_eq!(inserted(&task), b"\n;\0'");
        assert!(matches!(task.output, Output::Whole));
    }

    #[tokio::test]
    async fn data_may_start_in_the_url_or_follow_in_the_same_body() {
        let task = read("INSERT INTO t VALUES (1),", b"(2)", 100)
            .await
            .unwrap();
        assert_eq!(inserted(&task), b" (1),\n(2)");
        let task = read("", b"INSERT INTO t FORMAT TSV\n1\n2\n", 100)
            .await
            .unwrap();
        assert_eq!(inserted(&task), b"1\n2\n");
        let task = read("INSERT INTO t", b"FORMAT TSV\n1\n", 100)
            .await
            .unwrap();
        assert_eq!(inserted(&task), b"1\n");
    }

    #[tokio::test]
    async fn a_statement_is_the_url_and_the_body() {
        let task = read("SELECT 1,", b"2 FORMAT Native;", 100).await.unwrap();
        assert_eq!(task.statement.text, b"SELECT 1,\n2 FORMAT Native");
        assert!(matches!(task.output, Output::Blocks));
        let task = read("SELECT 1", b"", 100).await.unwrap();
        assert_eq!(task.format, "TabSeparated");
        assert!(matches!(task.output, Output::Pipe(None)));
    }

    #[tokio::test]
    async fn one_byte_over_the_limit_is_refused() {
        assert!(read("INSERT INTO t FORMAT TSV", b"12345", 5).await.is_ok());
        assert_eq!(
            read("INSERT INTO t FORMAT TSV", b"123456", 5)
                .await
                .unwrap_err()
                .code,
            229
        );
        assert_eq!(read("", b"SELECT 1", 5).await.unwrap_err().code, 229);
    }
}
