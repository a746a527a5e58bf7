//! The `.rvs` specification language, and the monitors that its properties compile to.

pub mod check;
mod formula;
pub mod monitor;
pub mod syntax;

pub use formula::{AtomId, Ere, Formula, Fsm, FsmState, Guard, Otherwise};
