//! Error patterns in a recorded run, one file (or folder) each.
//!
//! * [`hb`]: data races of the recorded run itself, by schedulable happens-before: every report is real.
//! * [`lockset`]: accesses of a variable without a common lock: warnings, after Eraser.
//! * [`lock_order`]: lock trees and cycles of the lock graph: warnings, after GoodLock and JPaX.
//! * [`sync_preserving`]: races and deadlocks of other runs, predicted from a whole trace in memory.
//!
//! The others take the events batch by batch. None prints: what it found is in the report that its `finish` gives.

pub mod hb;
pub mod lock_order;
pub mod lockset;
pub mod sync_preserving;

mod locksets;
mod race;

pub use race::{Access, Race, Races};
