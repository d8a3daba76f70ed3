//! The spool as its callers see it, on disks that work, fail and lose what was not made durable.

mod fixture;
mod probe;
mod appending;
mod delivering;
mod setting_aside;
mod starting;
mod stopping;
mod faults;
mod crashes;
