//! Tickets nobody waits for → KILL QUERY, again until each has ended.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::Opening;
use super::ticket::Ticket;
use crate::ffi::{Session, Text};
use crate::sql;

/// A statement is not in the engine's list until it is parsed, so one KILL may miss it.
const AGAIN: Duration = Duration::from_millis(50);

/// The thread that kills, with a session of its own: all others may be busy when it is needed.
/// Its queue holds a ticket at most once, and there are no more tickets than places in the pool.
#[derive(Clone, Debug)]
pub(super) struct Canceller(Sender<Arc<Ticket>>);

impl Canceller {
    pub(super) fn start(opening: Opening) -> std::io::Result<Self> {
        let (sender, tickets) = channel();
        std::thread::Builder::new()
            .name("ch-cancel".to_owned())
            .spawn(move || kill_all(&opening, &tickets))?;
        Ok(Self(sender))
    }

    pub(super) fn kill(&self, ticket: Arc<Ticket>) {
        if self.0.send(ticket).is_err() {
            tracing::error!("the thread that kills statements is gone");
        }
    }
}

fn kill_all(opening: &Opening, tickets: &Receiver<Arc<Ticket>>) {
    let mut session = None;
    let mut pending: Vec<Arc<Ticket>> = Vec::new();
    loop {
        if pending.is_empty() {
            let Ok(ticket) = tickets.recv() else { return };
            pending.push(ticket);
        }
        pending.extend(tickets.try_iter());
        pending.retain(|ticket| !ticket.is_finished());
        if pending.is_empty() {
            continue;
        }
        kill(&mut session, opening, &pending);
        match tickets.recv_timeout(AGAIN) {
            Ok(ticket) => pending.push(ticket),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn kill(session: &mut Option<Session>, opening: &Opening, pending: &[Arc<Ticket>]) {
    if session.is_none() {
        *session = opening.session();
    }
    let Some(open) = session else {
        tracing::error!("cannot open a session to kill statements");
        return;
    };
    let statement = sql::kill(pending.iter().map(|ticket| ticket.query_id()));
    let text = Text {
        sql: statement.as_bytes(),
        format: "Null",
        params: &[],
    };
    if let Err(error) = open.query(text) {
        tracing::warn!("killing {} statements failed: {error}", pending.len());
        *session = None;
    }
}
