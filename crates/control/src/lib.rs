//! Controlled runs: what is to be done so that a finding comes about in a real run of the program.
//!
//! [`Gates::of`] turns a finding into *gates*: events, which are places of the program and what threads do there, and
//! what they have to do with each other. Threads of a race must meet: both stand before their accesses at the same
//! time. [`Gates::bytes`] is the file that the agent in the program reads (`runtime::gates`), and [`Happened::read`]
//! says what became of it.
//!
//! Gates are light: all but the threads at the events run freely, and no thread is held for long. So a run can fail to
//! show what is possible; it never shows what is not.

mod events;
mod file;
mod gates;
mod happened;

pub use gates::{Gates, Hold, Undrivable};
pub use happened::{Happened, Stand};
