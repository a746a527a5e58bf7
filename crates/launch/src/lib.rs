//! Starts programs with the agents in them, and says what is to be recorded of them.
//!
//! * [`command`] makes the command of a program that loads the agents: those of its own kind, and of every program that
//!   it starts.
//! * [`bind()`] finds in the program what specifications speak of: variables whose values are recorded, functions that
//!   are regions or events.
//! * [`why_nothing`] says why nothing of a program was watched.
//!
//! `observe` then runs the command, and records it.

mod bind;
mod error;
mod java;
mod program;
mod unwatched;

pub use bind::{Recordable, bind};
pub use error::Error;
pub use java::filter_settings;
pub use program::{command, find};
pub use unwatched::why_nothing;
