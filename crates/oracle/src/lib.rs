//! The oracle: the definitions of the documents by brute force, and random small traces to try them on. For tests only.
//!
//! **The idea.** The oracle answers each question by trying all orders of a trace of a few events. Each function is a
//! sentence of a document, written down in Rust. Tests compare fast code with it on many thousand random traces.
//!
//! * [`definition`] is docs/causality.md ("may this event come next after this prefix?"), on what [`recorded`] finds in
//!   the recorded run.
//! * [`happens_before`] is the order of `hb`, with and without its edges from writes to reads.
//! * [`races`], [`deadlocks`], [`wide_deadlocks`], [`atomicity`], [`wakeups`],
//!   [`unlooped_waits`] and [`misuses`] are docs/detectors.md.
//! * [`schedule`] makes random traces. It runs [`programs`] that have every operation, or [`shapes`] of errors that
//!   would be rare by chance.
//!
//! **Independence.** It uses only `event` and `trace` (to read text), and shares no code with the crates that predict
//! or detect, with the checker, or with `sync`. If the oracle and the code under test agree, both follow the documents,
//! or both authors misread them in the same way.
//!
//! **What it does not know.** Anything about speed: traces have at most 64 events, and most have a dozen.

pub mod atomicity;
pub mod deadlocks;
pub mod definition;
pub mod happens_before;
pub mod misuses;
mod prefixes;
pub mod programs;
pub mod races;
pub mod random;
mod reading;
pub mod recorded;
pub mod schedule;
pub mod shapes;
pub mod unlooped_waits;
mod waiting;
pub mod wakeups;
pub mod wide_deadlocks;

pub use reading::{cases, initial_values, read, seeds};
