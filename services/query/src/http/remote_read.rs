//! `read`: Prometheus' remote read, answered with samples (the `SAMPLES` form): a snappy-compressed
//! protobuf in, one out.

mod wire;

use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use promql::ast::{MatchOp, Matcher};
use promql::select::{MatcherSet, Selection};
use prost::Message;

use crate::app::App;
use crate::http::reader::Reader;
use crate::http::reply::{Failure, Plain};

/// Largest compressed request, bytes: far above any list of matchers.
const MAX_BODY: usize = 1 << 20;
/// Largest request after decompression, bytes.
const MAX_PLAIN: usize = 8 << 20;
/// Most queries in one request.
const MAX_QUERIES: usize = 100;

/// Answers `read`. Other forms than `SAMPLES` are optional for a server, and clients must take this one.
pub(super) async fn read(
    State(app): State<App>,
    reader: Reader,
    body: Body,
) -> Result<Response, Plain> {
    let request = request(body).await?;
    let selections = request
        .queries
        .into_iter()
        .map(selection)
        .collect::<Result<Vec<_>, _>>()?;
    let (_turn, budget) = app.admit(&reader).await?;
    let fetched = app
        .fetcher
        .fetch(&reader.scope, &selections, &budget)
        .await?;
    let packed = tokio::task::spawn_blocking(move || {
        let results = fetched.into_sets().iter().map(wire::result).collect();
        let plain = wire::ReadResponse { results }.encode_to_vec();
        snap::raw::Encoder::new().compress_vec(&plain)
    })
    .await
    .map_err(Failure::internal)?
    .map_err(Failure::internal)?;
    let kind = [
        (header::CONTENT_TYPE, "application/x-protobuf"),
        (header::CONTENT_ENCODING, "snappy"),
    ];
    Ok((kind, packed).into_response())
}

async fn request(body: Body) -> Result<wire::ReadRequest, Failure> {
    let packed = to_bytes(body, MAX_BODY).await.map_err(|cause| {
        Failure::bad_data(format!(
            "the request cannot be read, or is longer than {MAX_BODY} bytes"
        ))
        .because(cause)
    })?;
    // The length stands before the data, so a bomb is refused before it is unpacked.
    let length = snap::raw::decompress_len(&packed).map_err(|why| not_snappy(&why))?;
    if length > MAX_PLAIN {
        return Err(Failure::bad_data(format!(
            "the request unpacks to more than {MAX_PLAIN} bytes"
        )));
    }
    let plain = snap::raw::Decoder::new()
        .decompress_vec(&packed)
        .map_err(|why| not_snappy(&why))?;
    let request = wire::ReadRequest::decode(plain.as_slice()).map_err(|why| {
        Failure::bad_data(format!("the request is not a remote read request: {why}"))
    })?;
    if request.queries.len() > MAX_QUERIES {
        return Err(Failure::bad_data(format!(
            "at most {MAX_QUERIES} queries are accepted in one request"
        )));
    }
    Ok(request)
}

fn not_snappy(why: &snap::Error) -> Failure {
    Failure::bad_data(format!(
        "the request is not compressed with snappy (block format): {why}"
    ))
}

/// The window of a query includes both its ends; that of a selection leaves out its start.
fn selection(query: wire::Query) -> Result<Selection, Failure> {
    let matchers = query
        .matchers
        .into_iter()
        .map(matcher)
        .collect::<Result<Vec<_>, _>>()?;
    MatcherSet::new(&matchers)?;
    Ok(Selection::window(
        matchers,
        query.start_timestamp_ms.saturating_sub(1),
        query.end_timestamp_ms,
    ))
}

fn matcher(matcher: wire::LabelMatcher) -> Result<Matcher, Failure> {
    let op = match matcher.kind {
        0 => MatchOp::Equal,
        1 => MatchOp::NotEqual,
        2 => MatchOp::Regex,
        3 => MatchOp::NotRegex,
        other => {
            return Err(Failure::bad_data(format!(
                "matcher type {other} is not known"
            )));
        }
    };
    Ok(Matcher {
        name: matcher.name,
        op,
        value: matcher.value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(request: &wire::ReadRequest) -> Body {
        Body::from(
            snap::raw::Encoder::new()
                .compress_vec(&request.encode_to_vec())
                .unwrap(),
        )
    }

    #[tokio::test]
    async fn a_request_becomes_selections_that_include_their_first_millisecond() {
        let query = wire::Query {
            start_timestamp_ms: 1000,
            end_timestamp_ms: 2000,
            matchers: vec![wire::LabelMatcher {
                kind: 3,
                name: "a".into(),
                value: "b.*".into(),
            }],
        };
        let read = request(pack(&wire::ReadRequest {
            queries: vec![query],
        }))
        .await
        .unwrap();
        let selection = selection(read.queries[0].clone()).unwrap();
        assert_eq!((selection.start, selection.end), (999, 2000));
        let expected = Matcher {
            name: "a".into(),
            op: MatchOp::NotRegex,
            value: "b.*".into(),
        };
        assert_eq!(selection.matchers, [expected]);
    }

    #[tokio::test]
    async fn what_is_not_a_request_is_refused_in_words() {
        let refused = request(Body::from("hello")).await.unwrap_err();
        assert!(refused.text.contains("snappy"), "{}", refused.text);
        let packed = snap::raw::Encoder::new()
            .compress_vec(b"\xff\xff\xff")
            .unwrap();
        let refused = request(Body::from(packed)).await.unwrap_err();
        assert!(
            refused.text.contains("not a remote read request"),
            "{}",
            refused.text
        );
        // A declared length of 4 GiB in front of nothing.
        let refused = request(Body::from(&b"\xff\xff\xff\xff\x0f"[..]))
            .await
            .unwrap_err();
        assert!(
            refused.text.contains("unpacks to more than"),
            "{}",
            refused.text
        );
    }

    #[test]
    fn an_unknown_matcher_type_is_refused() {
        let odd = wire::LabelMatcher {
            kind: 9,
            name: "a".into(),
            value: String::new(),
        };
        assert_eq!(
            matcher(odd).unwrap_err().text,
            "matcher type 9 is not known"
        );
    }
}
