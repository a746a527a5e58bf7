//! Error patterns in a recorded run, one file (or folder) each.
//!
//! * [`atomicity`]: blocks that are not serialisable, in the recorded run (after AeroDrome) or in another one.
//! * [`deadlock`]: cycles of lock requests that some run ends in, with the order that leads there.
//! * [`hang`]: threads that wait for ever at the end of the recorded run.
//! * [`hb`]: data races of the recorded run itself, by schedulable happens-before: every report is real.
//! * [`lockset`]: accesses of a variable without a common lock: warnings, after Eraser and its hybrids.
//! * [`lost_wakeup`]: notifies that come before the wait they should end, and orders in which they do.
//! * [`lock_order`]: lock trees and cycles of the lock graph: warnings, after GoodLock and JPaX.
//! * [`maximal`]: all races of a window, each with an order that shows it.
//! * [`misuse`]: locks given back that are not held, threads that wait for themselves, memory used after it was freed.
//! * [`sync_preserving`]: races and deadlocks of other runs, predicted from a whole trace in memory.
//!
//! * [`held_back`]: the witness of a race of the recorded run, found while the trace is read.
//! * [`race_window`]: the threads that have a hand in findings. It claims nothing.
//! * [`prefilter`]: what the others need not look at. It claims nothing, either.
//!
//! `deadlock`, `sync_preserving`, and what `atomicity` and `lost_wakeup` predict take a whole trace in memory;
//! `maximal` takes windows of it (`reach::Windows`); the others take the events batch by batch. None prints.

pub mod atomicity;
pub mod deadlock;
pub mod hang;
pub mod hb;
pub mod held_back;
pub mod lock_order;
pub mod lockset;
pub mod lost_wakeup;
pub mod maximal;
pub mod misuse;
pub mod prefilter;
pub mod race_window;
pub mod sync_preserving;
pub mod wait_without_loop;

mod kept_order;
mod locksets;
mod place;
mod race;
mod sections;
mod windows;

pub use place::Place;
pub use race::{Access, Behind, Race, Races};
pub use windows::{Schedule, Search};
