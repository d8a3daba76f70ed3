//! The gateway's port from outside, over real sockets: every answer, parsed back as its sender would.

mod fixture;
mod storage;
mod probe;

mod paths;
mod credentials;
mod bodies;
mod sizes;
mod limits;
mod stored;
mod faults;
