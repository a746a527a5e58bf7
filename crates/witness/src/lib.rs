//! Schedules that show a prediction, and a checker of them that trusts nobody.
//!
//! * [`check()`] says whether a schedule is feasible in a [`Causality`](event::Causality) model, by the definitions of docs/causality.md
//!   alone; [`check_race`], [`check_deadlock`], [`check_atomicity`] and [`check_lost_wakeup`] check what else a
//!   finding claims.
//! * [`build()`] makes a schedule of all events from the order of those that matter.
//! * [`moved()`] tells which events of a schedule stand elsewhere than in the recorded run.

mod build;
pub mod check;
mod moved;
mod ops;
mod pins;
mod sections;

pub use build::{NoSchedule, build};
pub use check::{Checked, Refused, check, check_atomicity, check_deadlock, check_lost_wakeup, check_race};
pub use moved::moved;
