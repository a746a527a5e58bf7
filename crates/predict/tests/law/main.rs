//! The law of prediction: brute force over the definitions of docs/causality.md, and random traces to ask it about.
//!
//! Nothing here knows the crates that predict: `recorded`, `definition`, `meaning` and `enumerate` are written from the
//! documents alone, to be compared with.

mod acceptance;
mod definition;
mod enumerate;
mod meaning;
#[path = "../../../property/tests/law/naive_past.rs"]
mod naive_past;
mod recorded;
mod recurrence;
