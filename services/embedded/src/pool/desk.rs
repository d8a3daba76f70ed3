//! A task → what the engine answers to it; one thread and one session.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::thread::JoinHandle;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::ticket::{Registered, Ticket};
use super::{Part, Shared, lock};
use crate::data::path_of;
use crate::exception::Exception;
use crate::ffi::{Chunk, Session, Stream, Text, Totals};
use crate::sql::{self, Statement};

/// What a statement finds in its session: nothing but this.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Context {
    /// Current database; empty is `default`.
    pub(crate) database: String,
    /// Settings that differ from ClickHouse's defaults.
    pub(crate) settings: BTreeMap<String, String>,
}

impl Context {
    /// Settings that cannot be taken back, so that the session must go.
    fn is_final(&self) -> bool {
        ["readonly", "profile", "allow_ddl"]
            .iter()
            .any(|name| self.settings.contains_key(*name))
    }
}

/// How a statement's output leaves the engine.
#[derive(Debug)]
pub(crate) enum Output {
    /// Block by block; for SELECT in formats that may be cut between blocks.
    Blocks,
    /// At once; for small outputs.
    Whole,
    /// Through a pipe; for SELECT in formats that have a beginning and an end.
    Pipe(Option<OwnedFd>),
}

/// A statement, ready to run.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) statement: Statement,
    /// Format of the output where the statement names none.
    pub(crate) format: String,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) context: Context,
    pub(crate) query_id: String,
    pub(crate) output: Output,
    /// The file that the statement inserts from, open until it has ended.
    pub(crate) data: Option<File>,
}

/// A task with everything that ends with it.
#[derive(Debug)]
pub(super) struct Assignment {
    pub(super) task: Task,
    pub(super) ticket: Arc<Ticket>,
    pub(super) parts: mpsc::Sender<Part>,
    pub(super) _registered: Registered,
    pub(super) session: OwnedSemaphorePermit,
}

#[derive(Debug)]
pub(super) enum Order {
    Run(Box<Assignment>),
    Stop,
}

/// A desk without work, with what its session is set to.
#[derive(Debug)]
pub(super) struct Idle {
    orders: Sender<Order>,
    context: Context,
}

impl Idle {
    pub(super) fn stop(self) {
        // A desk that is gone has stopped.
        self.orders.send(Order::Stop).ok();
    }
}

/// Gives the order to an idle desk: one whose session is set as the task needs it, or the one that was used last.
pub(super) fn give(shared: &Shared, order: Order) -> Result<(), SendError<Order>> {
    let mut idle = lock(&shared.idle);
    let fits = |desk: &Idle| matches!(&order, Order::Run(run) if run.task.context == desk.context);
    let chosen = idle
        .iter()
        .rposition(fits)
        .or_else(|| idle.len().checked_sub(1));
    let Some(chosen) = chosen else {
        return Err(SendError(order));
    };
    let desk = idle.remove(chosen);
    drop(idle);
    desk.orders.send(order)
}

/// A thread and its session.
pub(super) struct Desk {
    shared: Arc<Shared>,
    session: Option<Session>,
    context: Context,
}

impl Desk {
    pub(super) fn start(number: usize, shared: Arc<Shared>) -> std::io::Result<JoinHandle<()>> {
        let (sender, orders) = channel();
        lock(&shared.idle).push(Idle {
            orders: sender.clone(),
            context: Context::default(),
        });
        let mut desk = Self {
            shared,
            session: None,
            context: Context::default(),
        };
        std::thread::Builder::new()
            .name(format!("ch-session-{number}"))
            .spawn(move || desk.work(&orders, &sender))
    }

    fn work(&mut self, orders: &Receiver<Order>, own: &Sender<Order>) {
        while let Ok(Order::Run(run)) = orders.recv() {
            let Assignment {
                task,
                ticket,
                parts,
                _registered: registered,
                session,
            } = *run;
            let end = self.run(&task, &ticket, &parts);
            ticket.finish();
            // With it goes our end of the pipe, which is how the reader learns that there is no more.
            drop(task);
            drop(registered);
            // A client that is gone needs no end.
            parts.blocking_send(end).ok();
            drop(parts);
            if self.shared.stopping.load(Ordering::Acquire) {
                break;
            }
            lock(&self.shared.idle).push(Idle {
                orders: own.clone(),
                context: self.context.clone(),
            });
            drop(session);
        }
        self.session = None;
    }

    /// Runs a task; everything but its end has been sent when this returns.
    fn run(&mut self, task: &Task, ticket: &Ticket, parts: &mpsc::Sender<Part>) -> Part {
        if ticket.is_cancelled() {
            return Part::Failed(Exception::cancelled());
        }
        if let Err(refused) = self.prepare(&task.context) {
            self.forget();
            return Part::Failed(refused);
        }
        let forget = task.context.is_final() || task.statement.kind == sql::Kind::Session;
        let end = match self.session.as_mut() {
            Some(session) => answer(session, task, ticket, parts),
            None => Err("no session".to_owned()),
        };
        // A failed statement stays in the engine's list until its session is used again or closed.
        if forget || ticket.is_cancelled() || end.is_err() {
            self.forget();
        }
        match end {
            Ok(totals) => Part::Done(totals),
            Err(error) => Part::Failed(Exception::from_engine(&error)),
        }
    }

