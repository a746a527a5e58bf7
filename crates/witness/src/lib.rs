//! Schedules that show a prediction, and a checker of them that trusts nobody.

pub mod check;
mod ops;
mod pins;
mod sections;

pub use check::{Checked, Model, Refused, check, check_deadlock, check_race};
