//! An HTTP body → its bytes, counted and bounded; what is left of a refused one is read and dropped.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures::{Stream, StreamExt};
use http::request::Parts;
use http::{Version, header};
use runtime::tasks::Tasks;

/// How long the rest of a refused body is read, so that its sender gets to read the answer. Closing at
/// once would reset the connection under an answer that is still on its way.
const LINGER: Duration = Duration::from_secs(3);

/// Why a body could not be read; travels inside an [`io::Error`] through the decompressors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WireFault {
    /// More bytes than allowed.
    #[error("the body is longer than allowed")]
    TooLarge,
    /// The connection broke, or the chunks were not framed as HTTP wants it.
    #[error("the body broke off")]
    BrokenOff,
}

/// A body as it comes off the wire.
#[derive(Debug)]
pub(crate) struct WireBody {
    body: Option<BodyDataStream>,
    limit: u64,
    /// Bytes read so far.
    read: u64,
    lingers: bool,
    tasks: Tasks,
}

impl WireBody {
    /// The unread `body` of the request with the head `parts`; at most `limit` bytes of it will be read.
    pub(crate) fn new(parts: &Parts, body: Body, limit: u64, tasks: Tasks) -> Self {
        // Reading would make the server ask for a body that its sender holds back; HTTP/2 closes streams
        // without closing connections.
        let lingers =
            parts.version < Version::HTTP_2 && !parts.headers.contains_key(header::EXPECT);
        Self {
            body: Some(body.into_data_stream()),
            limit,
            read: 0,
            lingers,
            tasks,
        }
    }

    /// Bytes read so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read
    }
}

impl Stream for WireBody {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        match body.poll_next_unpin(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => {
                self.body = None;
                Poll::Ready(None)
            }
            Poll::Ready(Some(Err(_))) => {
                self.body = None;
                Poll::Ready(Some(Err(io::Error::other(WireFault::BrokenOff))))
            }
            Poll::Ready(Some(Ok(bytes))) => {
                let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                self.read = self.read.saturating_add(length);
                if self.read > self.limit {
                    return Poll::Ready(Some(Err(io::Error::other(WireFault::TooLarge))));
                }
                Poll::Ready(Some(Ok(bytes)))
            }
        }
    }
}

impl Drop for WireBody {
    fn drop(&mut self) {
        let Some(mut body) = self.body.take() else {
            return;
        };
        if !self.lingers || tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        let rest = async move { while let Some(Ok(_)) = body.next().await {} };
        drop(self.tasks.spawn("linger", async move {
            // Late or done, the rest is of no interest.
            drop(tokio::time::timeout(LINGER, rest).await);
        }));
    }
}
