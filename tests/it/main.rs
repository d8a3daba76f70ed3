//! The system from outside: every test starts its own `sluice` and talks to it as its users do.
