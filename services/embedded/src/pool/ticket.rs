//! A running statement → its id and whether it is still wanted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::canceller::Canceller;
use super::lock;
use crate::exception::Exception;

/// The statements that wait or run, by id.
pub(super) type Running = Arc<Mutex<HashMap<String, Arc<Ticket>>>>;

/// One statement between its request and its end.
#[derive(Debug)]
pub(super) struct Ticket {
    query_id: String,
    cancelled: AtomicBool,
    finished: AtomicBool,
}

impl Ticket {
    pub(super) fn new(query_id: &str) -> Arc<Self> {
        Arc::new(Self {
            query_id: query_id.to_owned(),
            cancelled: AtomicBool::new(false),
            finished: AtomicBool::new(false),
        })
    }

    pub(super) fn query_id(&self) -> &str {
        &self.query_id
    }

    /// Nobody waits for it any more. Nothing happens when it has ended; the second call does nothing.
    pub(super) fn cancel(self: &Arc<Self>, canceller: &Canceller) {
        if !self.is_finished() && !self.cancelled.swap(true, Ordering::AcqRel) {
            canceller.kill(Arc::clone(self));
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// The engine is done with it.
    pub(super) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }
}

/// Keeps a ticket in the list of running statements while it lives.
#[derive(Debug)]
pub(super) struct Registered {
    running: Running,
    ticket: Arc<Ticket>,
}

impl Registered {
    /// Enters the ticket; refused while a statement of the same id is there.
    pub(super) fn new(running: &Running, ticket: &Arc<Ticket>) -> Result<Self, Exception> {
        let mut list = lock(running);
        if list.contains_key(&ticket.query_id) {
            return Err(Exception::new(
                216,
                "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING",
                &format!("Query with id = {} is already running", ticket.query_id),
            ));
        }
        list.insert(ticket.query_id.clone(), Arc::clone(ticket));
        drop(list);
        Ok(Self {
            running: Arc::clone(running),
            ticket: Arc::clone(ticket),
        })
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // It never reaches a session now, or has left it.
        self.ticket.finish();
        lock(&self.running).remove(&self.ticket.query_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_as_long_as_its_statement_lives() {
        let running = Running::default();
        let first = Registered::new(&running, &Ticket::new("a")).unwrap();
        assert_eq!(
            Registered::new(&running, &Ticket::new("a"))
                .unwrap_err()
                .code,
            216
        );
        drop(first);
        Registered::new(&running, &Ticket::new("a")).unwrap();
    }
}
