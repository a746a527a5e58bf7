//! Vector clocks: for every thread, how far its events are known to have happened.
//!
//! The causality models count events in them. Clocks are flat. Tree clocks (Mathur, Tunç, Pavlogiannis, Viswanathan,
//! ASPLOS'22) were measured against them: one update of a tree costs about as much as a hundred entries of a flat
//! clock, whose loops become vector instructions. So trees win only where a join brings news of a single thread, or
//! with some thousand threads, and no analysis here has either.

mod vector;

pub use vector::{Time, VectorClock};
