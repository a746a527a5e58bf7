//! The `.rvs` specification language, and the monitors that its properties compile to.

mod formula;
pub mod monitor;

pub use formula::{AtomId, Ere, Formula, Fsm, FsmState, Guard, Otherwise};
