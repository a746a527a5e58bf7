//! The `.rvs` specification language, and the monitors that its properties compile to.

pub mod bind;
pub mod check;
pub mod compile;
mod formula;
pub mod logic;
pub mod monitor;
pub mod run;
pub mod steps;
pub mod study;
pub mod syntax;

pub use formula::{AtomId, Ere, Formula, Fsm, FsmState, Guard, Otherwise};
