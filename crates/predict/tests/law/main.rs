//! The law of prediction: brute force over the definitions of docs/causality.md, and random traces to ask it about.
//!
//! Nothing here knows the crates that predict: `recorded`, `definition`, `meaning` and `enumerate` are written from the
//! documents alone, to be compared with.

mod acceptance;
mod case;
mod definition;
mod enumerate;
mod formulas;
mod laws;
mod meaning;
#[path = "../../../property/tests/law/naive_past.rs"]
mod naive_past;
mod programs;
mod random;
mod recorded;
mod recurrence;
mod rules;
mod schedule;
