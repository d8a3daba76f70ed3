//! One kept TCP connection → answers to the requests sent over it, one at a time.

use std::pin::Pin;
use std::time::Duration;

use anyhow::{Context, ensure};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Longest answer read, bytes.
const MOST: usize = 1 << 20;

/// Where pushes go.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    authority: String,
    host: HeaderValue,
    path: Uri,
}

impl Address {
    /// Takes a URL apart.
    ///
    /// # Errors
    /// When it is no `http://` URL with a host.
    pub(crate) fn of(url: &str) -> anyhow::Result<Self> {
        let uri: Uri = url.parse().with_context(|| format!("{url} is no URL"))?;
        ensure!(
            uri.scheme_str() == Some("http"),
            "{url}: pushes go over plain http:// only, as through a proxy beside the gateway"
        );
        let authority = uri
            .authority()
            .with_context(|| format!("{url} has no host"))?;
        let port = authority.port_u16().unwrap_or(80);
        Ok(Self {
            authority: format!("{}:{port}", authority.host()),
            host: HeaderValue::from_str(authority.as_str())?,
            path: uri
                .path_and_query()
                .map_or("/", |path| path.as_str())
                .parse()?,
        })
    }
}

/// Why there was no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// Nobody listens: nothing was sent.
    Refused,
    /// The connection ended before the answer.
    Broken,
    /// No answer in time.
    TimedOut,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

type Sender = http1::SendRequest<Full<Bytes>>;
type Driver = Pin<Box<http1::Connection<TokioIo<TcpStream>, Full<Bytes>>>>;

/// A connection that is opened when it is needed.
#[derive(Debug)]
pub(super) struct Connection {
    address: Address,
    open: Option<(Sender, Driver)>,
}

impl Connection {
    /// Nothing is opened yet.
    pub(super) fn new(address: Address) -> Self {
        Self {
            address,
            open: None,
        }
    }

    /// Sends a body with these headers and waits for the answer, `limit` at most.
    pub(super) async fn send(
        &mut self,
        headers: HeaderMap,
        body: Bytes,
        limit: Duration,
    ) -> Result<Answer, Lost> {
        let answer = tokio::time::timeout(limit, self.exchange(headers, body)).await;
        let answer = answer.unwrap_or(Err(Lost::TimedOut));
        if answer.is_err() {
            self.open = None;
        }
        answer
    }

    /// Keeps the connection alive until `pause` is over.
    pub(super) async fn rest(&mut self, pause: Duration) {
        let sleep = tokio::time::sleep(pause);
        tokio::pin!(sleep);
        if let Some((_, driver)) = &mut self.open {
            tokio::select! {
                biased;
                () = &mut sleep => return,
                // The server has closed it; the next push opens another.
                _ = driver => self.open = None,
            }
        }
        sleep.await;
    }

    async fn exchange(&mut self, headers: HeaderMap, body: Bytes) -> Result<Answer, Lost> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.address.path.clone();
        *request.headers_mut() = headers;
        request
            .headers_mut()
            .insert(header::HOST, self.address.host.clone());
        let (sender, driver) = match &mut self.open {
            Some((sender, driver)) if !sender.is_closed() => (sender, driver),
            open => {
                let (sender, driver) = open.insert(connect(&self.address).await?);
                (sender, driver)
            }
        };
        let (answer, ended) = driven(answer(sender, request), driver).await;
        if ended {
            self.open = None;
        }
        answer
    }
}

/// Waits for the answer while the connection works; also whether the connection has ended.
async fn driven(
    answer: impl Future<Output = Result<Answer, Lost>>,
    driver: &mut Driver,
) -> (Result<Answer, Lost>, bool) {
    tokio::pin!(answer);
    tokio::select! {
        biased;
        answer = &mut answer => (answer, false),
        ended = driver => match ended {
            // The answer may have come with the end.
            Ok(()) => (answer.await, true),
            Err(_) => (Err(Lost::Broken), true),
        },
    }
}

async fn connect(address: &Address) -> Result<(Sender, Driver), Lost> {
    let stream = TcpStream::connect(&address.authority)
        .await
        .map_err(|_| Lost::Refused)?;
    stream.set_nodelay(true).map_err(|_| Lost::Refused)?;
    let (sender, driver) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|_| Lost::Refused)?;
    Ok((sender, Box::pin(driver)))
}

async fn answer(sender: &mut Sender, request: Request<Full<Bytes>>) -> Result<Answer, Lost> {
    sender.ready().await.map_err(|_| Lost::Broken)?;
    let response = sender
        .send_request(request)
        .await
        .map_err(|_| Lost::Broken)?;
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, MOST)
        .collect()
        .await
        .map_err(|_| Lost::Broken)?;
    Ok(Answer {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: body.to_bytes(),
    })
}
