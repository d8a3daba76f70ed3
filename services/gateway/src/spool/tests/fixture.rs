//! A spool in a folder of its own, whose deliveries the test answers one by one.

use std::path::Path;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::super::backoff::Backoff;
use super::super::*;

pub(super) const HOUR: Duration = Duration::from_secs(3600);

/// Settings under which segments hold two records of [`record`] and age seals nothing.
pub(super) fn config(dir: &Path) -> Config {
    Config {
        dir: dir.to_owned(),
        segment_bytes: bytesize::ByteSize::b(segment_of(2)),
        seal_after: HOUR,
        min_free_bytes: bytesize::ByteSize::b(0),
        ..Config::default()
    }
}

/// Size of a segment with so many records of [`record`].
pub(super) fn segment_of(records: u64) -> u64 {
    let around = u64::try_from(segment::HEADER).unwrap();
    let frame = u64::try_from(segment::FRAME + record(0).len()).unwrap();
    around + records * frame
}

pub(super) fn record(index: usize) -> Bytes {
    Bytes::from(format!("record {index:04}"))
}

pub(super) fn records(indices: std::ops::Range<usize>) -> Vec<Bytes> {
    indices.map(record).collect()
}

/// A delivery that waits for the test's answer.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) token: String,
    pub(super) records: Vec<Bytes>,
    pub(super) answer: oneshot::Sender<Result<(), DeliveryFault>>,
}

impl Call {
    pub(super) fn take(self) -> (String, Vec<Bytes>) {
        self.answer.send(Ok(())).unwrap();
        (self.token, self.records)
    }

    pub(super) fn fail(self, kind: FaultKind) -> (String, Vec<Bytes>) {
        let message = "not today".to_owned();
        let fault = DeliveryFault { kind, message };
        self.answer.send(Err(fault)).unwrap();
        (self.token, self.records)
    }
}

struct Asking(mpsc::UnboundedSender<Call>);

impl Deliver for Asking {
    async fn deliver(&self, token: &str, records: Vec<Bytes>) -> Result<(), DeliveryFault> {
        let (answer, answered) = oneshot::channel();
        let token = token.to_owned();
        let call = Call {
            token,
            records,
            answer,
        };
        self.0.send(call).unwrap();
        // A test that asks for a panic drops the answer.
        answered.await.expect("the test answers")
    }
}

/// A running spool.
pub(super) struct Running {
    pub(super) spool: Spool,
    pub(super) calls: mpsc::UnboundedReceiver<Call>,
    pub(super) metrics: Metrics,
    pub(super) task: JoinHandle<()>,
}

impl Running {
    pub(super) async fn start(config: &Config) -> Self {
        Self::start_on(config, Arc::new(Local)).await
    }

    pub(super) async fn start_on(config: &Config, disk: Arc<dyn Disk>) -> Self {
        assert_eq!(config.check(), Ok(()));
        let metrics = Metrics::new();
        let opened = Spool::open_on(config, &metrics, disk).await;
        let (spool, mut delivery) = opened.unwrap();
        delivery.pace = Pace {
            backoff: Backoff {
                first: Duration::from_micros(1),
                most: Duration::from_micros(1),
            },
            look_again: Duration::from_millis(1),
        };
        let (asking, calls) = mpsc::unbounded_channel();
        let task = runtime::tasks::Tasks::new().spawn("spool", delivery.run(Asking(asking)));
        Self {
            spool,
            calls,
            metrics,
            task,
        }
    }

    pub(super) async fn append(&self, indices: std::ops::Range<usize>) {
        for index in indices {
            self.spool.append(record(index)).await.unwrap();
        }
    }

    pub(super) async fn call(&mut self) -> Call {
        self.calls.recv().await.unwrap()
    }

    /// Closes the spool and takes everything; answers what was left.
    pub(super) async fn drain(mut self) -> Vec<(String, Vec<Bytes>)> {
        let mut taken = Vec::new();
        let never = CancellationToken::new();
        let spool = self.spool.clone();
        let closed = spool.close(HOUR, &never);
        tokio::pin!(closed);
        loop {
            tokio::select! {
                left = &mut closed => {
                    assert_eq!(left.segments, 0);
                    break;
                }
                Some(call) = self.calls.recv() => taken.push(call.take()),
            }
        }
        self.task.await.unwrap();
        taken
    }

    /// A metric's value; the name without `sluice_gateway_spool_`.
    pub(super) fn metric(&self, name: &str) -> f64 {
        let text = self.metrics.render().unwrap();
        let start = format!("sluice_gateway_spool_{name} ");
        let value = text.lines().find_map(|line| line.strip_prefix(&start));
        value
            .unwrap_or_else(|| panic!("no {name} in\n{text}"))
            .parse()
            .unwrap()
    }
}

/// Waits until something holds that another thread brings about.
pub(super) async fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        tokio::task::yield_now().await;
    }
}