    fn forget(&mut self) {
        self.session = None;
        self.context = Context::default();
    }

    /// Sets the session to `wanted`, with as few statements as the difference needs.
    fn prepare(&mut self, wanted: &Context) -> Result<(), Exception> {
        if self.session.is_none() {
            self.session = self.shared.opening.session();
        }
        let session = self
            .session
            .as_mut()
            .ok_or_else(|| Exception::from_engine("the engine refuses another session"))?;
        if let Some(statement) = difference(&self.context.settings, &wanted.settings)? {
            command(session, &statement)?;
        }
        if self.context.database != wanted.database {
            let name = if wanted.database.is_empty() {
                "default"
            } else {
                &wanted.database
            };
            command(session, &format!("USE {}", sql::quoted_name(name)))?;
        }
        self.context = wanted.clone();
        Ok(())
    }
}

/// The SET that turns `old` into `new`.
fn difference(
    old: &BTreeMap<String, String>,
    new: &BTreeMap<String, String>,
) -> Result<Option<String>, Exception> {
    let mut changes = Vec::new();
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        changes.push(format!("{name} = DEFAULT"));
    }
    for (name, value) in new
        .iter()
        .filter(|(name, value)| old.get(*name) != Some(*value))
    {
        if name.is_empty()
            || !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return Err(Exception::new(
                115,
                "UNKNOWN_SETTING",
                &format!("Unknown setting '{name}'"),
            ));
        }
        changes.push(format!("{name} = {}", sql::quoted_text(value)));
    }
    Ok((!changes.is_empty()).then(|| format!("SET {}", changes.join(", "))))
}

fn command(session: &mut Session, statement: &str) -> Result<(), Exception> {
    let text = Text {
        sql: statement.as_bytes(),
        format: "Null",
        params: &[],
    };
    session
        .query(text)
        .map(drop)
        .map_err(|error| Exception::from_engine(&error))
}

fn answer(
    session: &mut Session,
    task: &Task,
    ticket: &Ticket,
    parts: &mpsc::Sender<Part>,
) -> Result<Totals, String> {
    let text = |sql| Text {
        sql,
        format: &task.format,
        params: &task.params,
    };
    let mark = |sql: &[u8]| sql::mark(sql, &task.statement.kind, ticket.query_id());
    match &task.output {
        Output::Blocks => {
            let marked = mark(&task.statement.text);
            blocks(session, text(&marked), parts)
        }
        Output::Whole => {
            let marked = mark(&task.statement.text);
            whole(session, text(&marked), parts)
        }
        Output::Pipe(sink) => {
            let descriptor = sink.as_ref().ok_or("no pipe")?.as_raw_fd();
            let redirected = sql::into_outfile(&task.statement, &path_of(descriptor), &task.format);
            let marked = mark(&redirected);
            session.query(text(&marked)).map(|chunk| chunk.totals())
        }
    }
}

fn whole(
    session: &mut Session,
    text: Text<'_>,
    parts: &mpsc::Sender<Part>,
) -> Result<Totals, String> {
    let chunk = session.query(text)?;
    let totals = chunk.totals();
    send(chunk, parts);
    Ok(totals)
}

/// Hands on a piece of output; false when nobody takes it.
fn send(chunk: Chunk, parts: &mpsc::Sender<Part>) -> bool {
    chunk.as_ref().is_empty()
        || parts
            .blocking_send(Part::Data(Bytes::from_owner(chunk)))
            .is_ok()
}

fn blocks(
    session: &mut Session,
    text: Text<'_>,
    parts: &mpsc::Sender<Part>,
) -> Result<Totals, String> {
    /// What the engine says to SELECTs that it does not give in blocks (with SETTINGS that forbid it, say).
    const REFUSED: &str = "Streaming query is not supported";
    let refused = match session.stream(text) {
        Ok(stream) => return hand_on(stream, parts),
        Err(refused) => refused,
    };
    if refused.contains(REFUSED) {
        whole(session, text, parts)
    } else {
        Err(refused)
    }
}

fn hand_on(mut stream: Stream<'_>, parts: &mpsc::Sender<Part>) -> Result<Totals, String> {
    let mut totals = Totals::default();
    while let Some(chunk) = stream.next()? {
        totals += chunk.totals();
        if !send(chunk, parts) {
            break;
        }
    }
    Ok(totals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn only_what_differs_is_set_and_the_rest_is_reset() {
        let old = settings(&[("a", "1"), ("b", "2")]);
        let new = settings(&[("b", "2"), ("c", "it's")]);
        assert_eq!(
            difference(&old, &new).unwrap().as_deref(),
            Some(r"SET a = DEFAULT, c = 'it\'s'")
        );
        assert_eq!(difference(&new, &new).unwrap(), None);
    }

    #[test]
    fn a_name_that_is_no_name_is_an_unknown_setting() {
        let refused = difference(&settings(&[]), &settings(&[("a=1;x", "1")])).unwrap_err();
        assert_eq!(refused.code, 115);
    }
}
