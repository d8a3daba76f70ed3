//! An answer, or none → whether the push is accepted, refused, or to be tried again.

use http::header;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceResponse;
use prost::Message as _;

use super::connection::{Answer, Lost};

/// What an attempt came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Every point is acknowledged.
    Accepted,
    /// A 2xx that rejects so many points, or says something that cannot be read.
    Partly(u64),
    /// Not stored; sending it again may help.
    Later,
    /// Not stored; sending it again does not help.
    Never,
    /// Perhaps stored; sending it again may help.
    Doubtful,
}

/// What an attempt came to, and what it is counted as.
pub(super) fn judge(answer: &Result<Answer, Lost>) -> (Attempt, String) {
    match answer {
        Ok(answer) => (of_status(answer), answer.status.to_string()),
        Err(Lost::Refused) => (Attempt::Later, "connection refused".to_owned()),
        Err(Lost::Broken) => (Attempt::Doubtful, "connection broken".to_owned()),
        Err(Lost::TimedOut) => (Attempt::Doubtful, "no answer in time".to_owned()),
    }
}

fn of_status(answer: &Answer) -> Attempt {
    match answer.status {
        200..=299 => match rejected(answer) {
            Some(0) => Attempt::Accepted,
            Some(points) => Attempt::Partly(points),
            None => Attempt::Partly(0),
        },
        429 => Attempt::Later,
        // A body that came too slowly was not stored, and is worth another try.
        408 => Attempt::Later,
        400..=499 => Attempt::Never,
        _ => Attempt::Doubtful,
    }
}

/// Rejected points of a success; `None` when the answer says something else. An empty answer is one
/// without a word of rejections.
fn rejected(answer: &Answer) -> Option<u64> {
    let json = answer
        .headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if json || answer.body.is_empty() {
        // Pushes are protobuf: an answer in JSON is only taken when it is empty.
        return (answer.body.is_empty() || *answer.body == *b"{}").then_some(0);
    }
    let response = ExportMetricsServiceResponse::decode(&*answer.body).ok()?;
    let points = response
        .partial_success
        .map_or(0, |partial| partial.rejected_data_points);
    u64::try_from(points).ok()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;
    use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsPartialSuccess;

    use super::*;

    fn answer(status: u16, body: Vec<u8>) -> Result<Answer, Lost> {
        Ok(Answer {
            status,
            headers: HeaderMap::new(),
            body: Bytes::from(body),
        })
    }

    fn partly(points: i64) -> Vec<u8> {
        let response = ExportMetricsServiceResponse {
            partial_success: Some(ExportMetricsPartialSuccess {
                rejected_data_points: points,
                error_message: "why".to_owned(),
            }),
        };
        response.encode_to_vec()
    }

    #[test]
    fn only_a_success_without_rejections_is_accepted() {
        for (body, expected) in [
            (Vec::new(), Attempt::Accepted),
            (partly(0), Attempt::Accepted),
            (partly(3), Attempt::Partly(3)),
            (b"\xff\xff".to_vec(), Attempt::Partly(0)),
        ] {
            assert_eq!(judge(&answer(200, body)).0, expected);
        }
    }

    #[test]
    fn what_is_refused_is_told_from_what_may_be_stored() {
        for (status, expected) in [
            (400, Attempt::Never),
            (401, Attempt::Never),
            (413, Attempt::Never),
            (429, Attempt::Later),
            (500, Attempt::Doubtful),
            (503, Attempt::Doubtful),
        ] {
            assert_eq!(
                judge(&answer(status, Vec::new())),
                (expected, status.to_string())
            );
        }
        assert_eq!(judge(&Err(Lost::Refused)).0, Attempt::Later);
        assert_eq!(judge(&Err(Lost::Broken)).0, Attempt::Doubtful);
        assert_eq!(judge(&Err(Lost::TimedOut)).0, Attempt::Doubtful);
    }
}
