//! All tests of the crate that need no program of their own: linking one costs more than running most.

mod atomicity;
mod brute;
#[path = "../../witness/tests/common/mod.rs"]
mod common;
mod corpus;
mod deadlines;
mod deadlock;
mod held_back;
mod hostile;
mod lock_order;
mod lost_wakeup;
mod maximal;
mod maximal_limits;
mod racy_traces;
mod rules;
mod runs;
mod sync_preserving;
