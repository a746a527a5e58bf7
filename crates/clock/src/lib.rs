//! Logical time: vector clocks, tree clocks, epochs and cuts.
//!
//! * [`Clock`] is what an analysis of the happens-before kind asks of a clock. [`VectorClock`] (flat) and [`TreeClock`]
//!   both are one; which is faster depends on how much each join brings.
//! * [`Epoch`] is one entry of a clock, thread and time in 64 bits.
//! * [`Cut`] is a set of events closed under what comes before in each thread: how many events are taken per thread.
//!
//! Clocks grow on demand: an entry that is not there is 0, so threads may appear at any moment.

mod clock;
mod cut;
mod entries;
mod epoch;
mod tree;
mod vector;

#[cfg(test)]
mod tests;

pub use clock::{Clock, Time, TimeOverflow};
pub use cut::Cut;
pub use epoch::Epoch;
pub use tree::TreeClock;
pub use vector::VectorClock;
