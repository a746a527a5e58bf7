//! The oracle: what the documents define, by brute force, and random small traces to ask it about. For tests only.
//!
//! Nothing here knows the crates that predict or detect: [`recorded`] and [`definition`] are written from
//! docs/causality.md alone, [`races`], [`deadlocks`], [`atomicity`], [`wakeups`] and [`misuses`] from docs/detectors.md, to be
//! compared with. [`schedule`] makes traces, from [`programs`] with something of everything or with the [`shapes`] of
//! errors.

pub mod atomicity;
pub mod deadlocks;
pub mod definition;
pub mod misuses;
mod prefixes;
pub mod programs;
pub mod races;
pub mod random;
mod reading;
pub mod recorded;
pub mod schedule;
pub mod shapes;
pub mod wakeups;

pub use reading::{cases, initial_values, read};
